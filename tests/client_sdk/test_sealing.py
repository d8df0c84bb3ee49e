from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.protocol import Capsule, CapsuleContent, Names, capsule_context
from client_sdk.sealing import (
    BadPublicKey,
    CannotOpen,
    KeyPair,
    from_base64url,
    open_capsule,
    open_sealed,
    parse_public_key,
    seal,
    to_base64url,
)
from tests.client_sdk.fake_service import seal_capsule

KEY = KeyPair.generate()
PUBLIC = parse_public_key(KEY.public_text)

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


@given(plain=st.binary(max_size=5000), context=st.binary(max_size=200))
def test_what_is_sealed_opens_with_the_key_and_context_it_was_sealed_for(plain: bytes, context: bytes) -> None:
    assert open_sealed(seal(plain, PUBLIC, context), KEY, context) == plain


@given(plain=st.binary(max_size=200), data=st.data())
def test_a_changed_byte_closes_it(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal(plain, PUBLIC, b"context"))
    place = data.draw(st.integers(0, len(sealed) - 1))
    change = data.draw(st.integers(1, 255))
    # X25519 ignores the highest bit of a public key, but HPKE binds the key as it was sent.
    sealed[place] ^= change
    with pytest.raises(CannotOpen):
        open_sealed(bytes(sealed), KEY, b"context")


@pytest.mark.parametrize("length", [0, 1, 31, 32, 47])
def test_a_cut_one_does_not_open(length: int) -> None:
    with pytest.raises(CannotOpen):
        open_sealed(seal(b"names", PUBLIC, b"")[:length], KEY, b"")


def test_another_key_or_context_does_not_open_it() -> None:
    sealed = seal(b"names", PUBLIC, b"one")
    with pytest.raises(CannotOpen):
        open_sealed(sealed, KEY, b"two")
    with pytest.raises(CannotOpen):
        open_sealed(sealed, KeyPair.generate(), b"one")


def test_two_seals_of_the_same_differ() -> None:
    assert seal(b"names", PUBLIC, b"") != seal(b"names", PUBLIC, b"")


def test_a_known_capsule_of_the_suite_opens() -> None:
    """Pinned: whoever changes the suite changes what clients and pages of yesterday can open."""
    key = KeyPair.from_bytes(bytes(range(1, 33)))
    assert key.public_text == "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw"
    sealed = from_base64url(PINNED)
    assert open_sealed(sealed, key, b"arog capsule 1") == b"pinned"


PINNED = "xZBkl7I2gs63Juup97wh7noqokZ_xwh89uUlbw-3QBYTB2AGN0967Z2gQ2E_U8zYgnw-hwAt"


def test_a_pair_comes_back_from_its_bytes() -> None:
    again = KeyPair.from_bytes(KEY.to_bytes())
    assert again.public_text == KEY.public_text
    assert open_sealed(seal(b"x", PUBLIC, b""), again, b"") == b"x"


def test_the_private_key_shows_in_no_repr() -> None:
    private = KEY.to_bytes()
    assert to_base64url(private) not in repr(KEY)
    assert private.hex() not in repr(KEY)
    assert repr(private)[2:-1] not in repr(KEY)


@pytest.mark.parametrize("private", [b"", bytes(32), b"1" * 31, b"1" * 33])
def test_bytes_that_are_no_private_key_are_refused(private: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        KeyPair.from_bytes(private)


def test_a_public_key_may_be_padded() -> None:
    assert parse_public_key(KEY.public_text + "=").public_bytes_raw() == PUBLIC.public_bytes_raw()


@pytest.mark.parametrize("point", LOW_ORDER)
def test_a_point_of_low_order_is_refused(point: str) -> None:
    raw = bytes.fromhex(point)
    with pytest.raises(BadPublicKey):
        parse_public_key(to_base64url(raw))
    with pytest.raises(BadPublicKey):
        parse_public_key(to_base64url(raw[:31] + bytes([raw[31] | 0x80])))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "AAAA",
        "not base64url at all!",
        KEY.public_text[:-1],
        KEY.public_text + "A",
        KEY.public_text + "\n",
        " " + KEY.public_text,
        "ключ" * 11,
        "+" * 43,
        "A" * 42 + "B",
        "A" * 10_000,
    ],
    ids=str.__len__,  # Keys are drawn anew in each process, and their tests must have the same names.
)
def test_what_is_no_public_key_is_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(BadPublicKey) as refused:
        parse_public_key(text)
    assert len(text) < 5 or text not in str(refused.value)


@given(st.binary(max_size=100))
def test_base64url_comes_back(raw: bytes) -> None:
    text = to_base64url(raw)
    assert from_base64url(text) == raw
    assert not set(text) & set("+/=")


def test_a_capsule_opens_to_its_table() -> None:
    context = capsule_context("a", "c", "demo")
    content = CapsuleContent(answer_id="a", table={"Eq7f2k": Names(names=["Anna Keller"], total=1)})
    capsule = seal_capsule(content, KEY.public_text, context)
    assert open_capsule(capsule, KEY, context) == content
    assert "Anna" not in capsule.model_dump_json()


@pytest.mark.parametrize("plain", [b"", b"{}", b"[1]", b'{"answer_id": 1, "table": {"E": "Anna"}}'])
def test_a_capsule_with_other_content_is_an_error_that_does_not_quote_it(plain: bytes) -> None:
    with pytest.raises(CannotOpen) as failed:
        open_capsule(Capsule(sealed=to_base64url(seal(plain, PUBLIC, b""))), KEY, b"")
    assert "Anna" not in str(failed.value)
    assert failed.value.__cause__ is None


def test_a_capsule_that_is_not_base64url_is_an_error() -> None:
    with pytest.raises(CannotOpen):
        open_capsule(Capsule(sealed="***"), KEY, b"")


def test_a_newer_capsule_may_say_more() -> None:
    plain = b'{"answer_id": "a", "table": {}, "new": 1}'
    assert open_capsule(Capsule(sealed=to_base64url(seal(plain, PUBLIC, b""))), KEY, b"").answer_id == "a"


def test_the_encapsulated_key_comes_first() -> None:
    """The order that the page's HPKE library expects: 32 bytes of key, then ciphertext with its 16-byte tag."""
    sealed = seal(b"1234", PUBLIC, b"")
    assert len(sealed) == 32 + 4 + 16
    X25519PublicKey.from_public_bytes(sealed[:32])
