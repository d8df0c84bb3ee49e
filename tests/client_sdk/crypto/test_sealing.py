from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.bindings._rust import openssl
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.crypto.sealing import (
    HYBRID,
    BadPublicKeyError,
    CannotOpenError,
    KeyPair,
    fingerprint_of,
    from_base64url,
    open_capsule,
    open_sealed,
    parse_public_key,
    seal,
    to_base64url,
)
from client_sdk.protocol import HYBRID_SUITE, X25519_SUITE, Capsule, CapsuleContent
from tests.support.fake_service import seal_capsule

KEY = KeyPair.generate()
PUBLIC = parse_public_key(KEY.public_text)
HYBRID_KEY = KeyPair.generate(post_quantum=True)
PAIRS = [KEY, HYBRID_KEY]
of_both_suites = pytest.mark.parametrize("key", PAIRS, ids=["x25519", "hybrid"])

# The points of small order on Curve25519 and their unreduced twins (cr.yp.to/ecdh.html, "Validate").
LOW_ORDER = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


@of_both_suites
@given(plain=st.binary(max_size=5000), context=st.binary(max_size=200))
def test_what_is_sealed_opens_with_the_key_and_context_it_was_sealed_for(
    key: KeyPair, plain: bytes, context: bytes
) -> None:
    assert open_sealed(seal(plain, parse_public_key(key.public_text), context), key, context) == plain


@of_both_suites
@given(plain=st.binary(max_size=200), data=st.data())
def test_a_changed_byte_closes_it(key: KeyPair, plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal(plain, parse_public_key(key.public_text), b"context"))
    place = data.draw(st.integers(0, len(sealed) - 1))
    change = data.draw(st.integers(1, 255))
    # X25519 ignores the highest bit of a public key, but HPKE binds the key as it was sent.
    sealed[place] ^= change
    with pytest.raises(CannotOpenError):
        open_sealed(bytes(sealed), key, b"context")


@of_both_suites
@pytest.mark.parametrize("length", [0, 1, 31, 32, 47, 1119, 1120, 1135])
def test_a_cut_one_does_not_open(key: KeyPair, length: int) -> None:
    with pytest.raises(CannotOpenError):
        open_sealed(seal(b"names", parse_public_key(key.public_text), b"")[:length][:-1], key, b"")


@of_both_suites
def test_another_key_or_context_does_not_open_it(key: KeyPair) -> None:
    sealed = seal(b"names", parse_public_key(key.public_text), b"one")
    with pytest.raises(CannotOpenError):
        open_sealed(sealed, key, b"two")
    for other in (KeyPair.generate(), KeyPair.generate(post_quantum=True)):
        with pytest.raises(CannotOpenError):
            open_sealed(sealed, other, b"one")


@of_both_suites
def test_two_seals_of_the_same_differ(key: KeyPair) -> None:
    public = parse_public_key(key.public_text)
    assert seal(b"names", public, b"") != seal(b"names", public, b"")


def test_one_half_of_a_hybrid_key_does_not_open_what_is_sealed_to_both() -> None:
    """Whoever breaks X25519, or ML-KEM-768, has the half that belongs to it, and no name."""
    sealed, other = seal(b"names", parse_public_key(HYBRID_KEY.public_text), b""), KeyPair.generate(post_quantum=True)
    mlkem, x25519 = HYBRID_KEY.to_bytes()[:64], HYBRID_KEY.to_bytes()[64:]
    assert open_sealed(sealed, KeyPair.from_bytes(mlkem + x25519), b"") == b"names"
    for private in (mlkem + other.to_bytes()[64:], other.to_bytes()[:64] + x25519):
        with pytest.raises(CannotOpenError):
            open_sealed(sealed, KeyPair.from_bytes(private), b"")


def test_the_hybrid_suite_opens_the_published_vector() -> None:
    """draft-ietf-hpke-pq: the key that its seed expands to, and the first ciphertext."""
    vector = json.loads((Path(__file__).parent / "hybrid_vector.json").read_text())
    told = {name: bytes.fromhex(value) for name, value in vector.items() if name != "source"}
    key = KeyPair.from_bytes(hashlib.shake_256(told["skRm"]).digest(96))
    assert key.public_text == to_base64url(told["pkRm"])
    # Our own calls have no associated data, and the vector has.
    opened = openssl.hpke._decrypt_with_aad(
        HYBRID.hpke, told["enc"] + told["ct"], key._private, told["info"], told["aad"]
    )
    assert opened == told["pt"]


