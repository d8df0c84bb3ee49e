"""LLM-KAT: which end is asked for, what may fill it, figures worked out by hand, and `arog eval dialogue` on made-up
dialogues."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.cli import app
from evaluation.dialogue.anonymised import PLAIN
from evaluation.dialogue.attachment import (
    control_questions,
    flagged,
    kat_figures,
    kat_measures,
    kat_rows,
    questions_of,
    string_judge,
    unknown_ends,
)
from evaluation.dialogue.dialogue_sets import DialogueTurn, SpanQuestion, published, read_test_turns
from evaluation.dialogue.extractor_texts import carriers
from evaluation.dialogue.replies import gold_replies
from tests.support.dialogues import write_dialogues

WROTE = ("Wexdol", "written by", "Gorfen Bradol")
STARS = ("Wexdol", "starred actors", "Narvost")
ALSO_STARS = ("Wexdol", "starred actors", "Pellquin")


def spoken(said: str, *gold: tuple[str, str, str]) -> DialogueTurn:
    return DialogueTurn("1", "d", (("user", said),), tuple(sorted(gold)))


def test_the_end_that_nobody_has_named_is_asked_for() -> None:
    assert unknown_ends(spoken("Who wrote wexdol?", WROTE)) == [(WROTE, False)]
    assert unknown_ends(spoken("I like Gorfen Bradol.", WROTE)) == [(WROTE, True)]


def test_a_second_triple_goes_on_from_the_first() -> None:
    assert unknown_ends(spoken("I like Gorfen Bradol.", WROTE, STARS)) == [(STARS, False), (WROTE, True)]


def test_the_tail_is_asked_for_where_the_history_does_not_tell() -> None:
    assert unknown_ends(spoken("Hello.", WROTE)) == [(WROTE, False)]
    assert unknown_ends(spoken("Did Gorfen Bradol write Wexdol?", WROTE)) == [(WROTE, False)]
    assert unknown_ends(spoken("Wexdolia is a place.", WROTE)) == [(WROTE, False)]


def test_a_question_shows_one_end_and_the_turn_around_it() -> None:
    (question,) = questions_of(spoken("Who wrote Wexdol?", WROTE), "Gorfen did.")
    assert question.context == "Who wrote Wexdol? Gorfen did."
    assert (question.triplet, question.acceptable) == ("(Wexdol, written by, X)", ("Gorfen Bradol",))
    (alone,) = questions_of(spoken("Who wrote Wexdol?", WROTE), "Gorfen did.", "reply")
    assert alone.context == "Gorfen did."


def test_every_coming_triple_of_the_same_question_is_acceptable() -> None:
    found = questions_of(spoken("Who is in Wexdol?", STARS, ALSO_STARS), "")
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
    assert figures.per_session == pytest.approx(((1 + 1 / 3) / 2 + 4 / 7) / 2)
    assert (figures.impossible, figures.failed) == (0.2, 0.2)
    assert figures.in_full.mean == pytest.approx((1 + 1 / 3 + 4 / 7) / 4)


def test_nothing_answered_is_nothing_reached() -> None:
    figures = kat_figures([question("one", "Narvost")] * 2, [(), None])
    assert (figures.per_turn.mean, figures.per_session, figures.in_full.mean) == (0.0,) * 3


def test_names_of_the_context_are_found_but_for_the_one_that_is_known() -> None:
    def answers(said: str, *names: str) -> tuple[str, ...] | None:
        judge = string_judge([spoken("", *((name, "is", name) for name in names))])
        return judge([SpanQuestion(said, "Wexdol", "written by", False)])[0]

    names = ("Wexdol", "Gorfen Bradol", "Narvost")
    assert answers("Wexdol is by gorfen bradol, not by Nobody.", *names) == ("gorfen bradol",)
    assert answers("Wexdol came in 1960, not 1961 or 19600.", "Wexdol", "1960") == ("1960",)
    assert answers("It is good.", *names) == ()


def test_the_control_puts_the_answer_into_a_sentence_that_does_not_tell_it() -> None:
    control, held = control_questions([spoken("Who is in Wexdol?", STARS)] * 6), carriers("not_found").held
    assert control[0].context == held[0].replace("{}", "Narvost") == control[5].context
    assert control[1].context == held[1].replace("{}", "Narvost")
    assert [each.acceptable for each in control] == [("Narvost",)] * 6
    # A match of strings falls for every one: it reads no relation.
    assert flagged(string_judge([spoken("", STARS)])(control)) == 0.0
    assert flagged([(), ("Narvost",), None, ()]) == pytest.approx(2 / 3)
    assert flagged([None]) == 0.0


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["dialogue", *arguments])


def test_attachment_of_gold_replies_and_all_triples(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    done = run(f"--data={data}", "--only=attachment", f"--out={tmp_path / 'out'}")
    assert done.exit_code == 1, "without an extractor the bounds are missed"
    text = (tmp_path / "out" / "dialogue.md").read_text("utf-8")
    assert "FAIL" in text
    assert "| all triples said | plain | reply | string match (no judge) | 10 | 100.0 [100.0, 100.0] |" in text
    assert "| published: Qwen-32B | anonymised | turn | DeepSeek-R1-32B |  | 90.1 |" in text
    assert "| published: KQA | 20000 | 0.0 | 100.0 |" in text
    assert "| embedded reasoner | anonymised, Eq7f2k (person) | reply | string match (no judge) | 10 |" in text


def test_a_reply_that_never_came_has_failed(tmp_path: Path) -> None:
    turns = read_test_turns(write_dialogues(tmp_path / "data"), limit=4)
    (row,) = kat_rows(
        turns, {"strings": string_judge}, PLAIN, "m", lambda turns: ["", *gold_replies(turns)[1:]], ("turn",)
    )
    assert row.figures.failed == 0.25


@pytest.mark.model
@pytest.mark.slow
def test_replies_are_measured_from_gold_and_from_ranked_facts(tmp_path: Path) -> None:
    done = run(f"--data={write_dialogues(tmp_path / 'data')}", "--only=replies")
    assert "| string match of any acceptable answer, 3 facts |" in done.output
    assert done.exit_code == int("FAIL" in done.output)
    lines = [line for line in done.output.splitlines() if line.startswith("| all triples said,")]
    assert [line.split("|")[1].strip() for line in lines] == [
        f"all triples said, {given}" for given in ("gold facts", "3 facts", "5 facts", "10 facts")
    ]
    assert "| published: SURGE |  | 51.0 | 57.6 | 55.8 |" in done.output


def test_what_is_not_measured_is_missed() -> None:
    assert [line.passed for line in kat_measures(None, (0, 0.0))] == [False, False, False]
    assert [line.passed for line in kat_measures(None, (10, 0.96))] == [False, False, True]


def test_published_rows_are_as_long_as_their_heads() -> None:
    for table in ("retrieval", "llm_kat", "impossible", "replies"):
        head, rows = published(table)
        assert rows
        assert all(len(row) == len(head) for row in rows)
    assert published("impossible")[1][0] == ["LLM-KAT", "78.9", "21.1"]
