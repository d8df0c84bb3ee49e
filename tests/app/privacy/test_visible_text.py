from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.visible_text import UNREADABLE, Visible


def test_what_is_visible_already_stays_the_same() -> None:
    assert Visible.of("Zoë, 山田\n\tx").origins is None
    assert Visible.of("abc").span(1, 3) == (1, 3)


@given(st.text(st.characters(exclude_categories=["Cs", "Co", "Cn"]), max_size=60), st.data())
def test_a_span_of_the_original_holds_its_visible_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    visible = Visible.of(text)
    first, last = visible.span(start, end)
    assert visible.text[first:last] == Visible.of(text[start:end]).text


def test_positions_lead_behind_an_escape() -> None:
    visible = Visible.of_typed("who is Ren&eacute;e now")
    at = visible.text.index("Renée")
    assert visible.original_span(at, at + 4) == (7, 18)
    assert visible.original_span(at, at + 5) == (7, 19)


def test_a_text_without_look_alikes_has_no_second_reading() -> None:
    assert Visible.of("who is Rosa, 山田 now").skeleton() is None


def test_a_russian_question_stays_as_it_is() -> None:
    assert Visible.of("Где живёт Роза Сорокина?").text == "Где живёт Роза Сорокина?"


@pytest.mark.parametrize("typed", ["\ue000\ue001", "\U000e0fff"])
def test_characters_of_no_script_are_one_unknown_sign_alone_and_part_no_word(typed: str) -> None:
    assert Visible.of(f"who is {typed} now").text == f"who is {UNREADABLE} now"
    assert Visible.of(f"who is Ro{typed}sa now").text == "who is Rosa now"
