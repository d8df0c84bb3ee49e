"""Plans of two things: what a common noun leads to narrows what the other thing does."""

from __future__ import annotations

import pytest

from app.language.readings import AskedForm
from app.llm.tasks import VotedPaths
from app.reader.answer_plans import conjunction
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
