"""Selects the part of a large schema that a question speaks of: relations of its things, and relations that it words.

The service then reads the question's meaning over that part alone.
"""

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
"""A stand-in name for all things of a kind. It equals no pseudonym, because there the second character is a letter."""


@dataclass(frozen=True, slots=True)
class SaidSchema:
    """The part of a schema that a question speaks of.

    `steps`: its relations; of several with the same words, only one. `alike`: for each label, the other labels with
    the same words. `kinds`: the kinds at both ends of the steps, with stand-in names in place of pseudonyms
    (`with_pseudonyms` puts those in). `things`: the things that the question names; each is also a kind of its own,
    with its own steps. `named`: the MIDs of the things. `own`: for each thing, the labels of the steps that leave it.
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
        """Returns `expression` with the stand-in names of kinds replaced by the conversation's pseudonyms."""
        concepts = {kind.name: kind.concept for kind in self.kinds}

        def drawn(word: re.Match[str]) -> str:
            concept = concepts[word[0]]
            return inquiry.pseudonyms.of_kind(concept, members_of(inquiry.graph, concept))

        return _WHOLE_KIND.sub(drawn, expression)


def _roles_of(step: SchemaStep) -> frozenset[str]:
    """Returns the kinds at the end of a step that are words of its label, if the end has other kinds too.

    For a step "has spouse" that leads to "person, spouse", this is "spouse".
    """
    kinds, words = step.concept.split(", "), set(plain_words(step.shown).lower().split())
    return frozenset(kind for kind in kinds if set(kind.split()) <= words) if len(kinds) > 1 else frozenset()


def _of_same_words(steps: Iterable[SchemaStep]) -> dict[str, tuple[str, ...]]:
    """Maps each label to the other labels with the same words, such as "written by" and "written_by"."""
    by_words: dict[str, list[str]] = {}
    for label, shown in {step.label: step.shown for step in steps}.items():
        by_words.setdefault(plain_words(shown), []).append(label)
    several = (labels for labels in by_words.values() if len(labels) > 1)
    return {label: tuple(one for one in labels if one != label) for labels in several for label in labels}


def held_meaning(
    inquiry: StrategyInput, labels: SaidLabels, places: Sequence[NodeSet], ways: Sequence[WalkedWay]
) -> HeldMeaning | None:
    """Returns the best meaning of the question that has a result in the graph, as an expression over pseudonyms.

    None if no reading has a result.
    """
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
