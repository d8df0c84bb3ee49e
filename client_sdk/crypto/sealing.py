"""Seals to a caller's public key with HPKE (RFC 9180), opens with the private key, and defines each seal's context."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeVar

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, MLKEM768X25519PublicKey
from cryptography.hazmat.primitives.hpke import Suite as Hpke
from pydantic import BaseModel, ValidationError

from client_sdk.protocol import HYBRID_SUITE, X25519_SUITE, Capsule, CapsuleContent, SuiteName, TraceContent
from client_sdk.protocol.browsing import GraphExcerpt, GraphTable
from client_sdk.protocol.chat import ChatAnswer
from client_sdk.protocol.graphs import GraphPreview
from client_sdk.protocol.memory import MemoryPage, OfferList
from client_sdk.protocol.service import CaseList

X25519_BYTES: Final = 32
MLKEM_SEED_BYTES: Final = 64
MLKEM_PUBLIC_BYTES: Final = 1184

PrivateKey = X25519PrivateKey | MLKEM768X25519PrivateKey
PublicKey = X25519PublicKey | MLKEM768X25519PublicKey


class UnusableKeyError(ValueError):
    """The bytes are no key of the suite, or the installed cryptography library lacks the suite. Quotes no byte."""


class X25519Suite:
    """X25519 alone: the suite that every version and the web page know.

    Its raw keys are recognised by their length.
    """

    name: SuiteName = X25519_SUITE
    hpke = Hpke(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
    private_bytes = X25519_BYTES
    public_bytes = X25519_BYTES

    def generate(self) -> bytes:
        return X25519PrivateKey.generate().private_bytes_raw()

    def private_key(self, raw: bytes) -> X25519PrivateKey:
        return _x25519_private(raw)

    def public_key(self, raw: bytes) -> X25519PublicKey:
        return _x25519_public(raw)

    def public_of(self, private: bytes) -> bytes:
        return _x25519_private(private).public_key().public_bytes_raw()


class HybridSuite:
    """MLKEM768-X25519, also called X-Wing: a recorded capsule stays secret unless both algorithms are broken.

    A private key is the seed of ML-KEM-768 (64 bytes), then the X25519 key; a public key is that of ML-KEM-768 (1,184
    bytes), then that of X25519, as in the draft (draft-ietf-hpke-pq).
    """

    name: SuiteName = HYBRID_SUITE
    hpke = Hpke(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
    private_bytes = MLKEM_SEED_BYTES + X25519_BYTES
    public_bytes = MLKEM_PUBLIC_BYTES + X25519_BYTES

    def generate(self) -> bytes:
        try:
            seed = MLKEM768PrivateKey.generate().private_bytes_raw()
        except UnsupportedAlgorithm:
            raise _no_mlkem() from None
        return seed + X25519PrivateKey.generate().private_bytes_raw()

    def private_key(self, raw: bytes) -> MLKEM768X25519PrivateKey:
        return MLKEM768X25519PrivateKey(
            _mlkem_private(raw[:MLKEM_SEED_BYTES]), _x25519_private(raw[MLKEM_SEED_BYTES:])
        )

    def public_key(self, raw: bytes) -> MLKEM768X25519PublicKey:
        x25519 = _x25519_public(raw[MLKEM_PUBLIC_BYTES:])
        try:
            mlkem = MLKEM768PublicKey.from_public_bytes(raw[:MLKEM_PUBLIC_BYTES])
        except UnsupportedAlgorithm:
            raise _no_mlkem() from None
        except ValueError:
            raise UnusableKeyError("the public key is not one of ML-KEM-768 and X25519") from None
        return MLKEM768X25519PublicKey(mlkem, x25519)

    def public_of(self, private: bytes) -> bytes:
        mlkem = _mlkem_private(private[:MLKEM_SEED_BYTES]).public_key().public_bytes_raw()
        return mlkem + _x25519_private(private[MLKEM_SEED_BYTES:]).public_key().public_bytes_raw()


Suite = X25519Suite | HybridSuite
X25519: Final = X25519Suite()
HYBRID: Final = HybridSuite()
SUITES: Final[tuple[Suite, ...]] = (X25519, HYBRID)


def _x25519_private(raw: bytes) -> X25519PrivateKey:
    if len(raw) != X25519_BYTES or not any(raw):
        raise UnusableKeyError("a private key of X25519 has 32 bytes, not all zero")
    return X25519PrivateKey.from_private_bytes(raw)


def _x25519_public(raw: bytes) -> X25519PublicKey:
    point = X25519PublicKey.from_public_bytes(raw)
    try:
        # A low-order point gives an all-zero secret with every private key, so the exchange raises an error for it.
        X25519PrivateKey.generate().exchange(point)
    except ValueError:
        raise UnusableKeyError("the public key is a low-order point") from None
    return point


def _mlkem_private(seed: bytes) -> MLKEM768PrivateKey:
    if not any(seed):
        raise UnusableKeyError("a seed of ML-KEM-768 is not all zero")
    try:
        return MLKEM768PrivateKey.from_seed_bytes(seed)
    except UnsupportedAlgorithm:
        raise _no_mlkem() from None


def _no_mlkem() -> UnusableKeyError:
    return UnusableKeyError("the cryptography library of this machine has no ML-KEM-768")


ContentT = TypeVar("ContentT", bound=BaseModel)


class BadPublicKeyError(ValueError):
    """The text is not a public key of any suite, or is one that would make every shared secret known."""


class CannotOpenError(Exception):
    """The capsule was sealed for another key or another context, or was changed; which of these is unknown."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A caller's keys. Promise: only this private key opens a capsule sealed to `public_text`.

    Condition: the private bytes stay on the caller's machine. Not promised: who sealed a capsule; the connection to
    the service proves that.
    """

    _suite: Suite
    _raw: bytes = field(repr=False)
    _private: PrivateKey = field(repr=False)
    public_text: str

    @classmethod
    def generate(cls, *, post_quantum: bool = False) -> KeyPair:
        """Creates a key pair of X25519, or with `post_quantum` of ML-KEM-768 and X25519.

        Raises ValueError if the installed cryptography library lacks the latter.
        """
        suite: Suite = HYBRID if post_quantum else X25519
        return cls.from_bytes(suite.generate())

    @classmethod
    def from_bytes(cls, private: bytes) -> KeyPair:
        """Reads a private key of 32 bytes (X25519) or 96 (ML-KEM-768's seed, then X25519).

        Raises ValueError for others.
        """
        suite = next((each for each in SUITES if each.private_bytes == len(private)), None)
        if suite is None:
            raise UnusableKeyError("a private key has 32 bytes, or 96 with ML-KEM-768")
        return cls(suite, private, suite.private_key(private), to_base64url(suite.public_of(private)))

    def to_bytes(self) -> bytes:
        """Returns the private key, 32 or 96 bytes."""
        return self._raw

    @property
    def suite(self) -> SuiteName:
        """The suite that capsules for this key pair are sealed with."""
        return self._suite.name


@dataclass(frozen=True, slots=True)
class SealingKey:
    """A caller's public key that has been checked, with its suite."""

    suite: Suite
    raw: bytes
    key: PublicKey


@lru_cache(maxsize=1_024)
def parse_public_key(text: str) -> SealingKey:
    """Reads a public key in base64url, padded or not. Raises BadPublicKeyError. Results are cached."""
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
    """Returns the SHA-256 of a public key in hex, which identifies the key. Raises BadPublicKeyError."""
    return hashlib.sha256(parse_public_key(public_text).raw).hexdigest()


def seal(plain: bytes, public_key: SealingKey, context: bytes) -> bytes:
    """Seals `plain` with HPKE in base mode; returns the encapsulated key, then the ciphertext.

    `context` is HPKE's `info`.
    """
    return public_key.suite.hpke.encrypt(plain, public_key.key, info=context)


def open_sealed(sealed: bytes, key: KeyPair, context: bytes) -> bytes:
    """Opens bytes that `seal` made for this key and this context. Raises CannotOpenError."""
    try:
        return key._suite.hpke.decrypt(sealed, key._private, info=context)
    except (InvalidTag, ValueError):
        raise CannotOpenError("sealed for another key or context, or changed") from None


def open_capsule(capsule: Capsule, key: KeyPair, context: bytes) -> CapsuleContent:
    """Returns the names of an answer. Raises CannotOpenError, also if the content is no CapsuleContent."""
    return _opened(capsule, key, context, CapsuleContent)


def open_trace(capsule: Capsule, key: KeyPair, context: bytes) -> TraceContent:
    """Returns the trace of an answer. Raises CannotOpenError, also if the content is no TraceContent."""
    return _opened(capsule, key, context, TraceContent)


def _opened(capsule: Capsule, key: KeyPair, context: bytes, expect: type[ContentT]) -> ContentT:
    """Opens a capsule and parses its JSON, which may end in padding. Raises CannotOpenError."""
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
    """Decodes base64url, padded or not. Raises ValueError for any other deviation."""
    bare = text.rstrip("=")
    try:
        raw = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("not base64url") from None
    # Accepts only one text for the same bytes: no stray bits in the last character, no standard alphabet.
    if to_base64url(raw) != bare:
        raise ValueError("not base64url")
    return raw


def capsule_context(answer: ChatAnswer) -> bytes:
    """Returns the context that binds a capsule to all of its answer except `usage` and the capsule itself.

    Promise: if the text, the evidence or anything else in which names are restored was changed on the way, the capsule
    does not open. Not promised: that the answer is one to this question.
    """
    bound = answer.model_dump(mode="json", exclude={"usage", "capsule"})
    return "\n".join(("arog capsule 3", _digest(bound))).encode()


def trace_context(answer_id: str) -> bytes:
    """Returns the context that binds a sealed trace to its answer; the whole trace is sealed."""
    return "\n".join(("arog trace 1", answer_id)).encode()


def preview_context(preview: GraphPreview) -> bytes:
    """Returns the context that binds the names of a preview to its sample."""
    sample = [entity.model_dump(mode="json") for entity in preview.sample]
    return "\n".join(("arog preview 2", preview.id, _digest(sample))).encode()


def cases_context(cases: CaseList) -> bytes:
    """Returns the context that binds the names of sample answers to the list of cases."""
    bound = cases.model_dump(mode="json", exclude={"capsule"})
    return "\n".join(("arog cases 1", _digest(bound))).encode()


def excerpt_context(excerpt: GraphExcerpt | GraphTable) -> bytes:
    """Returns the context that binds the names of an excerpt of a graph, or of a table, to all of it."""
    bound = excerpt.model_dump(mode="json", exclude={"capsule"})
    return "\n".join(("arog excerpt 1", _digest(bound))).encode()


def memory_context(page: MemoryPage | OfferList) -> bytes:
    """Returns the context that binds the names of what somebody told, or offers, to the whole list of it."""
    bound = page.model_dump(mode="json", exclude={"capsule"})
    return "\n".join(("arog memory 1", _digest(bound))).encode()


def _digest(content: object) -> str:
    """Returns the SHA-256 in hex of `content` as canonical JSON (RFC 8785), which every program writes alike.

    Python's JSON has that form for everything that answers contain, including fractions from 0.01 up.
    """
    written = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
