"""Defines a retriever's query (a dialogue and candidate facts) and makes the network's input of it, without names."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import TokenVectors


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of an utterance's text that means `entities`, given as positions in the query's entities.

    `is_name`: False for common words that also name something; they are read as words and not hidden.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    is_name: bool = True


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue. Its mentions must not overlap; the text of those that are names is not read."""

    speaker: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityProfile:
    """An entity as the network knows it, without its name: the words of its outgoing and incoming relations."""

    outgoing: tuple[str, ...]
    incoming: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A candidate fact. `head` and `tail`: positions in the query's entities. `relation`: the relation's words."""

    head: int
    relation: str
    tail: int


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """A dialogue and the candidate facts to rank for its next turn.

    `history`: the turns, oldest first, at least one. `facts`: the candidates, in any order.
    """

    history: tuple[Utterance, ...]
    entities: Sequence[EntityProfile]
    facts: Sequence[Fact]


class RelationTable:
    """Maps the words of relations to rows of a table of their vectors. Thread-safe.

    Rows are given in the order in which words are first seen, and never change.
    """

    def __init__(self, embedder: Embedder, words: Sequence[str] = ()) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)
        self.rows(words)

    def rows(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """Returns the row of each relation in `words`; new relations are embedded and added."""
        with self._lock:
            if new := [each for each in dict.fromkeys(words) if each not in self._rows]:
                added = self._embedder.sentences(new)
                self._vectors = np.concatenate([self._vectors, added]) if self._rows else added
                self._rows |= {each: len(self._rows) + at for at, each in enumerate(new)}
            return np.array([self._rows[each] for each in words], np.int64)

    def vectors(self) -> npt.NDArray[np.float32]:
        """Returns the table of unit vectors; shape (rows, dimensions)."""
        return self._vectors


Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

PLACEHOLDER: Final = "X"
MAX_AGO: Final = 2
"""The greatest distance of a turn from the last one, in turns; earlier turns count as being at this distance."""
ENTITY_MARKS: Final = 8
FACT_MARKS: Final = 6
_DAMPING = 5.0


@dataclass(frozen=True, slots=True)
class Bags:
    """Several lists of rows of the relation table, stored one after the other in `rows`.

    List n is `rows[starts[n]:starts[n + 1]]`; the last one ends with `rows`.
    """

    rows: Ints = field(repr=False)
    starts: Ints = field(repr=False)


@dataclass(frozen=True, slots=True)
class Features:
    """The network's input for one query.

    `tokens`: vectors of all turns' tokens, shape (tokens, dimensions). `token_ago`: for each, the number of turns
    since; `token_speaker`: 1 if the last speaker said it, else 0. `mentioned` and `mentions`: the entities in the
    dialogue, and the mean vectors of their tokens. `profiles`: for each entity, the position of its relations in
    `outgoing` and `incoming`. `heads`, `tails`, `relations`: of each fact, shape (facts,).
    """

    tokens: Floats = field(repr=False)
    token_ago: Ints
    token_speaker: Ints
    mentioned: Ints
    mentions: Floats = field(repr=False)
    entity_marks: Floats
    profiles: Ints
    outgoing: Bags
    incoming: Bags
    heads: Ints
    tails: Ints
    relations: Ints
    fact_marks: Floats


class FeatureMaker:
    """Makes the network's input of a query.

    Promise: the names in the history do not influence it. Limit: the place of a mention in a turn influences the
    vectors of the turn's other words. `placeholder`: the text that is read in place of a name; with None the names
    themselves are read, which only the evaluation does.
    """

    def __init__(self, embedder: Embedder, relations: RelationTable, placeholder: str | None = PLACEHOLDER) -> None:
        self._embedder, self._relations, self._placeholder = embedder, relations, placeholder

    def make(self, query: RetrievalQuery) -> Features:
        texts = [read_text(utterance, self._placeholder) for utterance in query.history]
        vectors = self._embedder.tokens([text for text, _ in texts])
        ago = [min(MAX_AGO, len(texts) - 1 - at) for at in range(len(texts))]
        heads, tails = (np.array([getattr(fact, end) for fact in query.facts], np.int64) for end in ("head", "tail"))
        rows = self._relations.rows([fact.relation for fact in query.facts])
        mentioned, mentions = _mentions(query, [spans for _, spans in texts], vectors)
        kinds = dict.fromkeys((each.outgoing, each.incoming) for each in query.entities)
        place = {profile: at for at, profile in enumerate(kinds)}
        return Features(
            tokens=np.concatenate([each.vectors for each in vectors]),
            token_ago=np.repeat(ago, [len(each.vectors) for each in vectors]),
            token_speaker=np.repeat(
                [int(each.speaker == query.history[-1].speaker) for each in query.history],
                [len(each.vectors) for each in vectors],
            ),
            mentioned=mentioned,
            mentions=mentions,
            entity_marks=_entity_marks(query, texts, ago),
            profiles=np.array([place[each.outgoing, each.incoming] for each in query.entities], np.int64),
            outgoing=self._bags([outgoing for outgoing, _ in kinds]),
            incoming=self._bags([incoming for _, incoming in kinds]),
            heads=heads,
            tails=tails,
            relations=rows,
            fact_marks=np.column_stack([*_fan_outs(heads, tails, rows), *self._likeness(rows, vectors)]),
        )

    def _bags(self, bags: Sequence[Sequence[str]]) -> Bags:
        starts = np.cumsum([0, *map(len, bags)])[:-1]
        return Bags(self._relations.rows([words for bag in bags for words in bag]), starts.astype(np.int64))

    def _likeness(self, rows: Ints, vectors: Sequence[TokenVectors]) -> Floats:
        """Returns four cosines of each fact's relation, shape (4, facts).

        They are those with the last turn, with the turn before it, the mean over all turns, and the greatest with a
        token of the last turn.
        """
        unique, back = np.unique(rows, return_inverse=True)
        relations = self._relations.vectors()[unique]
        turns = relations @ _unit(np.stack([each.vectors.mean(axis=0) for each in vectors])).T
        nearest = (relations @ _unit(vectors[-1].vectors).T).max(axis=1)
        before = turns[:, -2] if len(vectors) > 1 else np.zeros(len(unique))
        return np.stack([turns[:, -1], before, turns.mean(axis=1), nearest]).astype(np.float32)[:, back]


def read_text(utterance: Utterance, placeholder: str | None) -> tuple[str, list[tuple[int, int]]]:
    """Returns an utterance's text with `placeholder` in place of names, and the span of each mention in it."""
    read, spans, done = "", [], 0
    for mention in sorted(utterance.mentions, key=lambda each: each.start):
        read += utterance.text[done : mention.start]
        hidden = mention.is_name and placeholder is not None
        shown = placeholder if hidden else utterance.text[mention.start : mention.end]
        spans.append((len(read), len(read) + len(shown or "")))
        read += shown or ""
        done = mention.end
    return read + utterance.text[done:], spans


