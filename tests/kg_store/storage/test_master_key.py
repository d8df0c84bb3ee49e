"""MasterKey: what it seals opens only with the same ring, purpose and context; MIDs are keyed and stable."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import LoadError, MasterKeyError
from kg_store.storage.master_key import MasterKey, bind, mids_of, new_mid_key, refuse_collisions

RING = MasterKey.from_text(MasterKey.generate())


def text_of(secret: bytes, version: int = 1) -> str:
    return f"v{version}:{base64.urlsafe_b64encode(secret).decode().rstrip('=')}"


@given(plain=st.binary(max_size=300), context=st.binary(max_size=40), purpose=st.text(max_size=20))
def test_what_is_sealed_opens_again(plain: bytes, context: bytes, purpose: str) -> None:
    assert RING.open(purpose, context, RING.seal(purpose, context, plain)) == plain


@given(plain=st.binary(min_size=1, max_size=60), data=st.data())
def test_any_changed_bit_is_refused(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(RING.seal("vault", b"context", plain))
    position = data.draw(st.integers(0, len(sealed) - 1))
    sealed[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(MasterKeyError):
        RING.open("vault", b"context", bytes(sealed))


def test_another_purpose_context_or_ring_does_not_open() -> None:
    sealed = RING.seal("vault", b"one", b"name")
    for ring, purpose, context in (
        (RING, "names", b"one"),
        (RING, "vault", b"two"),
        (MasterKey.from_text(MasterKey.generate()), "vault", b"one"),
    ):
        with pytest.raises(MasterKeyError):
            ring.open(purpose, context, sealed)


@pytest.mark.parametrize("sealed", [b"", b"\x01", b"\x02" + bytes(60)])
def test_cut_or_foreign_bytes_are_refused(sealed: bytes) -> None:
    with pytest.raises(MasterKeyError):
        RING.open("vault", b"", sealed)


def test_a_rotated_ring_opens_old_seals_and_seals_with_the_new_key() -> None:
    old_text = MasterKey.generate()
    old, new = MasterKey.from_text(old_text), MasterKey.from_text(MasterKey.rotated(old_text))
    assert new.open("vault", b"", old.seal("vault", b"", b"name")) == b"name"
    assert new.newest == old.newest + 1
    with pytest.raises(MasterKeyError, match="version 2"):
        old.open("vault", b"", new.seal("vault", b"", b"name"))


@pytest.mark.parametrize(
    "secret", [bytes(32), b"\xff" * 32, bytes(range(32)), b"change-me-change-me-change-me-ok", b"\x01\x02\x03\x04" * 8]
)
def test_example_keys_are_refused(secret: bytes) -> None:
    with pytest.raises(MasterKeyError, match="generate another"):
        MasterKey.from_text(text_of(secret))


@pytest.mark.parametrize(
    "text",
    ["", "v1", "v1:abc", "secret", text_of(b"x" * 31), "v0:" + "A" * 43, "v99999:" + "A" * 43, "v1:" + "!" * 43],
)
def test_malformed_keys_are_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(MasterKeyError) as caught:
        MasterKey.from_text(text)
    assert len(text) < 3 or text.partition(":")[2] not in str(caught.value) or not text.partition(":")[2]


def test_the_newest_must_stand_first_and_versions_only_once() -> None:
    one, other = MasterKey.generate(), MasterKey.generate().replace("v1:", "v2:")
    assert MasterKey.from_text(f"{other}, {one}\n").newest == 2
    for wrong in (f"{one},{other}", f"{one},{one}"):
        with pytest.raises(MasterKeyError):
            MasterKey.from_text(wrong)


@pytest.mark.parametrize(
    ("mode", "fine"), [(0o600, True), (0o400, True), (0o440, True), (0o644, False), (0o660, False)]
)
def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, mode: int, fine: bool) -> None:
    path = tmp_path / "master.key"
    path.write_text(MasterKey.generate() + "\n")
    path.chmod(mode)
    if fine:
        assert MasterKey.from_file(path).newest == 1
        return
    with pytest.raises(MasterKeyError, match="chmod"):
        MasterKey.from_file(path)


def test_a_missing_or_binary_key_file_is_a_key_problem(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("absent", "binary"):
        with pytest.raises(MasterKeyError):
            MasterKey.from_file(tmp_path / name)


def test_the_ring_shows_no_secret() -> None:
    text = MasterKey.generate()
    assert text.partition(":")[2] not in repr(MasterKey.from_text(text))
    assert repr(MasterKey.from_text(text)) == "MasterKey(newest=1)"


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_two_lists_of_parts_never_bind_alike(one: list[str], other: list[str]) -> None:
    assert (bind(*one) == bind(*other)) == (one == other)


def test_mids_are_stable_positive_and_depend_on_the_key() -> None:
    terms = [f"<http://x/{number}>" for number in range(500)]
    key = new_mid_key()
    mids = mids_of(key, terms)
    assert (mids == mids_of(key, terms)).all()
    assert (mids >= 0).all()
    assert len(np.unique(mids)) == 500
    assert not np.isin(mids, mids_of(new_mid_key(), terms)).any()


def test_a_collision_of_mids_is_a_load_error() -> None:
    refuse_collisions(np.array([1, 2, 3]))
    with pytest.raises(LoadError):
        refuse_collisions(np.array([1, 2, 1]))
