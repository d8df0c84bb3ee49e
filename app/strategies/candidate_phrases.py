"""Candidates in plain words, for models that choose from a list: `the patients that Eq7f2k treats`.

Promise: a phrase holds our own words, relation labels, concepts and pseudonyms; one that the guard would stop is left
out. Limit: where a relation's words make no good English for certain, there is no phrase, and its path stands there.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.tasks import Candidate, Evidence, StepInput, Thing
from app.reader.sentences.described_things import things_in
from app.reader.sentences.evidence_paths import KnownFacts
from app.reader.sentences.noun_phrases import many
from app.strategies.base import StrategyInput
from kg_store.algebra.expressions import Name

_END = "S00000"


def phrases_of(inquiry: StrategyInput, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """One for each candidate, in their order; empty where there is none."""
    return tuple(_allowed(inquiry, _phrase(way)) for way in candidates)


def _phrase(way: Candidate) -> str:
    start = Thing(name=way.start, concept="thing", size="1")
    steps = [f"S0000{at}" for at in range(1, len(way.path))]
    ends = [*steps, _END]
    walked = [
        Evidence(start=before, path=[step], end=end, end_concept=way.concept if end == _END else "thing")
        for before, step, end in zip([way.start, *steps], way.path, ends, strict=True)
    ]
    shown = StepInput(question=way.start, things=[start], evidence=walked, candidates=[])
    things = things_in(Name(_END), KnownFacts(shown))
    return things.definite(many) if things else ""


def _allowed(inquiry: StrategyInput, phrase: str) -> str:
    return phrase if phrase and inquiry.may_leave(phrase) else ""
