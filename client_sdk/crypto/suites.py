"""The HPKE suites (RFC 9180) that names may be sealed with, and the raw form of their keys."""

from __future__ import annotations

from typing import Final, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, MLKEM768X25519PublicKey
from cryptography.hazmat.primitives.hpke import Suite as Hpke

from client_sdk.protocol import HYBRID_SUITE, X25519_SUITE, SuiteName

X25519_BYTES: Final = 32
MLKEM_SEED_BYTES: Final = 64
MLKEM_PUBLIC_BYTES: Final = 1184

PrivateKey = X25519PrivateKey | MLKEM768X25519PrivateKey
PublicKey = X25519PublicKey | MLKEM768X25519PublicKey


class UnusableKeyError(ValueError):
    """The bytes are no key of the suite, or the cryptography library here lacks the suite. Quotes no byte."""


class Suite(Protocol):
    """One choice of algorithms. Raw keys have a fixed length, by which their suite is known."""

    name: SuiteName
    hpke: Hpke
    private_bytes: int
    public_bytes: int

    def generate(self) -> bytes:
        """A new private key. Raises UnusableKeyError where the library lacks the suite."""

    def private_key(self, raw: bytes) -> PrivateKey:
        """Of `private_bytes` bytes. Raises UnusableKeyError."""

    def public_key(self, raw: bytes) -> PublicKey:
        """Of `public_bytes` bytes. Raises UnusableKeyError, also for keys that would make the shared secret known."""

    def public_of(self, private: bytes) -> bytes:
        """The public key that belongs to a private one."""


class X25519Suite:
    """The suite of every version, and of pages: X25519 alone."""

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
    """MLKEM768-X25519, also called X-Wing: what is recorded today stays closed unless both halves are broken.

    A private key is the seed of ML-KEM-768 (64 bytes), then the X25519 key; a public key is that of ML-KEM-768
    (1,184 bytes), then that of X25519, as the draft has it (draft-ietf-hpke-pq).
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
        # A low-order point gives the all-zero secret with every private key, and the exchange refuses it.
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