@of_both_suites
def test_a_fingerprint_tells_public_keys_apart_however_they_are_padded(key: KeyPair) -> None:
    found = fingerprint_of(key.public_text)
    assert found == fingerprint_of(key.public_text + "=" * (-len(key.public_text) % 4))
    assert len(found) == 64
    assert found not in {fingerprint_of(KeyPair.generate().public_text), key.public_text}


def test_a_known_capsule_of_the_suite_opens() -> None:
    """Pinned: whoever changes the suite changes what clients and pages of yesterday can open."""
    key = KeyPair.from_bytes(bytes(range(1, 33)))
    assert key.public_text == "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw"
    sealed = from_base64url(PINNED)
    assert open_sealed(sealed, key, b"arog capsule 1") == b"pinned"


def test_a_known_capsule_of_the_hybrid_suite_opens() -> None:
    key = KeyPair.from_bytes(bytes(range(1, 97)))
    assert fingerprint_of(key.public_text) == "cc0c7ffc3ad9f59abd18ca61601d2aa983b68cb3e2a6d72be23b53c0e046cbaf"
    pinned = (Path(__file__).parent / "hybrid_pinned.txt").read_text().strip()
    assert open_sealed(from_base64url(pinned), key, b"arog capsule 1") == b"pinned"


PINNED = "xZBkl7I2gs63Juup97wh7noqokZ_xwh89uUlbw-3QBYTB2AGN0967Z2gQ2E_U8zYgnw-hwAt"


@of_both_suites
def test_the_private_key_shows_in_no_repr(key: KeyPair) -> None:
    private = key.to_bytes()
    assert to_base64url(private) not in repr(key)
    assert private.hex() not in repr(key)
    assert repr(private)[2:-1] not in repr(key)


@pytest.mark.parametrize(
    "private", [b"", bytes(32), b"1" * 31, b"1" * 33, b"1" * 64, b"1" * 95, b"1" * 64 + bytes(32)]
)
def test_bytes_that_are_no_private_key_are_refused(private: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        KeyPair.from_bytes(private)


@pytest.mark.parametrize("point", LOW_ORDER)
def test_a_point_of_low_order_is_refused(point: str) -> None:
    raw = bytes.fromhex(point)
    with pytest.raises(BadPublicKeyError):
        parse_public_key(to_base64url(raw))
    with pytest.raises(BadPublicKeyError):
        parse_public_key(to_base64url(raw[:31] + bytes([raw[31] | 0x80])))
    with pytest.raises(BadPublicKeyError):
        parse_public_key(to_base64url(from_base64url(HYBRID_KEY.public_text)[:-32] + raw))


def test_a_hybrid_key_whose_mlkem_half_is_none_is_refused() -> None:
    """Coefficients of 0xfff are over the modulus, which FIPS 203 has checked."""
    raw = from_base64url(HYBRID_KEY.public_text)
    with pytest.raises(BadPublicKeyError):
        parse_public_key(to_base64url(b"\xff" * 1152 + raw[1152:]))


@given(st.binary(max_size=100))
def test_base64url_comes_back(raw: bytes) -> None:
    text = to_base64url(raw)
    assert from_base64url(text) == raw
    assert not set(text) & set("+/=")


def test_a_capsule_says_its_suite_and_opens_with_no_key_of_another() -> None:
    assert [key.suite for key in PAIRS] == [X25519_SUITE, HYBRID_SUITE]
    content = CapsuleContent(answer_id="a", table={})
    for key, other in (PAIRS, PAIRS[::-1]):
        capsule = seal_capsule(content, key.public_text, b"")
        assert capsule.suite == key.suite
        with pytest.raises(CannotOpenError, match="suite"):
            open_capsule(capsule, other, b"")
        with pytest.raises(CannotOpenError, match="suite"):
            open_capsule(capsule.model_copy(update={"suite": other.suite}), key, b"")


@pytest.mark.parametrize("plain", [b"", b"{}", b"[1]", b'{"answer_id": 1, "table": {"E": "Anna"}}'])
def test_a_capsule_with_other_content_is_an_error_that_does_not_quote_it(plain: bytes) -> None:
    with pytest.raises(CannotOpenError) as failed:
        open_capsule(Capsule(sealed=to_base64url(seal(plain, PUBLIC, b""))), KEY, b"")
    with pytest.raises(CannotOpenError):
        open_capsule(Capsule(sealed="***"), KEY, b"")
    assert "Anna" not in str(failed.value)
    assert failed.value.__cause__ is None


def test_a_newer_capsule_may_say_more() -> None:
    plain = b'{"answer_id": "a", "table": {}, "new": 1}'
    assert open_capsule(Capsule(sealed=to_base64url(seal(plain, PUBLIC, b""))), KEY, b"").answer_id == "a"
