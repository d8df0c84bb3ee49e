from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.chat.sealing import PAD_BYTES, seal_names
from client_sdk.crypto.sealing import (
    CannotOpenError,
    KeyPair,
    capsule_context,
    from_base64url,
    open_capsule,
)
from client_sdk.protocol import Capsule, ChatAnswer, Message, Names, Usage

KEY = KeyPair.generate()
HYBRID_KEY = KeyPair.generate(post_quantum=True)
of_both_suites = pytest.mark.parametrize("key", [KEY, HYBRID_KEY], ids=["x25519", "hybrid"])
ANSWER = ChatAnswer(
    id="a1", conversation="c1", graph="clinic", message=Message(role="assistant", content="It is Eq7f2k, not Eq8."),
    answered=True, entities=[], evidence=[], grounded=True, ambiguous=[], usage=Usage(),
)  # fmt: skip


def sealed(key: KeyPair, table: Mapping[str, Names]) -> Capsule:
    capsule = seal_names(key.public_text, ANSWER, table).capsule
    assert capsule is not None
    return capsule


@of_both_suites
def test_only_the_callers_key_opens_it_and_only_in_its_context(key: KeyPair) -> None:
    capsule = sealed(key, {"Eq7f2k": Names(names=["Anna Berg"], total=1)})
    content = open_capsule(capsule, key, capsule_context(ANSWER))
    assert (content.answer_id, content.table["Eq7f2k"].names) == ("a1", ["Anna Berg"])
    for stranger in (KeyPair.generate(), KeyPair.generate(post_quantum=True)):
        with pytest.raises(CannotOpenError):
            open_capsule(capsule, stranger, capsule_context(ANSWER))
    for other in ({"id": "a2"}, {"conversation": "c2"}, {"graph": "bank"}):
        with pytest.raises(CannotOpenError):
            open_capsule(capsule, key, capsule_context(ANSWER.model_copy(update=other)))


SEALED = sealed(KEY, {"Eq7f2k": Names(names=["Anna Berg"], total=1)})
TEXT = ANSWER.message.content


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)), st.text(max_size=3))
def test_a_message_that_was_changed_in_any_sign_opens_nothing(start: int, end: int, instead: str) -> None:
    text = TEXT[:start] + instead + TEXT[max(start, end) :]
    assume(text and text != TEXT)
    changed = ANSWER.model_copy(update={"message": Message(role="assistant", content=text)})
    with pytest.raises(CannotOpenError):
        open_capsule(SEALED, KEY, capsule_context(changed))


@pytest.mark.parametrize("place", range(len(TEXT)))
def test_a_flipped_bit_of_the_message_opens_nothing_and_the_message_itself_does(place: int) -> None:
    assert open_capsule(SEALED, KEY, capsule_context(ANSWER)).table
    text = TEXT[:place] + chr(ord(TEXT[place]) ^ 1) + TEXT[place + 1 :]
    with pytest.raises(CannotOpenError):
        open_capsule(
            SEALED,
            KEY,
            capsule_context(ANSWER.model_copy(update={"message": Message(role="assistant", content=text)})),
        )


def test_usage_may_change_after_sealing() -> None:
    later = ANSWER.model_copy(update={"usage": Usage(calls=3)})
    assert open_capsule(SEALED, KEY, capsule_context(later)).table


@pytest.mark.parametrize(("key", "more"), [(KEY, 48), (HYBRID_KEY, 1136)], ids=["x25519", "hybrid"])
def test_nobody_reads_a_name_or_its_length_off_the_capsule(key: KeyPair, more: int) -> None:
    texts = [
        sealed(key, {"Eq7f2k": Names(names=[name], total=1)}).sealed
        for name in ("Jolante", "Maximiliane von Östermann")
    ]
    assert len(texts[0]) == len(texts[1])
    assert b"Jolante" not in from_base64url(texts[0])
    assert (len(from_base64url(texts[0])) - more) % PAD_BYTES == 0
