"""Where retrieval starts: what the question names, and whole kinds of things when it names none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.privacy.safe_text import Topic
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from kg_store.graph.traversal import concept_of, kind_of, kinds_of, members_of
from kg_store.terms import NodeKind, Schema, cached_by_version
from kg_store.text.further_words import words_of_kinds
from kg_store.text.plurals import singular
from kg_store.text.pseudonymous import asked_words
from kg_store.text.synonyms import kind_words

MAX_KINDS = 3
MAX_RELATIONS = 300
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Start:
    """`frontier` is where retrieval sets out; `kinds` are only shown, so that an answer may be narrowed to one."""

    frontier: tuple[NodeSet, ...]
    kinds: tuple[NodeSet, ...]


def starting_places(inquiry: StrategyInput, embedder: Embedder) -> Start:
    """Topics of the question, those of earlier turns where it leans on them, and the kinds that it names.

    A question that names no thing starts from its kinds; from those nearest in meaning where it names none.
    """
    places = [_place(inquiry, topic) for topic in inquiry.dialogue.topics if inquiry.needs_context or topic.newest]
    kinds = _named_kinds(inquiry)
    if any(place.kind is not NodeKind.VALUE for place in places):
        return Start(tuple(places), kinds)
    return Start((*places, *(kinds or _nearest_kinds(inquiry, embedder))), ())


def _place(inquiry: StrategyInput, topic: Topic) -> NodeSet:
    if not len(topic.mids):
        return NodeSet(topic.pseudonym, topic.mids, str(topic.value_kind or "thing"), NodeKind.VALUE)
    kind = NodeKind.VALUE if topic.value_kind else kind_of(inquiry.graph, topic.mids)
    concept = concept_of(inquiry.graph, topic.mids)
    one = kind is NodeKind.ENTITY and len(topic.mids) == 1
    return NodeSet(topic.pseudonym, topic.mids, inquiry.shown_concept(concept) if one else concept, kind)


def _named_kinds(inquiry: StrategyInput) -> tuple[NodeSet, ...]:
    """In the order of the question: what it asks for comes first."""
    schema = inquiry.graph.schema
    said, stems = [singular(word) for word in _words(inquiry.dialogue.question)], _stems_of_kinds(schema)
    kinds_with = _kinds_with(schema)
    if declares_kinds(schema):
        said = [_as_known(word, kinds_with) for word in said]
    asked = frozenset(said)
    # In the order of the schema, which decides between kinds that one word says.
    near = sorted({at for word in asked for at in kinds_with.get(word, ())})
    kinds = list(stems)
    found = {kinds[at]: [words for words in stems[kinds[at]] if words and words <= asked] for at in near}
    first = {kind: min(said.index(word) for words in ways for word in words) for kind, ways in found.items() if ways}
    return _of_kinds(inquiry, sorted(first, key=lambda kind: first[kind]))


@cached_by_version
def _stems_of_kinds(schema: Schema) -> dict[str, list[frozenset[str]]]:
    """The words of each kind, singular, in each of the ways in which it is called."""
    further = words_of_kinds(schema)
    return {kind: [_stems(each) for each in (kind, *further.get(kind, ()))] for kind in kinds_of(schema)}


@cached_by_version
def _kinds_with(schema: Schema) -> dict[str, list[int]]:
    """By a word, the places in `_stems_of_kinds` of the kinds that are called by it, among others."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, ways in enumerate(_stems_of_kinds(schema).values()):
        for word in frozenset[str]().union(*ways):
            found[word].append(at)
    return dict(found)


@cached_by_version
def declares_kinds(schema: Schema) -> bool:
    """True where the graph itself says what its things are, so that a kind that is asked for can bind an answer.

    In the huge schemas that gather many sources, one thing is called by many kinds and asked for by others.
    """
    return len(schema.relations) <= MAX_RELATIONS and any(each.classes for each in schema.signatures)


def is_wide(schema: Schema) -> bool:
    """True of a schema of so many relations that it can't be looked through for each question."""
    return len(schema.relations) > MAX_RELATIONS


def _as_known(word: str, known: Collection[str]) -> str:
    """Another word for a kind counts where the graph has no kind of its own for it."""
    return word if word in known else next((other for other in sorted(kind_words(word)) if other in known), word)


def _nearest_kinds(inquiry: StrategyInput, embedder: Embedder) -> tuple[NodeSet, ...]:
    kinds = kinds_of(inquiry.graph.schema)
    nearest = np.argsort(-embedder.similarity(asked_words(inquiry.dialogue.question), kinds), kind="stable")
    return _of_kinds(inquiry, [kinds[int(i)] for i in nearest])


def _of_kinds(inquiry: StrategyInput, kinds: Sequence[str]) -> tuple[NodeSet, ...]:
    places = []
    for kind in kinds[:MAX_KINDS]:
        members = members_of(inquiry.graph, kind)
        if len(members):
            pseudonym = inquiry.pseudonyms.of_kind(kind, members)
            places.append(NodeSet(pseudonym, members, kind, kind_of(inquiry.graph, members)))
    return tuple(places)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _stems(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in _words(text))
