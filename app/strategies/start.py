"""Finds where retrieval starts: at the things that the question names, or at whole kinds of things without any."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import Thing
from app.privacy.safe_text import Topic
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from kg_store.graph.kinds import kinds_of
from kg_store.graph.traversal import concept_of, kind_of, members_of, steps_from_each
from kg_store.terms import NodeKind, Schema, cached_by_version
from kg_store.text.english import kind_words
from kg_store.text.inflection import singular
from kg_store.text.labels import words_of_kinds
from kg_store.text.words import asked_words


def whole_kinds(inquiry: StrategyInput, kinds: Iterable[str] | None = None) -> tuple[Thing, ...]:
    """Returns `kinds`, or every kind of named things, with a pseudonym for the set of their members, without sizes."""
    graph = inquiry.graph
    members = ((kind, members_of(graph, kind)) for kind in (kinds_of(graph.schema) if kinds is None else kinds))
    return tuple(Thing(name=inquiry.pseudonyms.of_kind(kind, mids), concept=kind, size="") for kind, mids in members)


def own_steps(inquiry: StrategyInput, places: Iterable[NodeSet]) -> dict[str, tuple[str, ...]]:
    """Maps the pseudonym of each place to the labels of the steps that leave it."""
    named = [place for place in places if len(place.mids)]
    steps = steps_from_each(inquiry.graph, [place.mids for place in named])
    label = inquiry.graph.schema.label_step
    return {place.pseudonym: tuple(map(label, on)) for place, on in zip(named, steps, strict=True)}


# Retrieval starts from at most MAX_KINDS kinds. With at most MAX_RELATIONS relations, a schema is small enough to
# compare each of them with every question. Both are chosen by hand.
MAX_KINDS = 3
MAX_RELATIONS = 300
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Start:
    """The sets from which retrieval starts (`frontier`), and the kinds that prompts show beside them.

    `kinds` are not followed; they are shown so that an answer may use them.
    """

    frontier: tuple[NodeSet, ...]
    kinds: tuple[NodeSet, ...]


def starting_places(inquiry: StrategyInput, embedder: Embedder) -> Start:
    """Returns the things that the question names, those of earlier turns if it needs them, and the kinds it names.

    A question that names no thing starts from the kinds that it names, or else from the kinds most like its words.
    """
    places = [_place(inquiry, topic) for topic in inquiry.dialogue.topics if inquiry.needs_context or topic.newest]
    kinds = _named_kinds(inquiry)
    if any(place.kind is not NodeKind.VALUE for place in places):
        return Start(tuple(places), kinds)
    if not kinds:
        every = kinds_of(inquiry.graph.schema)
        nearest = np.argsort(-embedder.similarity(asked_words(inquiry.asked), every), kind="stable")
        kinds = _of_kinds(inquiry, [every[int(i)] for i in nearest])
    return Start((*places, *kinds), ())


def _place(inquiry: StrategyInput, topic: Topic) -> NodeSet:
    if not len(topic.mids):
        return NodeSet(topic.pseudonym, topic.mids, str(topic.value_kind or "thing"), NodeKind.VALUE)
    kind = NodeKind.VALUE if topic.value_kind else kind_of(inquiry.graph, topic.mids)
    concept = concept_of(inquiry.graph, topic.mids)
    one = kind is NodeKind.ENTITY and len(topic.mids) == 1
    return NodeSet(topic.pseudonym, topic.mids, inquiry.shown_concept(concept) if one else concept, kind)


def _named_kinds(inquiry: StrategyInput) -> tuple[NodeSet, ...]:
    """Returns the kinds that the question names, in the order of its words, so that the asked kind comes first."""
    schema = inquiry.graph.schema
    said, stems = _stems(inquiry.asked), _stems_of_kinds(schema)
    kinds_with = _kinds_with(schema)
    if declares_kinds(schema):
        # A word that names no kind of the graph is replaced by a synonym that does.
        others = [[other for other in sorted(kind_words(word)) if other in kinds_with] for word in said]
        said = [
            word if word in kinds_with or not known else known[0] for word, known in zip(said, others, strict=True)
        ]
    asked = frozenset(said)
    # Sorted by position in the schema, which decides between kinds that share a word.
    near = sorted({at for word in asked for at in kinds_with.get(word, ())})
    kinds = list(stems)
    found = {kinds[at]: [words for words in stems[kinds[at]] if words and words <= asked] for at in near}
    first = {kind: min(said.index(word) for words in ways for word in words) for kind, ways in found.items() if ways}
    return _of_kinds(inquiry, sorted(first, key=lambda kind: first[kind]))


@cached_by_version
def _stems_of_kinds(schema: Schema) -> dict[str, list[frozenset[str]]]:
    """Maps each kind to its names, each as the set of its words in the singular."""
    further = words_of_kinds(schema)
    return {kind: [frozenset(_stems(each)) for each in (kind, *further.get(kind, ()))] for kind in kinds_of(schema)}


@cached_by_version
def _kinds_with(schema: Schema) -> dict[str, list[int]]:
    """Maps each word to the kinds that have it in one of their names, given as positions in `_stems_of_kinds`."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, ways in enumerate(_stems_of_kinds(schema).values()):
        for word in frozenset[str]().union(*ways):
            found[word].append(at)
    return dict(found)


@cached_by_version
def declares_kinds(schema: Schema) -> bool:
    """Returns True if the graph itself states the kinds of its things, so that an answer can be checked for its kind.

    False for schemas of more than MAX_RELATIONS relations: there a thing has many kinds, and questions use others.
    """
    return len(schema.relations) <= MAX_RELATIONS and any(each.classes or each.masked for each in schema.signatures)


def is_wide(schema: Schema) -> bool:
    """Returns True if the schema has too many relations to compare all of them with each question."""
    return len(schema.relations) > MAX_RELATIONS


def _of_kinds(inquiry: StrategyInput, kinds: Sequence[str]) -> tuple[NodeSet, ...]:
    places = []
    for kind in kinds[:MAX_KINDS]:
        members = members_of(inquiry.graph, kind)
        if len(members):
            pseudonym = inquiry.pseudonyms.of_kind(kind, members)
            places.append(NodeSet(pseudonym, members, kind, kind_of(inquiry.graph, members)))
    return tuple(places)


def _stems(text: str) -> list[str]:
    return [singular(word.casefold()) for word in _WORD.findall(text)]
