from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.follow_ups import needs_context
from app.privacy.pseudonym_format import Standing, draw_word, is_shaped, replaced, shaped_in
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from kg_store.terms import Mid, Schema, as_mids


@given(st.sampled_from("EVS"))
def test_a_drawn_word_has_its_letter_a_digit_and_a_small_letter(letter: str) -> None:
    word = draw_word(letter, ())  # type: ignore[arg-type]
    assert word[0] == letter
    assert len(word) == 6
    assert is_shaped(word)
    assert any(c.isdigit() for c in word[1:])
    assert any(c.isalpha() for c in word[1:])


def test_a_word_that_is_taken_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = iter("a1b2c" * 2 + "zzzzz" + "12345" + "d3e4f")
    monkeypatch.setattr("secrets.choice", lambda _letters: next(letters))
    # Taken, no digit, no letter: three draws are thrown away.
    assert draw_word("E", {"Ea1b2c"}) == "Ed3e4f"


@pytest.mark.parametrize(
    "word", ["Eabcde", "E12345", "Xa1b2c", "ea1b2c", "Ea1b2", "Ea1b2cd", "EA1b2c", "Éa1b2c", "Ea1b2ç", "", "E"]
)
def test_other_words_are_not_shaped_like_pseudonyms(word: str) -> None:
    assert not is_shaped(word)


@pytest.mark.parametrize(
    "text",
    [
        "Ea1b2c",
        "(Ea1b2c)",
        "Ea1b2c's",
        "_Ea1b2c_",
        "Ea1b2cさん",
        "山Ea1b2c",
        "x-Ea1b2c.",
        '"Ea1b2c"',
        "Ea1b2c\n",
        "*Ea1b2c*",
    ],
)
def test_a_pseudonym_is_found_beside_punctuation_and_unspaced_scripts(text: str) -> None:
    assert [found.word for found in shaped_in(text)] == ["Ea1b2c"]


@pytest.mark.parametrize(
    "text", ["xEa1b2c", "Ea1b2cd", "0Ea1b2c", "Ea1b2cé", "ÖEa1b2c", "яEa1b2c", "Ea1b2c\u0301", "Ea1b2c٣"]
)
def test_a_part_of_a_longer_word_is_no_pseudonym(text: str) -> None:
    assert list(shaped_in(text)) == []


def test_a_replaced_span_never_melts_into_its_neighbours() -> None:
    spans = [Standing(0, 2, "Ea1b2c"), Standing(2, 4, "Eb1b2c"), Standing(5, 6, "Vc1b2c")]
    assert replaced("xxyy-zrest", spans) == "Ea1b2c Eb1b2c-Vc1b2c rest"
    assert replaced("rest", []) == "rest"


SCHEMA = Schema((), (), ())
TURNS = ("Who treats E11aaa?", "It is S22bbb.", "Where does S22bbb work?", "In S33ccc.")


def dialogue(question: str, *, newest: bool = True, leans: bool = False) -> SafeDialogue:
    roles = ("user", "assistant")
    turns = [SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate((*TURNS, question))]  # type: ignore[arg-type]
    return SafeDialogue(tuple(turns), (Topic("E11aaa", as_mids([1]), newest=newest),), leans)


@pytest.mark.parametrize(
    "question", ["Who treats her?", "Is E11aaa in that ward?", "Does E11aaa live there too?", "Which is the same one?"]
)  # fmt: skip
def test_words_that_mean_something_earlier_lean_on_it(question: str) -> None:
    assert needs_context(dialogue(question))


@pytest.mark.parametrize("question", ["Who treats E11aaa?", "the films that share actors with E11aaa were by whom"])
def test_a_question_that_names_what_it_asks_about_leans_on_nothing(question: str) -> None:
    assert not needs_context(dialogue(question))


def test_a_question_that_names_nothing_or_was_completed_leans() -> None:
    assert needs_context(dialogue("How many are old?", newest=False))
    assert needs_context(dialogue("Who treats E11aaa?", leans=True))


@pytest.mark.parametrize(("earlier", "kept"), [(0, 1), (1, 3), (2, 5), (9, 5), (None, 5)])
def test_as_many_questions_are_kept_as_the_thread_has(earlier: int | None, kept: int) -> None:
    assert dialogue("And?").with_earlier(earlier).turns == dialogue("And?").turns[-kept:]


def asked(*leaning: bool) -> tuple[PseudonymTable, list[dict[str, str]], list[int | None]]:
    """A conversation of answers a0, a1, ..., each about thing 1 and one new thing."""
    table, earlier = PseudonymTable.new(), []
    for number, leans in enumerate(leaning):
        earlier.append(table.assign_thread(f"a{number}", leans))
        table.of_entity(Mid(1))
        table.of_entity(Mid(10 + number))
    return table, [table.wire_pseudonyms(SCHEMA, f"a{number}") for number in range(len(leaning))], earlier


def test_a_thread_has_its_own_words_and_the_one_that_leans_on_it_has_the_same() -> None:
    _, (first, second, third, fourth), earlier = asked(False, True, False, True)
    assert earlier == [0, 1, 0, 1]
    assert first == second
    assert third == fourth
    assert not set(first.values()) & set(third.values())
    assert first.keys() == third.keys()


def test_a_conversation_that_begins_by_leaning_is_one_thread_and_sends_its_pseudonyms_as_they_are() -> None:
    _, words, earlier = asked(True, True)
    assert (words, earlier) == ([{}, {}], [None, None])


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_words_are_one_to_one_shaped_alike_and_the_same_after_reopening(leaning: list[bool]) -> None:
    table, words, _ = asked(*leaning)
    again = PseudonymTable.from_bytes(table.to_bytes(SCHEMA), SCHEMA)
    assert again.answers == table.answers == tuple(f"a{number}" for number in range(len(leaning)))
    for number, sent in enumerate(words):
        assert len(set(sent.values())) == len(sent)
        assert all(own[0] == word[0] and len(own) == len(word) for own, word in sent.items())
        assert again.wire_pseudonyms(SCHEMA, f"a{number}") == sent


def test_what_was_sent_before_stays_when_more_is_issued() -> None:
    table, (first,), _ = asked(False)
    table.of_value(Mid(77))
    assert first.items() < table.wire_pseudonyms(SCHEMA, "a0").items()


def test_each_thread_has_its_own_order() -> None:
    keys = [str(number) for number in range(30)]
    table, orders = PseudonymTable.new(), []
    for number, leans in enumerate((False, True, False)):
        table.assign_thread(f"a{number}", leans)
        orders.append(table.shuffled_order(keys))
    assert orders[0] == orders[1] != orders[2]