def _mentions(
    query: RetrievalQuery, spans: Sequence[Sequence[tuple[int, int]]], vectors: Sequence[TokenVectors]
) -> tuple[Ints, Floats]:
    found: dict[int, list[Floats]] = {}
    for utterance, places, tokens in zip(query.history, spans, vectors, strict=True):
        mentions = sorted(utterance.mentions, key=lambda each: each.start)
        for mention, (start, end) in zip(mentions, places, strict=True):
            inside = (tokens.spans[:, 0] < end) & (tokens.spans[:, 1] > start)
            if inside.any():  # The model truncates long texts, so a mention may have no tokens.
                for entity in mention.entities:
                    found.setdefault(entity, []).append(tokens.vectors[inside].mean(axis=0))
    dimensions = vectors[0].vectors.shape[1]
    means = [np.mean(found[entity], axis=0) for entity in sorted(found)]
    return np.array(sorted(found), np.int64), np.array(means, np.float32).reshape(len(means), dimensions)


def _entity_marks(
    query: RetrievalQuery, texts: Sequence[tuple[str, Sequence[tuple[int, int]]]], ago: Sequence[int]
) -> Floats:
    """Returns features of each entity, shape (entities, ENTITY_MARKS).

    The columns: mentioned in the last turn, in the turn before, earlier, at all; how often (0.3 for each time); as a
    name; as a common word; how late in the last turn (0 to 1).
    """
    marks = np.zeros((len(query.entities), ENTITY_MARKS), np.float32)
    for utterance, (text, spans), turn in zip(query.history, texts, ago, strict=True):
        mentions = sorted(utterance.mentions, key=lambda each: each.start)
        for mention, (_, end) in zip(mentions, spans, strict=True):
            rows = list(mention.entities)
            marks[rows, turn] = marks[rows, 3] = marks[rows, 5 if mention.is_name else 6] = 1
            marks[rows, 4] += 0.3
            if turn == 0:
                marks[rows, 7] = np.maximum(marks[rows, 7], end / max(len(text), 1))
    return marks


def _fan_outs(heads: Ints, tails: Ints, relations: Ints) -> list[Floats]:
    """Returns two features of each fact: the numbers of facts with its head and relation, and with its tail and
    relation, each as log(1 + n) / _DAMPING."""
    found = []
    for ends in (heads, tails):
        pairs = list(zip(ends.tolist(), relations.tolist(), strict=True))
        counts = Counter(pairs)
        found.append((np.log1p([counts[pair] for pair in pairs]) / _DAMPING).astype(np.float32))
    return found


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
