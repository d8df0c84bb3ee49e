"""Capsules: names sealed to a caller, and what they hold when they are opened."""

from __future__ import annotations

from typing import Final, Literal

from client_sdk.protocol.base import Wire

# The caller's public key decides which one a capsule is sealed with; its length tells them apart.
SuiteName = Literal[
    "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM", "MLKEM768-X25519,HKDF-SHA256,ChaCha20Poly1305"
]
X25519_SUITE: Final = "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM"
HYBRID_SUITE: Final = "MLKEM768-X25519,HKDF-SHA256,ChaCha20Poly1305"
MAX_PUBLIC_KEY_CHARS = 1_640
PUBLIC_KEY_FORM = "base64url of X25519 (32 bytes), or of ML-KEM-768 and X25519 (1,184 and 32 bytes)"


class Capsule(Wire):
    """A sealed table pseudonym -> name. `sealed` is base64url of HPKE output; `suite` names the algorithms."""

    suite: SuiteName = X25519_SUITE
    sealed: str


class Names(Wire):
    """The names that one pseudonym stands for: at most `options.names` of them, and how many there are in all."""

    names: list[str]
    total: int


class CapsuleContent(Wire):
    """The content of an opened capsule."""

    answer_id: str
    table: dict[str, Names]
