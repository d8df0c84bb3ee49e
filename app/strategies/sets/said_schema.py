"""The part of a large schema that a question speaks of: what its things leave by, and the steps that its words say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep, Thing
from app.reader.language.relation_wording import hop_words
from app.reader.meaning.question.question_tokens import AskedQuestion, read_question
from app.reader.meaning.question.spans import Span, spans_of
from app.reader.scoring.hop_table import Wordings
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet, show_things
from app.strategies.schema_view import schema_steps, step_of_kind
from app.strategies.sets.voted_ways import WalkedWay
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, members_of
from kg_store.text.labels import plain_words

MIN_LIKENESS: Final = 0.6
MAX_LABELS: Final = 60
"""Labels that words of the question say, those most like them."""
MIN_SAID: Final = 0.75
"""Words so like a label say it."""
_WHOLE_KIND: Final = re.compile(r"\bS[0-9]{5}\b")
"""A pseudonym has a letter behind its first."""
_MEASURED: Final = frozenset({"superlative", "comparative", "value"})


class LabelWordings:
    """The steps of a schema by their labels, with the vectors of their wordings; once for a version of a graph."""

    def __init__(self, graph: BlindGraph, embedder: Embedder) -> None:
        self.steps: dict[str, list[SchemaStep]] = {}
        for step in schema_steps(graph):
            self.steps.setdefault(step.label, []).append(step)
        words = (dict.fromkeys((step.shown, step.concept) for step in steps) for steps in self.steps.values())
        rows = [[text for each in told for text in _texts_of(*each)] for told in words]
        self._wordings, self._embedder = Wordings.of(embedder, rows), embedder

    @classmethod
    def of(cls, graph: BlindGraph, embedder: Embedder) -> LabelWordings:
        known = graph.schema.derived.get((cls, embedder))
        if not isinstance(known, cls):
            known = graph.schema.derived[cls, embedder] = cls(graph, embedder)
        return known

    def likeness(self, spans: Sequence[Span]) -> npt.NDArray[np.float64]:
        """Of each label to each of `spans`; shape (labels, spans)."""
        begins = np.cumsum([0, *(len(span.texts) for span in spans[:-1])])
        texts = [text for span in spans for text in span.texts]
        return np.maximum.reduceat(self._wordings.likeness(self._embedder.sentences(texts)), begins, axis=1)


def _texts_of(shown: str, concept: str) -> tuple[str, ...]:
    words = hop_words(shown, concept)
    return (*words.relation, *words.reached)


@dataclass(frozen=True)
class SaidLabels:
    """A question, and the labels of a schema that are like its words."""

    asked: AskedQuestion
    spans: tuple[Span, ...]
    graph: BlindGraph
    embedder: Embedder

    @classmethod
    def of(cls, inquiry: StrategyInput, embedder: Embedder) -> SaidLabels:
        asked = read_question(inquiry.dialogue.question)
        return cls(asked, tuple(spans_of(asked)), inquiry.graph, embedder)

    @cached_property
    def _known(self) -> LabelWordings:
        return LabelWordings.of(self.graph, self.embedder)

    @cached_property
    def _likeness(self) -> npt.NDArray[np.float64]:
        return self._known.likeness(self.spans)

    @property
    def is_compound(self) -> bool:
        """True where one path from one thing can't be all that is asked."""
        return self.asked.form not in ("things", "count") or self.is_measured or self.asked.roles.count("thing") > 1

    @property
    def is_chain(self) -> bool:
        """True where one step can't be: words of the question that lie apart say a label each."""
        if not self.spans:
            return False
        said: list[bool] = np.any(self._likeness >= MIN_SAID, axis=0).tolist()
        used = [span.used for span, is_said in zip(self.spans, said, strict=True) if is_said]
        return any(not one & other for one in used for other in used)

    @property
    def is_measured(self) -> bool:
        """True where it asks for the first, for more, or for what lies between two years."""
        return not _MEASURED.isdisjoint(self.asked.roles)

    def steps(self) -> Iterator[SchemaStep]:
        """The steps of any kind by the labels that lie nearest to words of the question."""
        if not self.spans:
            return
        best, labels = self._likeness.max(axis=1), list(self._known.steps)
        nearest = np.argsort(-best, kind="stable")[:MAX_LABELS]
        for at in nearest[best[nearest] >= MIN_LIKENESS].tolist():
            yield from self._known.steps[labels[at]]


