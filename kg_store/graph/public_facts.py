"""Defines PublicFacts: the triples of a public graph as phrases that people read, found by the words of a text.

A public graph stands beside a private one (docs/decisions/0091). Its facts are told by name, so nothing here is sealed
and nothing here knows a private graph.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import ranges
from kg_store.text.english import zipf_frequency
from kg_store.text.inflection import lemmas_of
from kg_store.text.labels import clean, readable

Ints = npt.NDArray[np.int32]
Triple = tuple[str, str, str]
"""Head, relation and tail, each in words."""
Lemmas = tuple[str, ...]

MAX_WORDS: Final = 5
"""The most words of a phrase that is looked for in a text. Longer ones are found only as whole texts. By hand."""
MAX_ZIPF: Final = 6.0
"""A single word that is used more often than this (about the 120 most frequent) is no term of a text. By hand."""
_WORD: Final = re.compile(r"[^\W_]+")


class PublicFact(NamedTuple):
    """One triple of a public graph, in words."""

    head: str
    relation: str
    tail: str

    @property
    def text(self) -> str:
        return f"{self.head} {self.relation} {self.tail}"


@dataclass(frozen=True, slots=True, eq=False)
class PublicFacts:
    """The triples of a public graph.

    `phrases` and `relations`: in words. `triples`: shape (facts, 3), each row the positions of head, relation and
    tail. `_by_lemmas`: the phrases that have the same lemmas, by them. `_rows[_starts[n] : _starts[n + 1]]`: the facts
    at phrase n.
    """

    phrases: tuple[str, ...]
    relations: tuple[str, ...]
    triples: Ints
    _by_lemmas: dict[Lemmas, tuple[int, ...]] = field(repr=False)
    _starts: npt.NDArray[np.int64] = field(repr=False)
    _rows: Ints = field(repr=False)

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Self:
        """Takes (head, relation, tail) in words; relations that are written together are taken apart (`HasA`)."""
        phrases, relations = dict[str, int](), dict[str, int]()
        rows = [
            (
                phrases.setdefault(head, len(phrases)),
                relations.setdefault(relation, len(relations)),
                phrases.setdefault(tail, len(phrases)),
            )
            for head, relation, tail in dict.fromkeys(triples)
        ]
        table = np.array(rows, np.int32).reshape(-1, 3)
        called = defaultdict[Lemmas, list[int]](list)
        for phrase, at in phrases.items():
            called[lemmas_in(phrase)].append(at)
        starts, incident = _incidence(table, len(phrases))
        return cls(
            tuple(phrases),
            tuple(clean(readable(each).lower()) for each in relations),
            table,
            {key: tuple(found) for key, found in called.items()},
            starts,
            incident,
        )

    def __len__(self) -> int:
        return len(self.triples)

    def __iter__(self) -> Iterator[PublicFact]:
        return map(self.fact, range(len(self)))

    def fact(self, row: int) -> PublicFact:
        head, relation, tail = self.triples[row].tolist()
        return PublicFact(self.phrases[head], self.relations[relation], self.phrases[tail])

    def terms_in(self, text: str) -> list[int]:
        """Returns the phrases that stand in `text` in any form of their words, in order; the most frequent words of
        the language are no terms."""
        words = lemmas_in(text)
        found = dict[int, None]()
        for at in range(len(words)):
            for length in range(min(MAX_WORDS, len(words) - at), 0, -1):
                run = words[at : at + length]
                if length > 1 or is_telling(run[0]):
                    found.update(dict.fromkeys(self._by_lemmas.get(run, ())))
        return list(found)

    def terms_of(self, phrase: str) -> tuple[int, ...]:
        """Returns the phrases that have the same words as `phrase`, in any form; empty if there is none."""
        return self._by_lemmas.get(lemmas_in(phrase), ())

    def facts_at(self, terms: Sequence[int] | Ints) -> Ints:
        """Returns the rows of the facts that have a term as an end, each once, ascending."""
        at = np.array(terms, np.int64)
        is_there = np.zeros(len(self), np.bool_)
        is_there[self._rows[ranges(self._starts[at], self._starts[at + 1] - self._starts[at])]] = True
        return np.flatnonzero(is_there).astype(np.int32)

    def flags_of(self, terms: Sequence[int] | Ints) -> npt.NDArray[np.bool_]:
        """Returns True for each phrase that is one of `terms`; shape (phrases,)."""
        flags = np.zeros(len(self.phrases), np.bool_)
        flags[np.array(terms, np.int64)] = True
        return flags


@lru_cache(maxsize=50_000)
def _lemma(word: str) -> str:
    # The shortest form, so that both sides of a comparison choose alike: "going" and "goes" are "go".
    return min(lemmas_of(word), key=lambda form: (len(form), form))


def lemmas_in(text: str) -> Lemmas:
    """Returns one lemma for each word of a text of a public graph or of a text that may leave."""
    return tuple(_lemma(word.lower()) for word in _WORD.findall(text))


def is_telling(lemma: str) -> bool:
    """Returns False for numbers, single letters and the most frequent words of the language."""
    return len(lemma) > 1 and not lemma.isdigit() and zipf_frequency(lemma) < MAX_ZIPF


def _incidence(table: Ints, phrases: int) -> tuple[npt.NDArray[np.int64], Ints]:
    ends = np.concatenate([table[:, 0], table[:, 2]])
    rows = np.tile(np.arange(len(table), dtype=np.int32), 2)
    order = np.argsort(ends, kind="stable")
    starts = np.zeros(phrases + 1, np.int64)
    starts[1:] = np.cumsum(np.bincount(ends, minlength=phrases))
    return starts, rows[order]
