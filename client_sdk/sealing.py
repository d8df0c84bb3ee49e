"""Sealing to a caller's public key with HPKE (RFC 9180), and opening with the private one."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from pydantic import BaseModel, ValidationError

from client_sdk.protocol import Capsule, CapsuleContent, TraceContent

KEY_BYTES = 32
ContentT = TypeVar("ContentT", bound=BaseModel)

# The suite that `Capsule.suite` names; the page's HPKE library opens the same bytes.
_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


class BadPublicKey(ValueError):
    """Not an X25519 public key of 32 bytes in base64url, or a point that makes every shared secret zero."""


class CannotOpen(Exception):
    """Sealed for another key or another context, or changed on the way; which of them can't be known."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A caller's X25519 keys. Promise: a capsule sealed to `public_text` opens with this private key alone.

    Condition: the private bytes stay on the caller's machine. Not promised: who sealed a capsule; the
    connection to the service proves that.
    """

    _private: X25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> KeyPair:
        return cls(X25519PrivateKey.generate())

    @classmethod
    def from_bytes(cls, private: bytes) -> KeyPair:
        """Raises ValueError unless `private` has 32 bytes that are not all zero."""
        if len(private) != KEY_BYTES or not any(private):
            raise ValueError("a private key has 32 bytes, not all zero")
        return cls(X25519PrivateKey.from_private_bytes(private))

    def to_bytes(self) -> bytes:
        """The private key itself, 32 bytes."""
        return self._private.private_bytes_raw()

    @property
    def public_text(self) -> str:
        """The public key as requests carry it: base64url without padding, 43 characters."""
        return to_base64url(self._private.public_key().public_bytes_raw())


@lru_cache(maxsize=1_024)
def parse_public_key(text: str) -> X25519PublicKey:
    """Reads base64url, padded or not; one key is checked once. Raises BadPublicKey."""
    try:
        raw = from_base64url(text)
    except ValueError:
        raise BadPublicKey("the public key is not base64url") from None
    if len(raw) != KEY_BYTES:
        raise BadPublicKey(f"the public key has {len(raw)} bytes instead of {KEY_BYTES}")
    point = X25519PublicKey.from_public_bytes(raw)
    try:
        # A low-order point gives the all-zero secret with every private key, and the exchange refuses it.
        X25519PrivateKey.generate().exchange(point)
    except ValueError:
        raise BadPublicKey("the public key is a low-order point") from None
    return point


def seal(plain: bytes, public_key: X25519PublicKey, context: bytes) -> bytes:
    """HPKE base mode, one shot: the encapsulated key, then the ciphertext. `context` is HPKE's `info`."""
    return _SUITE.encrypt(plain, public_key, info=context)


def open_sealed(sealed: bytes, key: KeyPair, context: bytes) -> bytes:
    """What `seal` sealed to this key in this context. Raises CannotOpen."""
    try:
        return _SUITE.decrypt(sealed, key._private, info=context)
    except (InvalidTag, ValueError):
        raise CannotOpen("sealed for another key or context, or changed") from None


def open_capsule(capsule: Capsule, key: KeyPair, context: bytes) -> CapsuleContent:
    """The names of an answer. Raises CannotOpen, also when it is no CapsuleContent."""
    return _opened(capsule, key, context, CapsuleContent)


def open_trace(capsule: Capsule, key: KeyPair, context: bytes) -> TraceContent:
    """The trace of an answer. Raises CannotOpen, also when it is no TraceContent."""
    return _opened(capsule, key, context, TraceContent)


def _opened(capsule: Capsule, key: KeyPair, context: bytes, expect: type[ContentT]) -> ContentT:
    """The content as JSON, which may end in padding."""
    try:
        plain = open_sealed(from_base64url(capsule.sealed), key, context)
        return expect.model_validate_json(plain, extra="ignore")
    except ValidationError:
        raise CannotOpen("the opened capsule has another form than this version reads") from None
    except ValueError:
        raise CannotOpen("the capsule is not base64url") from None


def to_base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Padded or not, and strict about everything else. Raises ValueError."""
    bare = text.rstrip("=")
    try:
        raw = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("not base64url") from None
    # Only one text for the same bytes: no stray bits in the last character, no standard alphabet.
    if to_base64url(raw) != bare:
        raise ValueError("not base64url")
    return raw