@dataclass(frozen=True, slots=True)
class SaidSchema:
    """`steps`, a word for everything of each of the `kinds` at their ends, and the `things` that are named.

    The words of kinds are no pseudonyms: `with_pseudonyms` draws those that an expression has. Each thing is a kind of
    its own as well, which has the steps that itself leaves by. Of steps with the same words one stands for all;
    `alike` has the others' labels. `named`: the ids of the things; `own`: the labels that each of them leaves by.
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
        own = tuple(_own(inquiry, ways))
        near = {kind for step in own for kind in step.concept.split(", ")}
        measures = _measures(inquiry, near) if said.is_measured else ()
        found = (*own, *said.steps(), *measures)
        steps = tuple({(each.kind, plain_words(each.shown)): each for each in reversed(found)}.values())[::-1]
        kinds = dict.fromkeys(kind for step in steps for kind in (step.kind, *step.concept.split(", ")))
        roles = frozenset[str]().union(*map(_roles_of, steps))
        named = {place.pseudonym for place in places}
        whole = tuple(
            Thing(name=f"S{at:05}", concept=kind) for at, kind in enumerate(kinds) if kind not in named | roles
        )
        named_mids = (mid for place in places for mid in place.mids.tolist())
        things = tuple(map(_of_its_own_kind, show_things(inquiry, places)))
        leaving = {
            name: tuple(each.label for each in own if each.kind == name)
            for name in dict.fromkeys(each.kind for each in own)
        }
        return cls(steps, whole, things, _of_same_words(found), frozenset(named_mids), leaving)

    def with_pseudonyms(self, inquiry: StrategyInput, expression: str) -> str:
        """`expression` with the conversation's pseudonyms for the kinds in it."""
        concepts = {kind.name: kind.concept for kind in self.kinds}

        def drawn(word: re.Match[str]) -> str:
            concept = concepts[word[0]]
            return inquiry.pseudonyms.of_kind(concept, members_of(inquiry.graph, concept))

        return _WHOLE_KIND.sub(drawn, expression)


def _roles_of(step: SchemaStep) -> frozenset[str]:
    """The kinds at its end that its own words say, beside another: a spouse is a person, and says the step."""
    kinds, words = step.concept.split(", "), set(plain_words(step.shown).lower().split())
    return frozenset(kind for kind in kinds if set(kind.split()) <= words) if len(kinds) > 1 else frozenset()


def _of_same_words(steps: Iterable[SchemaStep]) -> dict[str, tuple[str, ...]]:
    """The other labels that read as each one does: "written by" of one source, "written_by" of another."""
    by_words: dict[str, list[str]] = {}
    for label, shown in {step.label: step.shown for step in steps}.items():
        by_words.setdefault(plain_words(shown), []).append(label)
    several = (labels for labels in by_words.values() if len(labels) > 1)
    return {label: tuple(one for one in labels if one != label) for labels in several for label in labels}


def _own(inquiry: StrategyInput, ways: Sequence[WalkedWay]) -> Iterator[SchemaStep]:
    for each in ways:
        ends = concept_of(inquiry.graph, each.members)
        yield step_of_kind(inquiry.graph, each.way.start.pseudonym, each.way.path[0], ends)


def _measures(inquiry: StrategyInput, kinds: set[str]) -> Iterator[SchemaStep]:
    return (each for each in schema_steps(inquiry.graph) if each.kind in kinds and each.value in ("date", "number"))


def _of_its_own_kind(thing: Thing) -> Thing:
    if thing.name.startswith("V"):
        return thing
    return thing.model_copy(update={"concept": f"{thing.concept}, {thing.name}"})
