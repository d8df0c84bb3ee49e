"""LLM-KAT: which end is asked for, what may fill it, and figures worked out by hand."""

from __future__ import annotations

import pytest

from evaluation.dialogue.attachment.kat import Verdict, kat_figures, verdicts
from evaluation.dialogue.attachment.questions import AttachmentQuestion, questions_of, unknown_ends
from evaluation.dialogue.attachment.string_extractor import StringExtractor
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.spans import UNKNOWN, SpanQuestion

WROTE = ("Wexdol", "written by", "Gorfen Bradol")
STARS = ("Wexdol", "starred actors", "Narvost")
ALSO_STARS = ("Wexdol", "starred actors", "Pellquin")


def turn(said: str, *coming: tuple[str, str, str]) -> GroundedTurn:
    return GroundedTurn("1", "d", (("user", said),), (), tuple(sorted(coming)))


def test_the_end_that_nobody_has_named_is_asked_for() -> None:
    assert unknown_ends(turn("Who wrote wexdol?", WROTE)) == [(WROTE, "tail")]
    assert unknown_ends(turn("I like Gorfen Bradol.", WROTE)) == [(WROTE, "head")]


def test_a_second_triple_goes_on_from_the_first() -> None:
    assert unknown_ends(turn("I like Gorfen Bradol.", WROTE, STARS)) == [(STARS, "tail"), (WROTE, "head")]


def test_the_tail_is_asked_for_where_the_history_does_not_tell() -> None:
    assert unknown_ends(turn("Hello.", WROTE)) == [(WROTE, "tail")]
    assert unknown_ends(turn("Did Gorfen Bradol write Wexdol?", WROTE)) == [(WROTE, "tail")]
    assert unknown_ends(turn("Wexdolia is a place.", WROTE)) == [(WROTE, "tail")]


def test_a_question_shows_one_end_and_the_turn_around_it() -> None:
    (question,) = questions_of(turn("Who wrote Wexdol?", WROTE), "Gorfen did.")
    assert question.span == SpanQuestion("Who wrote Wexdol? Gorfen did.", "Wexdol", "written by", UNKNOWN)
    assert question.acceptable == ("Gorfen Bradol",)
    (alone,) = questions_of(turn("Who wrote Wexdol?", WROTE), "Gorfen did.", "reply")
    assert alone.span.context == "Gorfen did."


def test_every_coming_triple_of_the_same_question_is_acceptable() -> None:
    found = questions_of(turn("Who is in Wexdol?", STARS, ALSO_STARS), "")
    assert [question.acceptable for question in found] == [("Narvost", "Pellquin")] * 2


def question(dialogue: str, *acceptable: str) -> AttachmentQuestion:
    return AttachmentQuestion("1", dialogue, SpanQuestion("", "Wexdol", "written by", UNKNOWN), acceptable)


def test_f1_is_that_of_the_best_span_and_the_best_acceptable_answer() -> None:
    asked = question("d", "the Gorfen Bradol", "Narvost")
    found = verdicts([asked] * 4, [("GORFEN, Bradol",), ("nobody", "Gorfen Dol"), (), None])
    assert [(verdict.kind, verdict.f1) for verdict in found] == [
        ("answered", 1.0),
        ("answered", 0.5),  # one of two words on either side
        ("impossible", 0.0),
        ("failed", 0.0),
    ]


def test_figures_by_hand() -> None:
    found = [
        Verdict("one", "answered", 1.0),
        Verdict("one", "answered", 0.4),
        Verdict("one", "impossible"),
        Verdict("two", "answered", 0.8),
        Verdict("two", "failed"),
    ]
    figures = kat_figures(found)
    assert figures.questions == 5
    assert figures.per_turn == pytest.approx((2.2 / 3, 1.8 / 3, 1 / 3))
    assert figures.per_session == pytest.approx(((0.7 + 0.8) / 2, (0.5 + 0.8) / 2, (0.5 + 0) / 2))
    assert (figures.impossible, figures.failed) == (0.2, 0.2)
    assert figures.with_impossible == pytest.approx(2.2 / 4)


def test_nothing_answered_is_nothing_reached() -> None:
    figures = kat_figures([Verdict("one", "impossible"), Verdict("one", "failed")])
    assert (figures.per_turn, figures.per_session, figures.with_impossible) == ((0.0,) * 3, (0.0,) * 3, 0.0)


def test_names_of_the_context_are_found_but_for_the_one_that_is_known() -> None:
    extractor = StringExtractor(["Wexdol", "Gorfen Bradol", "Narvost"])
    asked = SpanQuestion("Wexdol is by gorfen bradol, not by Nobody.", "Wexdol", "written by", UNKNOWN)
    assert extractor.answers_to([asked]) == [("gorfen bradol",)]
    years = StringExtractor(["Wexdol", "1960"])
    assert years.answers_to([SpanQuestion("Wexdol came in 1960, not 1961 or 19600.", "Wexdol", "year", UNKNOWN)]) == [
        ("1960",)
    ]
    assert extractor.answers_to([SpanQuestion("It is good.", "Wexdol", "written by", UNKNOWN)]) == [()]
