"""Plans of two things: what a common noun leads to narrows what the other thing does."""

from __future__ import annotations

import pytest

from app.language.readings import AskedForm
from app.llm.tasks import VotedPaths
from app.reader.answer_plans import conjunction, plan_things
from app.reader.scoring.candidate_paths import KnownPath, ParsedQuestion, ScoredPath
from tests.support.tasks import thing

TOWN, TRADE = thing("Eq7f2k", "town"), thing("Ez9y8x", "trade")
BORN, WORKS = ("Eq7f2k", "^born in"), ("Ez9y8x", "^works as")


def path(start: str, step: str, end: str, score: float) -> ScoredPath:
    return ScoredPath(KnownPath(start, (step,), ("person",), end, None, start), score)


def asked(form: AskedForm, sorting: tuple[str, ...]) -> ParsedQuestion:
    paths = [path(*BORN, "Sa1b2c", 0.9), path(*WORKS, "Sd3e4f", -0.8)]
    voted = VotedPaths(paths=frozenset({BORN, WORKS}), share=0.8, margin=0.5, sorting=sorting)
    return ParsedQuestion(form, paths, [TOWN, TRADE], [], both_named=True, width=3, last_round=True, voted=voted)


@pytest.mark.parametrize(
    ("form", "expression"),
    [
        (AskedForm("things", ""), "intersect(Sa1b2c, Sd3e4f)"),
        (AskedForm("count", ""), "count(intersect(Sa1b2c, Sd3e4f))"),
    ],
)
def test_a_sorting_noun_narrows_the_answer_however_little_the_question_says_of_its_relation(
    form: AskedForm, expression: str
) -> None:
    planned = conjunction(asked(form, WORKS))
    assert planned is not None
    assert planned.expressions == (expression,)
    assert conjunction(asked(form, ())) is None  # Another thing's path that is as unlikely says nothing.


@pytest.mark.parametrize(("question", "expression"), [("When was Eq7f2k born", "Sd1b2c"), ("Who is Eq7f2k", "St1b2c")])
def test_a_thing_of_no_kind_is_no_time(question: str, expression: str) -> None:
    ends = {"thing": 0.9, "date": 0.5}
    paths = [
        ScoredPath(KnownPath("Eq7f2k", (end,), (end,), f"S{end[0]}1b2c", None, "Eq7f2k"), score)
        for end, score in ends.items()
    ]
    form = AskedForm("things", question)
    planned = plan_things(ParsedQuestion(form, paths, [TOWN], [], both_named=False, width=3, last_round=True))
    assert planned is not None
    assert planned.expressions == (expression,)
    bare = ParsedQuestion(form, paths[:1], [TOWN], [], both_named=False, width=3, last_round=True)
    assert (plan_things(bare) is None) == (expression[1] == "d")
