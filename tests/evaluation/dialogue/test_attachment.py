"""LLM-KAT: which end is asked for, what may fill it, and figures worked out by hand."""

from __future__ import annotations

import pytest

from evaluation.dialogue.attachment import (
    flagged,
    impossible_questions,
    kat_figures,
    questions_of,
    string_judge,
    unknown_ends,
)
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.extractor_texts import carriers
from evaluation.dialogue.spans import SpanQuestion

WROTE = ("Wexdol", "written by", "Gorfen Bradol")
STARS = ("Wexdol", "starred actors", "Narvost")
ALSO_STARS = ("Wexdol", "starred actors", "Pellquin")


def turn(said: str, *gold: tuple[str, str, str]) -> DialogueTurn:
    return DialogueTurn("1", "d", (("user", said),), tuple(sorted(gold)))


def test_the_end_that_nobody_has_named_is_asked_for() -> None:
    assert unknown_ends(turn("Who wrote wexdol?", WROTE)) == [(WROTE, False)]
    assert unknown_ends(turn("I like Gorfen Bradol.", WROTE)) == [(WROTE, True)]


def test_a_second_triple_goes_on_from_the_first() -> None:
    assert unknown_ends(turn("I like Gorfen Bradol.", WROTE, STARS)) == [(STARS, False), (WROTE, True)]


def test_the_tail_is_asked_for_where_the_history_does_not_tell() -> None:
    assert unknown_ends(turn("Hello.", WROTE)) == [(WROTE, False)]
    assert unknown_ends(turn("Did Gorfen Bradol write Wexdol?", WROTE)) == [(WROTE, False)]
    assert unknown_ends(turn("Wexdolia is a place.", WROTE)) == [(WROTE, False)]


def test_a_question_shows_one_end_and_the_turn_around_it() -> None:
    (question,) = questions_of(turn("Who wrote Wexdol?", WROTE), "Gorfen did.")
    assert question.context == "Who wrote Wexdol? Gorfen did."
    assert (question.triplet, question.acceptable) == ("(Wexdol, written by, X)", ("Gorfen Bradol",))
    (alone,) = questions_of(turn("Who wrote Wexdol?", WROTE), "Gorfen did.", "reply")
    assert alone.context == "Gorfen did."


def test_every_coming_triple_of_the_same_question_is_acceptable() -> None:
    found = questions_of(turn("Who is in Wexdol?", STARS, ALSO_STARS), "")
    assert [question.acceptable for question in found] == [("Narvost", "Pellquin")] * 2


def question(dialogue: str, *acceptable: str) -> SpanQuestion:
    return SpanQuestion("", "Wexdol", "written by", False, acceptable, dialogue=dialogue)


@pytest.mark.parametrize(
    ("spans", "f1"),
    [
        (("GORFEN, Bradol",), 1.0),
        (("nobody", "Gorfen Dol"), 0.5),  # one of two words on either side
        ((), 0.0),
    ],
)
def test_f1_is_that_of_the_best_span_and_the_best_acceptable_answer(spans: tuple[str, ...], f1: float) -> None:
    assert kat_figures([question("d", "the Gorfen Bradol", "Narvost")], [spans]).in_full.mean == f1


def test_figures_by_hand() -> None:
    asked = [question(dialogue, "one two three four five") for dialogue in ("one", "one", "one", "two", "two")]
    # Of five words one and two are said: 2 * 1 / (1 + 5) and 2 * 2 / (2 + 5).
    judged = [("one two three four five",), ("one",), (), ("one two",), None]
    figures = kat_figures(asked, judged)
    assert figures.questions == 5
    assert figures.per_turn.mean == pytest.approx((1 + 1 / 3 + 4 / 7) / 3)
    assert (figures.at_half, figures.at_one) == pytest.approx(((1 + 4 / 7) / 3, 1 / 3))
    assert figures.per_session == pytest.approx(((1 + 1 / 3) / 2 + 4 / 7) / 2)
    assert (figures.impossible, figures.failed) == (0.2, 0.2)
    assert figures.in_full.mean == pytest.approx((1 + 1 / 3 + 4 / 7) / 4)


def test_nothing_answered_is_nothing_reached() -> None:
    figures = kat_figures([question("one", "Narvost")] * 2, [(), None])
    reached = (figures.per_turn.mean, figures.at_half, figures.at_one, figures.per_session, figures.in_full.mean)
    assert reached == (0.0,) * 5


def test_names_of_the_context_are_found_but_for_the_one_that_is_known() -> None:
    def answers(said: str, *names: str) -> tuple[str, ...] | None:
        judge = string_judge([turn("", *((name, "is", name) for name in names))])
        return judge([SpanQuestion(said, "Wexdol", "written by", False)])[0]

    names = ("Wexdol", "Gorfen Bradol", "Narvost")
    assert answers("Wexdol is by gorfen bradol, not by Nobody.", *names) == ("gorfen bradol",)
    assert answers("Wexdol came in 1960, not 1961 or 19600.", "Wexdol", "1960") == ("1960",)
    assert answers("It is good.", *names) == ()


def test_the_control_puts_the_answer_into_a_sentence_that_does_not_tell_it() -> None:
    (asked,) = questions_of(turn("Who is in Wexdol?", STARS), "Narvost is in it.")
    control, held = impossible_questions([asked] * 6), carriers("not_found").held
    assert control[0].context == held[0].replace("{}", "Narvost") == control[5].context
    assert control[1].context == held[1].replace("{}", "Narvost")
    assert [each.acceptable for each in control] == [("Narvost",)] * 6
    # A match of strings falls for every one: it reads no relation.
    assert flagged(string_judge([turn("", STARS)])(control)) == 0.0
    assert flagged([(), ("Narvost",), None, ()]) == pytest.approx(2 / 3)
    assert flagged([None]) == 0.0
