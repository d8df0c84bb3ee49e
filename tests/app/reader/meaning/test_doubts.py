"""Doubts about a meaning: a verb in the other voice, an adjective that does not measure a date."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput
from app.reader.meaning.read_meaning import read_meaning
from app.reader.scoring.path_scoring import PathScorer
from tests.support.tasks import thing

ACTOR = thing("Ea1c2t", "actor")
KINDS = (thing("Sactor", "actor", "more"),)


def both(kind: str, label: str, end: str) -> tuple[SchemaStep, SchemaStep]:
    return SchemaStep(kind, label, label, end, is_one=True), SchemaStep(end, f"^{label}", f"^{label}", kind)


STEPS = (
    *both("actor", "mentored by", "actor"),
    SchemaStep("actor", "joined", "joined", "date", "date", is_one=True),
    SchemaStep("actor", "date of birth", "date of birth", "date", "date", is_one=True),
)


def doubts(scorer: PathScorer, question: str, steps: tuple[SchemaStep, ...] = STEPS) -> tuple[str, set[str]]:
    given = StepInput(
        question=question, things=[ACTOR], evidence=[], candidates=[], steps=steps, kinds=KINDS,
        own={ACTOR.name: tuple(step.label for step in steps)},
    )  # fmt: skip
    read = read_meaning(scorer, given)
    assert read is not None
    return read.meaning.expression, set(read.meaning.doubts)


@pytest.mark.parametrize(("question", "doubt"), [("Who mentored Ea1c2t?", set()), ("How old is Ea1c2t?", set())])
def test_what_is_said_as_it_is_stored_is_in_no_doubt(scorer: PathScorer, question: str, doubt: set[str]) -> None:
    assert doubts(scorer, question)[1] == doubt


def test_a_verb_in_the_other_voice_is_in_doubt(scorer: PathScorer) -> None:
    for verb in ("mentored", "coached"):
        told = doubts(scorer, f"Whom has Ea1c2t {verb}?")
        assert told == ('reach(Ea1c2t, "mentored by")', {"against voice"})
    assert doubts(scorer, "Who coached Ea1c2t?")[1] == set()


def test_an_adjective_that_does_not_measure_a_date_is_in_doubt(scorer: PathScorer) -> None:
    steps = tuple(step for step in STEPS if step.label != "date of birth")
    assert doubts(scorer, "How old is Ea1c2t?", steps) == ('reach(Ea1c2t, "joined")', {"unfit measure"})
