"""Drafts whose names a program would follow are refused; prose passes."""

from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.chat.answers.draft_prose import is_prose, parted
from app.chat.answers.grounding import NotGroundedError, ground
from app.evaluation.attacks import links
from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import Names
from client_sdk.restore import restore
from kg_store.terms import Mid

TOLD: dict[str, list[str]] = tomllib.loads(Path(links.__file__).with_name("link_forms.toml").read_text("utf-8"))
EVERYWHERE = [
    *TOLD["addresses"],
    *(f"See {each} now." for each in (*TOLD["addresses"], *TOLD["forms"])),
    *(place.replace("{address}", each) for place, each in product(TOLD["places"], TOLD["addresses"])),
    *TOLD["forms"],
]
# Without a name in it: what a click would open all the same.
LURES = [
    "See evil.com.",
    "See www.evil.example now.",
    "Write to who@evil.example.",
    "See https://evil.example.",
    "<b>",
]
WORD = re.compile(r"[EVSR][a-z0-9]{5}")


def is_word(word: str) -> bool:
    return WORD.fullmatch(word) is not None


def test_there_are_forms_enough() -> None:
    assert len(set(links.link_forms())) >= 200
    assert len(set(EVERYWHERE)) >= 1_000


@pytest.mark.parametrize("draft", [*links.link_forms(), *LURES])
def test_a_draft_whose_name_would_be_followed_is_refused(draft: str) -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    with pytest.raises(NotGroundedError) as refused:
        ground(f"{draft} {{1}}", [one], {one}, table)
    assert refused.value.reason == "address"


def test_a_pseudonym_of_its_own_is_refused_where_an_expression_is() -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    for form in EVERYWHERE:
        # Where it would not stand as a word, no name comes back.
        is_word_there = re.search(r"[A-Za-z0-9]\{1\}|\{1\}[A-Za-z0-9]", form) is None
        for draft in (form, form.replace("{1}", one) if is_word_there else form):
            with pytest.raises(NotGroundedError, match="address"):
                ground(draft, [one], {one}, table)


@pytest.mark.parametrize("form", TOLD["prose"])
def test_prose_passes_with_spaces_at_most(form: str) -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    for draft in (form, form.replace("{1}", one)):
        told = ground(draft, [one], {one}, table).text
        assert told.replace(" ", "") == draft.replace(" ", "")
        assert ground(told, [one], {one}, table).text == told


@pytest.mark.parametrize(
    "text",
    [
        "Node.js is older than 3.5.",
        "He is a Ph.D. of the U.S., e.g. in St. Louis.",
        "At 10:30, 3:1, and/or 1/2.",
        "a\nb",
    ],
)
def test_words_without_a_name_are_no_address(text: str) -> None:
    assert is_prose(text, is_word)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{1}/{2}", "{1} / {2}"),
        ("{1}{2}", "{1} {2}"),
        ("{1}–{2}", "{1} – {2}"),
        ("{1},{2};{3}", "{1}, {2}; {3}"),
        ("Eq7f2k-Eq8f2k", "Eq7f2k - Eq8f2k"),
        ("{1}和{2}", "{1} 和 {2}"),
        ("他是{1}。她是{2}。", "他是{1}。 她是 {2}。"),
        ("{1}\u00a0{2}\u3000{3}\u2028{1}", "{1} {2} {3} {1}"),
        ("{1}, {2} and/or {3}", "{1}, {2} and/or {3}"),
        ("{1}.{2}", "{1}.{2}"),
        ("{1:is|are}/{2}", "{1:is|are}/{2}"),
    ],
)
def test_two_names_that_touch_are_parted_by_spaces(text: str, told: str) -> None:
    assert parted(text, is_word) == told


signs = st.text(alphabet="./\\:@?#=&%<>[]()!_*~`'\"-, \n\t{}|aZ7。／：＠é医com", max_size=12)
ADDRESS = "https://a.example/b?c="


@given(signs, signs, signs)
@example("", "/", "")
@example("", "–", "")
@example("", "\u00a0", "")
@example("", "和", "")
def test_no_name_goes_on_in_a_value_that_is_an_address(before: str, between: str, after: str) -> None:
    """Whatever passes: of two restored names, the one that is an address ends before the other begins."""
    table = PseudonymTable.new()
    one, two = table.of_entity(Mid(1)), table.of_entity(Mid(2))
    try:
        text = ground(f"{before}{one}{between}{two}{after}", [], {one, two}, table).text
    except NotGroundedError:
        return
    assume(WORD.search(text))
    named = {one: Names(names=[ADDRESS], total=1), two: Names(names=["Quennell"], total=1)}
    for chunk in re.split("[ \t\n]+", restore(text, named)):
        assert not ("Quennell" in chunk and ADDRESS in chunk)


@given(signs, signs)
def test_no_name_stands_beside_a_sign_that_addresses_are_made_of(before: str, after: str) -> None:
    text = parted(f"{before} x{{1}}" if before else "{1}", is_word) + after
    assume(text.count("{") == 1)
    if is_prose(text, is_word):
        assert not re.search(r"\{1\}[@=\\]|[@=?%\\#]\{1\}|//|\{1\}\.[a-z]{2}|<[a-z/!]", text)
