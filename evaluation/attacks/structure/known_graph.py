"""The attacker's copy of the true graph: all of its triples, or a random share of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Hop, NodeKind, as_mids

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MAX_PAIRS = 20_000_000
"""Of more pairs (start, end of a path) only whether there is an end is worked out, not how many."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """(head, tail) by node numbers, sorted by head, each once."""

    heads: Numbers
    tails: Numbers


@dataclass(frozen=True, slots=True)
class Ends:
    """Of every node what lies at the end of one path: how many things; by how many pairs of the last step; the one
    thing where it is one (else -1); and the concept of them all, by number (-1 where there is none)."""

    count: Numbers
    pairs: Numbers
    single: Numbers
    concept: Numbers


class KnownGraph:
    """Nodes are numbers. Concepts are known of every node: what kind of thing it is stands in its name, or in a
    directory. Paths are written as prompts write them."""

    def __init__(self, mids: Numbers, concepts: list[str], mediators: Flags, hops: dict[str, Pairs]) -> None:
        self.mids, self._hops, self._mediators = mids, hops, mediators
        self.words = sorted(set(concepts))
        place = {word: at for at, word in enumerate(self.words)}
        self.concept = np.array([place[word] for word in concepts], dtype=np.int64)
        self._joined: dict[str, Pairs] = {}
        self._ends: dict[tuple[str, ...], Ends | None] = {}
        self._has: dict[tuple[str, ...], Flags] = {}
        self._shown: dict[str, int] = {}

    @classmethod
    def of(cls, graph: BlindGraph, share: float, seed: int) -> KnownGraph:
        schema = graph.schema
        mids = as_mids(graph.members([signature.id for signature in schema.signatures]))
        signatures = graph.signatures_of(mids)
        concepts = [str(schema.concepts[signature]) for signature in signatures.tolist()]
        mediators = np.array([schema.signatures[s].kind is NodeKind.MEDIATOR for s in signatures.tolist()], np.bool_)
        draw = np.random.default_rng(seed)
        hops: dict[str, Pairs] = {}
        for relation in schema.relations:
            edges = graph.neighbours(mids, Hop(relation.id))
            kept = draw.random(len(edges.heads)) < share
            heads, tails = np.searchsorted(mids, edges.heads[kept]), np.searchsorted(mids, edges.tails[kept])
            for label, pairs in ((relation.label, (heads, tails)), ("^" + relation.label, (tails, heads))):
                before = hops.get(label, Pairs(_NONE, _NONE))
                both = np.concatenate([before.heads, pairs[0]]), np.concatenate([before.tails, pairs[1]])
                hops[label] = _distinct(*both, len(mids))
        return cls(mids, concepts, mediators, hops)

    @property
    def size(self) -> int:
        return len(self.mids)

    @property
    def steps(self) -> list[str]:
        """The single hops that there are."""
        return sorted(self._hops)

    def number_of(self, mid: int) -> int:
        at = int(np.searchsorted(self.mids, mid))
        return at if at < self.size and int(self.mids[at]) == mid else -1

    def of_concept(self, word: str) -> Flags:
        """The nodes of a concept, or of several that are joined by commas; all where the word is none."""
        known = [word] if word in self.words else [each for each in word.split(", ") if each in self.words]
        if not known:
            return np.ones(self.size, dtype=np.bool_)
        flags: Flags = np.isin(self.concept, [self.words.index(each) for each in known])
        return flags

    def has(self, path: tuple[str, ...]) -> Flags:
        """Which nodes the whole path leaves."""
        if path not in self._has:
            pairs = self._step(path[0])
            ends = pairs.tails if len(path) == 1 else None
            kept = np.ones(len(pairs.heads), dtype=np.bool_) if ends is not None else self.has(path[1:])[pairs.tails]
            flags = np.zeros(self.size, dtype=np.bool_)
            flags[pairs.heads[kept]] = True
            self._has[path] = flags
        return self._has[path]

    def ends(self, path: tuple[str, ...]) -> Ends | None:
        """None where there are too many pairs to count."""
        if path not in self._ends:
            self._ends[path] = self._count(path)
        return self._ends[path]

    def _count(self, path: tuple[str, ...]) -> Ends | None:
        everything = np.arange(self.size)
        here: Pairs | None = Pairs(everything, everything)
        by_last = np.zeros(self.size, dtype=np.int64)
        for step in path:
            assert here is not None
            last = self._step(step)
            lengths = _lengths(last, here.tails, self.size)
            if int(lengths.sum()) > MAX_PAIRS:
                return None
            by_last = np.bincount(here.heads, weights=lengths, minlength=self.size).astype(np.int64)
            here = _joined(here, last, lengths, self.size)
        assert here is not None
        count = np.bincount(here.heads, minlength=self.size)
        single = np.full(self.size, -1, dtype=np.int64)
        alone = by_last[here.heads] == 1
        single[here.heads[alone]] = here.tails[alone]
        return Ends(count, by_last, single, self._concepts_of(here))

    def _concepts_of(self, pairs: Pairs) -> Numbers:
        """The concept that prompts show for all ends of a node: the commonest, and a second that covers a third."""
        kinds = len(self.words)
        keys, counts = np.unique(pairs.heads * kinds + self.concept[pairs.tails], return_counts=True)
        found: dict[int, list[tuple[int, str]]] = {}
        for key, number in zip(keys.tolist(), counts.tolist(), strict=True):
            found.setdefault(key // kinds, []).append((-number, self.words[key % kinds]))
        concept = np.full(self.size, -1, dtype=np.int64)
        for node, ranked in found.items():
            total = -sum(number for number, _ in ranked)
            ranked.sort()
            kept = [word for number, word in ranked[:2] if -number * 3 >= total] or [ranked[0][1]]
            concept[node] = self.number_of_words(", ".join(kept))
        return concept

    def number_of_words(self, words: str) -> int:
        """A number for what a prompt shows as a concept, be it one or two."""
        return self._shown.setdefault(words, len(self._shown))

    def _step(self, label: str) -> Pairs:
        """The pairs of one step; through mediators nothing meets itself."""
        if label not in self._joined:
            first, *further = label.split("|")
            here = self._hops.get(first, Pairs(_NONE, _NONE))
            for hop in further:
                keep = self._mediators[here.tails]
                here = Pairs(here.heads[keep], here.tails[keep])
                last = self._hops.get(hop, Pairs(_NONE, _NONE))
                here = _joined(here, last, _lengths(last, here.tails, self.size), self.size)
                others = here.heads != here.tails
                here = Pairs(here.heads[others], here.tails[others])
            self._joined[label] = here
        return self._joined[label]


_NONE: Numbers = np.empty(0, dtype=np.int64)


def _lengths(pairs: Pairs, starts: Numbers, size: int) -> Numbers:
    """Counts the pairs that begin at each of `starts`."""
    return np.bincount(pairs.heads, minlength=size)[starts].astype(np.int64)


def _joined(first: Pairs, second: Pairs, lengths: Numbers, size: int) -> Pairs:
    """(a, c) where (a, b) is in `first` and (b, c) in `second`."""
    starts = np.searchsorted(second.heads, first.tails, side="left")
    heads = np.repeat(first.heads, lengths)
    offsets = np.arange(len(heads)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return _distinct(heads, second.tails[np.repeat(starts, lengths) + offsets], size)


def _distinct(heads: Numbers, tails: Numbers, size: int) -> Pairs:
    keys = np.unique(heads * max(1, size) + tails)
    return Pairs(keys // max(1, size), keys % max(1, size))
