"""Where retrieval starts: what the question names, and whole kinds of things when it names none."""

from __future__ import annotations

import re

import numpy as np

from app.llm.embedder import Embedder
from app.privacy.safe_text import Topic
from app.strategies.base import Inquiry
from app.strategies.retrieval import Place
from kg_store.terms import NodeKind
from kg_store.walking import concept_of, kind_of, kinds_of, members_of

MAX_KINDS = 3
_WORD = re.compile(r"[^\W\d_]+")
# Words by which a question leans on an earlier turn.
_REFERS = frozenset(
    "he she it they them him his her hers its their theirs those these that this one ones there same".split()
)


def starting_places(inquiry: Inquiry, embedder: Embedder) -> list[Place]:
    """Topics of the question, those of earlier turns where it leans on them, and kinds where it needs them."""
    topics = inquiry.dialogue.topics
    newest = [topic for topic in topics if topic.newest]
    refers = not _REFERS.isdisjoint(_words(inquiry.dialogue.question))
    named = list(topics) if refers or not newest else newest
    places = [_place(inquiry, topic) for topic in named]
    if all(place.kind is NodeKind.VALUE for place in places):
        places += _kinds(inquiry, embedder)
    return places


def _place(inquiry: Inquiry, topic: Topic) -> Place:
    if not len(topic.mids):
        return Place(topic.pseudonym, topic.mids, str(topic.value_kind or "thing"), NodeKind.VALUE)
    kind = NodeKind.VALUE if topic.value_kind else kind_of(inquiry.graph, topic.mids)
    return Place(topic.pseudonym, topic.mids, concept_of(inquiry.graph, topic.mids), kind)


def _kinds(inquiry: Inquiry, embedder: Embedder) -> list[Place]:
    """Kinds whose words stand in the question; else those nearest to it in meaning."""
    kinds = kinds_of(inquiry.graph.schema)
    asked = _stems(inquiry.dialogue.question)
    named = [kind for kind in kinds if _stems(kind) <= asked]
    if not named and kinds:
        nearest = np.argsort(-embedder.similarity(inquiry.dialogue.question, kinds), kind="stable")
        named = [kinds[int(i)] for i in nearest[:MAX_KINDS]]
    places = []
    for kind in named[:MAX_KINDS]:
        members = members_of(inquiry.graph, kind)
        if len(members):
            pseudonym = inquiry.pseudonyms.of_kind(kind, members)
            places.append(Place(pseudonym, members, kind, kind_of(inquiry.graph, members)))
    return places


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _stems(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in _words(text))


def singular(word: str) -> str:
    """An English noun without its plural ending; a rule of thumb, enough to match `patients` with `patient`."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
