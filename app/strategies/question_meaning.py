"""The service's own reading of a question that a model is asked: the kinds that it leads to, and a hint for the model.

On a graph without declared kinds the hint comes from the prompt alone: the candidate path that scores best.

Promise: a hint holds no pseudonym and no relation that its prompt does not show, and depends on nothing that the
prompt's profile hides: if prompts may show kinds only, every thing is taken to have the relations of its kind.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.egress.disclosure import Profile
from app.language.protocol import Language
from app.language.readings import ResultKind
from app.language.schema_steps import schema_steps
from app.llm.in_house import ReadingScores
from app.llm.tasks import Evidence, StepInput, Thing
from app.strategies.base import OwnReading, StrategyInput
from app.strategies.retrieval import NodeSet, show_things, steps_shown
from app.strategies.schema_view import own_steps, whole_kinds
from app.strategies.start import declares_kinds
from kg_store.algebra.expressions import walked_along
from kg_store.terms import ALMOST_PSEUDONYM
from kg_store.text.labels import words_of_kinds, words_of_steps

_LABEL: Final = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class QuestionMeaning:
    """An `expression` over pseudonyms, the kinds of its result, and the scores of the reading."""

    expression: str
    gives: ResultKind | None
    scores: ReadingScores

    @property
    def own(self) -> OwnReading:
        """The reading as it is kept with the answer, beside a model's draft."""
        return OwnReading(self.scores, self.expression)

    @property
    def labels(self) -> list[str]:
        """The labels of the relations that it uses, without their direction."""
        said = (part for label in _LABEL.findall(self.expression) for part in label.split("|"))
        return [label.lstrip("^") for label in said]

    def hint_for(self, given: StepInput) -> str:
        """The expression in the words of the prompt `given`; empty if the prompt lacks some of them."""
        text = self.expression
        for fact in sorted(given.evidence, key=lambda each: -len(each.path)):
            text = text.replace(walked_along(fact.start, fact.path), fact.end)
        for way in sorted(given.candidates, key=lambda each: -len(each.path)):
            text = text.replace(walked_along(way.start, way.path), f"way({way.number})")
        shown = {each.name for each in given.things} | {each.end for each in given.evidence}
        steps = {*steps_shown(given.evidence, given.candidates), *given.relations}
        is_shown = set(ALMOST_PSEUDONYM.findall(text)) <= shown and set(_LABEL.findall(text)) <= steps
        return text if is_shown else ""


async def meaning_of(inquiry: StrategyInput, places: Sequence[NodeSet]) -> QuestionMeaning | None:
    """None where no model is asked, the graph declares no kinds, or the reading is not sure."""
    is_asked = inquiry.reasoner.is_model and declares_kinds(inquiry.graph.schema)
    return await asyncio.to_thread(_read, inquiry, places) if is_asked else None


def _read(inquiry: StrategyInput, places: Sequence[NodeSet]) -> QuestionMeaning | None:
    steps, kinds = schema_steps(inquiry.graph), whole_kinds(inquiry)
    things = show_things(inquiry, places)
    given = StepInput(
        question=inquiry.dialogue.question,
        things=things,
        evidence=[],
        candidates=[],
        steps=steps,
        kinds=kinds,
        own=own_steps(inquiry, places) if inquiry.profile is Profile.OPEN else _of_their_kinds(inquiry, things),
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )
    found = inquiry.language.read_question(given)
    if found is None:
        return None
    gives = inquiry.language.result_kind(found.expression, inquiry.graph, [*things, *kinds])
    return QuestionMeaning(found.expression, gives, found.scores)


def read_prompt(language: Language, given: StepInput) -> QuestionMeaning | None:
    """The reading of a prompt over a graph without kinds, by what it shows and nothing else; None where none fits."""
    ways = {_stand_in(way.number): way for way in given.candidates}
    walked = [
        Evidence(start=way.start, path=way.path, end=name, end_concept=way.concept) for name, way in ways.items()
    ]
    shown = given.model_copy(update={"evidence": [*given.evidence, *walked], "candidates": [], "last_round": True})
    found = language.read_question(shown)
    if found is None:
        return None
    text = found.expression
    for name, way in ways.items():
        text = text.replace(name, walked_along(way.start, way.path))
    return QuestionMeaning(text, None, found.scores)


def _stand_in(number: int) -> str:
    """A set's name that no conversation uses as a pseudonym, because pseudonyms hold no run of three zeros."""
    return f"S000{number:02}"


def _of_their_kinds(inquiry: StrategyInput, things: Sequence[Thing]) -> dict[str, tuple[str, ...]]:
    """For each of `things`, the labels of the steps that its kind has."""
    steps = schema_steps(inquiry.graph)
    kinds = {thing.name: thing.concept.split(", ") for thing in things}
    return {name: tuple(step.label for step in steps if step.kind in mine) for name, mine in kinds.items()}
