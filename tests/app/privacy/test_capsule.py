from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.capsule import PAD_BYTES, seal_names
from client_sdk.protocol import Names, capsule_context
from client_sdk.sealing import BadPublicKey, CannotOpen, KeyPair, from_base64url, open_capsule

KEY = KeyPair.generate()
HYBRID_KEY = KeyPair.generate(post_quantum=True)
of_both_suites = pytest.mark.parametrize("key", [KEY, HYBRID_KEY], ids=["x25519", "hybrid"])
CONTEXT = capsule_context("a1", "c1", "clinic")


@of_both_suites
def test_only_the_callers_key_opens_it_and_only_in_its_context(key: KeyPair) -> None:
    capsule = seal_names(key.public_text, "a1", "c1", "clinic", {"Eq7f2k": Names(names=["Anna Berg"], total=1)})
    content = open_capsule(capsule, key, CONTEXT)
    assert (content.answer_id, content.table["Eq7f2k"].names) == ("a1", ["Anna Berg"])
    for stranger in (KeyPair.generate(), KeyPair.generate(post_quantum=True)):
        with pytest.raises(CannotOpen):
            open_capsule(capsule, stranger, CONTEXT)
    for other in (("a2", "c1", "clinic"), ("a1", "c2", "clinic"), ("a1", "c1", "bank")):
        with pytest.raises(CannotOpen):
            open_capsule(capsule, key, capsule_context(*other))


@given(st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=30), max_size=4), max_size=6))
def test_what_is_sealed_is_what_is_opened(table: dict[str, list[str]]) -> None:
    given_names = {word: Names(names=names, total=len(names)) for word, names in table.items()}
    assert (
        open_capsule(seal_names(KEY.public_text, "a1", "c1", "clinic", given_names), KEY, CONTEXT).table == given_names
    )


@pytest.mark.parametrize(("key", "more"), [(KEY, 48), (HYBRID_KEY, 1136)], ids=["x25519", "hybrid"])
def test_nobody_reads_a_name_or_its_length_off_the_capsule(key: KeyPair, more: int) -> None:
    sealed = [
        seal_names(key.public_text, "a1", "c1", "clinic", {"Eq7f2k": Names(names=[name], total=1)}).sealed
        for name in ("Jo", "Maximiliane von Östermann")
    ]
    assert len(sealed[0]) == len(sealed[1])
    assert b"Jo" not in from_base64url(sealed[0])
    assert (len(from_base64url(sealed[0])) - more) % PAD_BYTES == 0


@pytest.mark.parametrize("key", ["", "x", "A" * 43, "ä" * 43, "A" * 100])
def test_a_bad_public_key_is_refused(key: str) -> None:
    with pytest.raises(BadPublicKey):
        seal_names(key, "a1", "c1", "clinic", {})
