"""The part of a large schema that a question speaks of: the steps of its things, and those that its words say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.language.protocol import SaidLabels
from app.language.readings import schema_steps, step_of_kind
from app.llm.in_house import HeldMeaning
from app.llm.tasks import SchemaStep, StepInput, Thing
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet, show_things
from app.strategies.sets.vote import WalkedWay
from kg_store.algebra.expressions import ExpressionResult
from kg_store.graph.traversal import concept_of, members_of
from kg_store.text.labels import plain_words, words_of_kinds, words_of_steps

_WHOLE_KIND: Final = re.compile(r"\bS[0-9]{5}\b")
"""A name for a whole kind. It cannot be a pseudonym, because those have a letter behind the first."""


@dataclass(frozen=True, slots=True)
class SaidSchema:
    """The part of a schema that a question speaks of.

    `steps`; a name for everything of each of the `kinds` at their ends; the `things` that the question names. Each
    thing is also a kind of its own with its own steps. Names of kinds are not pseudonyms: `with_pseudonyms` inserts
    those. If several steps have the same words, one is kept and `alike` lists the labels of the others. `named`: the
    ids of the things; `own`: the labels that leave each of them.
    """

    steps: tuple[SchemaStep, ...]
    kinds: tuple[Thing, ...]
    things: tuple[Thing, ...]
    alike: Mapping[str, tuple[str, ...]]
    named: frozenset[int]
    own: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls, inquiry: StrategyInput, said: SaidLabels, places: Sequence[NodeSet], ways: Sequence[WalkedWay]
    ) -> SaidSchema:
        graph = inquiry.graph
        own = tuple(
            step_of_kind(graph, each.way.start.pseudonym, each.way.path[0], concept_of(graph, each.members))
            for each in ways
        )
        near = {kind for step in own for kind in step.concept.split(", ")}
        every = schema_steps(inquiry.graph) if said.is_measured else ()
        measures = (each for each in every if each.kind in near and each.value in ("date", "number"))
        found = (*own, *said.steps(), *measures)
        steps = tuple({(each.kind, plain_words(each.shown)): each for each in reversed(found)}.values())[::-1]
        kinds = dict.fromkeys(kind for step in steps for kind in (step.kind, *step.concept.split(", ")))
        roles = frozenset[str]().union(*map(_roles_of, steps))
        named = {place.pseudonym for place in places}
        whole = tuple(
            Thing(name=f"S{at:05}", concept=kind) for at, kind in enumerate(kinds) if kind not in named | roles
        )
        named_mids = (mid for place in places for mid in place.mids.tolist())
        # Each thing is also a kind of its own; values are not.
        things = tuple(
            thing if thing.name[0] == "V" else thing.model_copy(update={"concept": f"{thing.concept}, {thing.name}"})
            for thing in show_things(inquiry, places)
        )
        leaving = {
            name: tuple(each.label for each in own if each.kind == name)
            for name in dict.fromkeys(each.kind for each in own)
        }
        return cls(steps, whole, things, _of_same_words(found), frozenset(named_mids), leaving)

    def with_pseudonyms(self, inquiry: StrategyInput, expression: str) -> str:
        """Returns `expression` with the conversation's pseudonyms for its kinds."""
        concepts = {kind.name: kind.concept for kind in self.kinds}

        def drawn(word: re.Match[str]) -> str:
            concept = concepts[word[0]]
            return inquiry.pseudonyms.of_kind(concept, members_of(inquiry.graph, concept))

        return _WHOLE_KIND.sub(drawn, expression)


def _roles_of(step: SchemaStep) -> frozenset[str]:
    """The kinds at the end of a step that its own label names: "spouse" in "has spouse", beside "person"."""
    kinds, words = step.concept.split(", "), set(plain_words(step.shown).lower().split())
    return frozenset(kind for kind in kinds if set(kind.split()) <= words) if len(kinds) > 1 else frozenset()


def _of_same_words(steps: Iterable[SchemaStep]) -> dict[str, tuple[str, ...]]:
    """For each label, the other labels with the same words: "written by" in one source, "written_by" in another."""
    by_words: dict[str, list[str]] = {}
    for label, shown in {step.label: step.shown for step in steps}.items():
        by_words.setdefault(plain_words(shown), []).append(label)
    several = (labels for labels in by_words.values() if len(labels) > 1)
    return {label: tuple(one for one in labels if one != label) for labels in several for label in labels}


def held_meaning(
    inquiry: StrategyInput, labels: SaidLabels, places: Sequence[NodeSet], ways: Sequence[WalkedWay]
) -> HeldMeaning | None:
    """The best reading that gives something in the graph, in the conversation's pseudonyms; None without one."""
    said = SaidSchema.of(inquiry, labels, places, ways)
    given = StepInput(
        question=inquiry.asked,
        things=list(said.things),
        evidence=[],
        candidates=[],
        steps=said.steps,
        kinds=said.kinds,
        own=dict(said.own),
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )

    def result_of(expression: str) -> ExpressionResult | None:
        return inquiry.result_of(said.with_pseudonyms(inquiry, expression))

    found = inquiry.language.read_held(given, said.alike, said.named, result_of)
    return replace(found, expression=said.with_pseudonyms(inquiry, found.expression)) if found else None
