"""Capsules: names sealed to a caller, what they hold when opened, and what binds them to their answer."""

from __future__ import annotations

from typing import Final, Literal

from client_sdk.protocol.wire import Wire

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
    """What one pseudonym stands for: at most `options.names` names, and how many there are in all."""

    names: list[str]
    total: int


class CapsuleContent(Wire):
    """What a capsule holds when it is opened."""

    answer_id: str
    table: dict[str, Names]


def capsule_context(answer_id: str, conversation: str, graph: str) -> bytes:
    """HPKE `info`: binds a capsule to its answer, so that it opens nowhere else."""
    return "\n".join(("arog capsule 1", answer_id, conversation, graph)).encode()


def trace_context(answer_id: str) -> bytes:
    """HPKE `info` of a trace."""
    return "\n".join(("arog trace 1", answer_id)).encode()


def preview_context(preview_id: str) -> bytes:
    """HPKE `info` of the names in a preview."""
    return "\n".join(("arog preview 1", preview_id)).encode()
