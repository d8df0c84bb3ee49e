from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.visible_text import UNREADABLE, Visible

DISGUISES = [
    "🅁🄾🅂🄰", "🇷🇴🇸🇦", "ⓡⓞⓢⓐ", "𝓡𝓸𝓼𝓪", "ʀᴏsᴀ", "Ｒｏｓａ", "r̲o̲s̲a̲", "R⃝o⃝s⃝a⃝", "⒭⒪⒮⒜", "🅡🅞🅢🅐", "🆁🅾🆂🅰", "⠗⠕⠎⠁",
    "r̶o̶s̶a̶", "ℝ𝕠𝕤𝕒", "ᴿᵒˢᵃ", "\U0001cce7\U0001cce4\U0001cce8\U0001ccd6",
]  # fmt: skip
LOOK_ALIKES = ["гоѕа", "ꓣꓳꓢꓮ", "Rоsа", "ЯОЅА", "ᖇOՏᗩ", "ŕøṧå", "ŗǿşǎ", "rosɑ", "ᎡՕᏚᎪ"]


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


@pytest.mark.parametrize("disguise", DISGUISES)
def test_letters_in_circles_and_the_like_are_letters_and_lead_back(disguise: str) -> None:
    visible = Visible.of(f"who is {disguise} now")
    assert visible.text.casefold() == "who is rosa now"
    assert visible.original_span(7, 11) == (7, 7 + len(disguise))


@pytest.mark.parametrize("look_alike", LOOK_ALIKES)
def test_the_second_reading_has_the_letters_that_others_look_like_and_leads_back(look_alike: str) -> None:
    visible = Visible.of(f"who is {look_alike} now")
    assert visible.text == f"who is {look_alike} now"
    second = visible.skeleton()
    assert second is not None
    assert second.text.casefold() == "who is rosa now"
    assert second.original_span(7, 11) == (7, 7 + len(look_alike))


def test_a_text_without_look_alikes_has_no_second_reading() -> None:
    assert Visible.of("who is Rosa, 山田 now").skeleton() is None


def test_a_russian_question_stays_as_it_is() -> None:
    assert Visible.of("Где живёт Роза Сорокина?").text == "Где живёт Роза Сорокина?"


@pytest.mark.parametrize("typed", ["\ue000\ue001", "\U000e0fff"])
def test_characters_of_no_script_are_one_unknown_sign_alone_and_part_no_word(typed: str) -> None:
    assert Visible.of(f"who is {typed} now").text == f"who is {UNREADABLE} now"
    assert Visible.of(f"who is Ro{typed}sa now").text == "who is Rosa now"
