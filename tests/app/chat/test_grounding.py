from __future__ import annotations

import re
import tomllib
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.chat.grounding import MAX_EXPRESSIONS, MAX_TEXT_CHARS, NotGroundedError, Reason, ground, is_prose, parted
from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import Names
from client_sdk.restore import restore
from evaluation.attacks import links
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


def test_a_draft_whose_name_would_be_followed_is_refused() -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    for draft in (*links.link_forms(), *LURES):
        with pytest.raises(NotGroundedError) as refused:
            ground(f"{draft} {{1}}", [one], {one}, table)
        assert refused.value.reason == "address", draft


def test_a_pseudonym_of_its_own_is_refused_where_an_expression_is() -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    for form in EVERYWHERE:
        # Where it would not stand as a word, no name comes back.
        is_word_there = re.search(r"[A-Za-z0-9]\{1\}|\{1\}[A-Za-z0-9]", form) is None
        for draft in (form, form.replace("{1}", one) if is_word_there else form):
            with pytest.raises(NotGroundedError, match="address"):
                ground(draft, [one], {one}, table)


def test_prose_passes_with_spaces_at_most() -> None:
    table = PseudonymTable.new()
    one = table.of_entity(Mid(1))
    for draft in (each for form in TOLD["prose"] for each in (form, form.replace("{1}", one))):
        told = ground(draft, [one], {one}, table).text
        assert told.replace(" ", "") == draft.replace(" ", "")
        assert ground(told, [one], {one}, table).text == told


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


@pytest.fixture
def words(table: PseudonymTable) -> dict[str, str]:
    """Three pseudonyms of the conversation; `far` is not in the evidence."""
    return {"one": table.of_entity(Mid(1)), "two": table.of_entity(Mid(2)), "far": table.of_entity(Mid(3))}


def reason(text: str, expressions: list[str], words: dict[str, str], table: PseudonymTable) -> Reason:
    with pytest.raises(NotGroundedError) as caught:
        ground(text, expressions, {words["one"], words["two"]}, table)
    assert all(word not in str(caught.value) for word in words.values())
    return caught.value.reason


def test_no_control_character_parts_a_pseudonym(table: PseudonymTable, words: dict[str, str]) -> None:
    far = words["far"]
    assert reason(f"{far[:3]}\u200b{far[3:]} {{1}}", [words["one"]], words, table) == "outside_evidence"


def test_a_pseudonym_in_other_letters_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    assert reason(f"It is {words['one'].lower()}.", [words["one"]], words, table) == "unknown_pseudonym"
    assert reason(f"It is {words['one'].upper()}.", [words["one"]], words, table) == "unknown_pseudonym"


def test_what_is_too_long_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    one = words["one"]
    assert reason("x" * (MAX_TEXT_CHARS + 1), [one], words, table) == "too_long"
    assert reason("x", [one] * (MAX_EXPRESSIONS + 1), words, table) == "too_long"
    assert reason("x", [one + " " * MAX_TEXT_CHARS], words, table) == "too_long"
