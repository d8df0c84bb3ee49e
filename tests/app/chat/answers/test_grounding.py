from __future__ import annotations

import pytest

from app.chat.answers.grounding import MAX_EXPRESSIONS, MAX_TEXT_CHARS, NotGroundedError, Reason, ground
from app.privacy.pseudonyms import PseudonymTable
from kg_store.algebra.expressions import Call, Name
from kg_store.terms import Mid


@pytest.fixture
def words(table: PseudonymTable) -> dict[str, str]:
    """Three pseudonyms of the conversation; `far` is not in the evidence."""
    return {"one": table.of_entity(Mid(1)), "two": table.of_entity(Mid(2)), "far": table.of_entity(Mid(3))}


def reason(text: str, expressions: list[str], words: dict[str, str], table: PseudonymTable) -> Reason:
    with pytest.raises(NotGroundedError) as caught:
        ground(text, expressions, {words["one"], words["two"]}, table)
    assert all(word not in str(caught.value) for word in words.values())
    return caught.value.reason


def test_a_draft_of_its_evidence_passes(table: PseudonymTable, words: dict[str, str]) -> None:
    one, two = words["one"], words["two"]
    expressions = [f"count({one})", one]
    grounded = ground(f"There are {{1}}, as {two}'s friend {{2}} says.", expressions, {one, two}, table)
    assert grounded.expressions == (Call("count", (Name(one),)), Name(one))
    assert grounded.text == f"There are {{1}}, as {two}'s friend {{2}} says."


def test_the_text_alone_may_cite(table: PseudonymTable, words: dict[str, str]) -> None:
    assert ground(f"It is {words['one']}.", [], {words["one"]}, table).expressions == ()


def test_control_characters_are_taken_out_and_markup_stays(table: PseudonymTable, words: dict[str, str]) -> None:
    assert ground("\x1b[1m**{1}**\u202e\x00\n", [words["one"]], set(words.values()), table).text == "[1m**{1}**"


def test_no_control_character_parts_a_pseudonym(table: PseudonymTable, words: dict[str, str]) -> None:
    far = words["far"]
    assert reason(f"{far[:3]}\u200b{far[3:]} {{1}}", [words["one"]], words, table) == "outside_evidence"


def test_an_invented_pseudonym_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    assert reason("It is Ezzzz9.", [words["one"]], words, table) == "unknown_pseudonym"
    assert reason("{1}", ["count(Ezzzz9)"], words, table) == "unknown_pseudonym"
    assert reason("{1}", ["nonsense"], words, table) == "unknown_pseudonym"


def test_a_pseudonym_of_another_conversation_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    foreign = PseudonymTable.new().of_entity(Mid(1))
    assert reason(f"It is {foreign}.", [words["one"]], words, table) == "unknown_pseudonym"


def test_an_echo_from_outside_the_evidence_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    assert reason(f"It is {words['far']}.", [words["one"]], words, table) == "outside_evidence"
    assert reason("{1}", [f"union({words['one']}, {words['far']})"], words, table) == "outside_evidence"


def test_a_pseudonym_in_other_letters_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    assert reason(f"It is {words['one'].lower()}.", [words["one"]], words, table) == "unknown_pseudonym"
    assert reason(f"It is {words['one'].upper()}.", [words["one"]], words, table) == "unknown_pseudonym"


@pytest.mark.parametrize("text", ["{2}", "{0}", "{1} {3}", "{99999999999999999999}", "{ 2 }"])
def test_a_placeholder_without_its_expression_is_refused(
    table: PseudonymTable, words: dict[str, str], text: str
) -> None:
    assert reason(text, [words["one"]], words, table) == "bad_placeholder"


@pytest.mark.parametrize("expression", ["", "count(", "eval(x)", "a b", "__import__('os')", "count(Eq7f2k))"])
def test_what_is_no_expression_is_refused(table: PseudonymTable, words: dict[str, str], expression: str) -> None:
    assert reason("{1}", [expression], words, table) == "bad_expression"


def test_a_draft_that_cites_nothing_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    assert reason("Surely it is Paris.", [], words, table) == "nothing_cited"
    assert reason("", [], words, table) == "nothing_cited"


def test_what_is_too_long_is_refused(table: PseudonymTable, words: dict[str, str]) -> None:
    one = words["one"]
    assert reason("x" * (MAX_TEXT_CHARS + 1), [one], words, table) == "too_long"
    assert reason("x", [one] * (MAX_EXPRESSIONS + 1), words, table) == "too_long"
    assert reason("x", [one + " " * MAX_TEXT_CHARS], words, table) == "too_long"


@pytest.mark.parametrize(
    "text",
    [
        "See https://evil.invalid/?who={1}.",
        "See HTTP://evil.invalid/{1}",
        "See www.evil.invalid?{1}",
        "See evil.invalid/{1}",
        "![x](//evil.invalid?{1})",
        "![x]( <//evil.invalid?{1}>)",
        "[a]: //evil.invalid?{1}",
        "<img src='//evil.invalid?{1}'>",
        "<img src=//evil.invalid?{1}>",
        "ht\u200btps:/\u200b/evil.invalid/{1}",
    ],
)
def test_a_draft_with_a_web_address_is_refused(table: PseudonymTable, words: dict[str, str], text: str) -> None:
    """A name would be restored into it, and a viewer or a click would send it away."""
    assert reason(text, [words["one"]], words, table) == "address"


def test_two_names_that_touch_are_parted(table: PseudonymTable, words: dict[str, str]) -> None:
    """The first may be a web address, in which the second would go on."""
    one, two = words["one"], words["two"]
    grounded = ground(f"It is {{1}}/{{2}}, or {one},{two}\u00a0{{1}}.", [one, two], {one, two}, table)
    assert grounded.text == f"It is {{1}} / {{2}}, or {one}, {two} {{1}}."


@pytest.mark.parametrize(
    "text", ["It is {1} and/or {2}, i.e. {1}.", "Dr. {1} a.k.a. {2} [1]: 5 < 6", "{1}: 3/4 of it"]
)
def test_ordinary_signs_are_no_address(table: PseudonymTable, words: dict[str, str], text: str) -> None:
    one, two = words["one"], words["two"]
    assert ground(text, [one, two], {one, two}, table).text == text


def test_braces_that_are_no_placeholder_stay(table: PseudonymTable, words: dict[str, str]) -> None:
    assert ground("{x} {} {1", [words["one"]], set(words.values()), table).text == "{x} {} {1"
