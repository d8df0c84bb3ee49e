from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from app.privacy.visible import Visible


def test_what_is_visible_already_stays_the_same() -> None:
    assert Visible.of("Zoë, 山田\n\tx").origins is None
    assert Visible.of("abc").span(1, 3) == (1, 3)


def test_positions_are_followed_past_what_was_dropped() -> None:
    visible = Visible.of("\u200ba\u00adb\x0bc")
    assert visible.text == "ab c"
    assert visible.span(1, 4) == (0, 2)
    assert visible.span(0, 6) == (0, 4)


@given(st.text(max_size=60), st.data())
def test_a_span_of_the_original_holds_its_visible_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    visible = Visible.of(text)
    first, last = visible.span(start, end)
    assert visible.text[first:last] == Visible.of(text[start:end]).text


@pytest.mark.parametrize(
    ("typed", "seen"),
    [
        ("Ren&eacute;e", "Renée"),
        ("&#82;ose", "Rose"),
        ("a%20b%C3%A9", "a bé"),
        ("5% of %zz", "5% of %zz"),
        ("%ff", "%ff"),
        ("J\\u00f6rg", "Jörg"),
        ("J\\\\u00f6rg", "Jörg"),
        ("throm&zwnj;bury", "thrombury"),
        ("Sm\ufe0fith", "Smith"),
        ("A&B; x", "A&B; x"),
    ],
)
def test_escapes_of_what_was_typed_are_undone_once(typed: str, seen: str) -> None:
    assert Visible.of_typed(typed).text == seen


def test_positions_lead_behind_an_escape() -> None:
    visible = Visible.of_typed("who is Ren&eacute;e now")
    at = visible.text.index("Renée")
    assert visible.original_span(at, at + 4) == (7, 18)
    assert visible.original_span(at, at + 5) == (7, 19)


def test_the_last_turn_is_the_question() -> None:
    turns = (SafeTurn("user", SafeText("one")), SafeTurn("user", SafeText("two")))
    assert SafeDialogue(turns, ()).question == "two"
