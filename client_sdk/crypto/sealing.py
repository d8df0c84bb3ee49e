"""Sealing to a caller's public key with HPKE (RFC 9180), opening with the private one, and what each is bound to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from cryptography.exceptions import InvalidTag
from pydantic import BaseModel, ValidationError

from client_sdk.crypto.suites import HYBRID, SUITES, X25519, PrivateKey, PublicKey, Suite, UnusableKeyError
from client_sdk.protocol import Capsule, CapsuleContent, SuiteName, TraceContent
from client_sdk.protocol.answers import ChatAnswer
from client_sdk.protocol.browsing import GraphExcerpt
from client_sdk.protocol.preview import GraphPreview

ContentT = TypeVar("ContentT", bound=BaseModel)


class BadPublicKeyError(ValueError):
    """Not a public key of any suite, or one that would make every shared secret known."""


class CannotOpenError(Exception):
    """Sealed for another key or another context, or changed on the way; which of them can't be known."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A caller's keys. Promise: a capsule sealed to `public_text` opens with this private key alone.

    Condition: the private bytes stay on the caller's machine. Not promised: who sealed a capsule; the
    connection to the service proves that.
    """

    _suite: Suite
    _raw: bytes = field(repr=False)
    _private: PrivateKey = field(repr=False)
    public_text: str

    @classmethod
    def generate(cls, *, post_quantum: bool = False) -> KeyPair:
        """`post_quantum`: of ML-KEM-768 and X25519 together. Raises ValueError where the library lacks that."""
        suite: Suite = HYBRID if post_quantum else X25519
        return cls.from_bytes(suite.generate())

    @classmethod
    def from_bytes(cls, private: bytes) -> KeyPair:
        """Raises ValueError unless `private` has 32 bytes (X25519), or 96 (ML-KEM-768's seed, then X25519)."""
        suite = next((each for each in SUITES if each.private_bytes == len(private)), None)
        if suite is None:
            raise UnusableKeyError("a private key has 32 bytes, or 96 with ML-KEM-768")
        return cls(suite, private, suite.private_key(private), to_base64url(suite.public_of(private)))

    def to_bytes(self) -> bytes:
        """The private key itself, 32 or 96 bytes."""
        return self._raw

    @property
    def suite(self) -> SuiteName:
        """The suite that capsules for this pair are sealed with."""
        return self._suite.name


@dataclass(frozen=True, slots=True)
class SealingKey:
    """A caller's public key, checked, with its suite."""

    suite: Suite
    raw: bytes
    key: PublicKey


@lru_cache(maxsize=1_024)
def parse_public_key(text: str) -> SealingKey:
    """Reads base64url, padded or not; one key is checked once. Raises BadPublicKeyError."""
    try:
        raw = from_base64url(text)
    except ValueError:
        raise BadPublicKeyError("the public key is not base64url") from None
    suite = next((each for each in SUITES if each.public_bytes == len(raw)), None)
    if suite is None:
        lengths = " or ".join(str(each.public_bytes) for each in SUITES)
        raise BadPublicKeyError(f"the public key has {len(raw)} bytes instead of {lengths}")
    try:
        return SealingKey(suite, raw, suite.public_key(raw))
    except UnusableKeyError as problem:
        raise BadPublicKeyError(str(problem)) from None


def fingerprint_of(public_text: str) -> str:
    """SHA-256 of a public key, hex: what it is known by where it need not be told. Raises BadPublicKeyError."""
    return hashlib.sha256(parse_public_key(public_text).raw).hexdigest()


def seal(plain: bytes, public_key: SealingKey, context: bytes) -> bytes:
    """HPKE base mode, one shot: the encapsulated key, then the ciphertext. `context` is HPKE's `info`."""
    return public_key.suite.hpke.encrypt(plain, public_key.key, info=context)


def open_sealed(sealed: bytes, key: KeyPair, context: bytes) -> bytes:
    """Opens bytes that `seal` sealed to this key in this context. Raises CannotOpenError."""
    try:
        return key._suite.hpke.decrypt(sealed, key._private, info=context)
    except (InvalidTag, ValueError):
        raise CannotOpenError("sealed for another key or context, or changed") from None


def open_capsule(capsule: Capsule, key: KeyPair, context: bytes) -> CapsuleContent:
    """The names of an answer. Raises CannotOpenError, also when it is no CapsuleContent."""
    return _opened(capsule, key, context, CapsuleContent)


def open_trace(capsule: Capsule, key: KeyPair, context: bytes) -> TraceContent:
    """The trace of an answer. Raises CannotOpenError, also when it is no TraceContent."""
    return _opened(capsule, key, context, TraceContent)


def _opened(capsule: Capsule, key: KeyPair, context: bytes, expect: type[ContentT]) -> ContentT:
    """The content as JSON, which may end in padding."""
    if capsule.suite != key.suite:
        raise CannotOpenError("sealed with another suite than this key's")
    try:
        plain = open_sealed(from_base64url(capsule.sealed), key, context)
        return expect.model_validate_json(plain, extra="ignore")
    except ValidationError:
        raise CannotOpenError("the opened capsule has another form than this version reads") from None
    except ValueError:
        raise CannotOpenError("the capsule is not base64url") from None


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


def capsule_context(answer: ChatAnswer) -> bytes:
    """Binds a capsule to all of its answer but `usage` and the capsule itself.

    Promise: where the text, the evidence or anything else that names are restored in was changed on the way, the
    capsule does not open. Not promised: that the answer is one to this question.
    """
    bound = answer.model_dump(mode="json", exclude={"usage", "capsule"})
    return "\n".join(("arog capsule 3", _digest(bound))).encode()


def trace_context(answer_id: str) -> bytes:
    """Of a trace, all of which is sealed."""
    return "\n".join(("arog trace 1", answer_id)).encode()


def preview_context(preview: GraphPreview) -> bytes:
    """Binds the names in a preview to its sample."""
    sample = [entity.model_dump(mode="json") for entity in preview.sample]
    return "\n".join(("arog preview 2", preview.id, _digest(sample))).encode()


def excerpt_context(excerpt: GraphExcerpt) -> bytes:
    """Binds the names in an excerpt of a graph to all of it."""
    bound = excerpt.model_dump(mode="json", exclude={"capsule"})
    return "\n".join(("arog excerpt 1", _digest(bound))).encode()


def _digest(content: object) -> str:
    """SHA-256, hex, of JSON as RFC 8785 writes it; that holds for all that answers hold, fractions from 0.01 too."""
    written = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
