"""The attacker's copy of the true graph: all of its triples, or a random share of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Hop, NodeKind, as_mids

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MAX_PAIRS = 20_000_000
"""Of more pairs (start, end of a path) only whether there is an end is worked out, not how many."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Of every node what lies at the end of one path: how many things; by how many pairs of the last step; the one
    thing where it is one (else -1); and the concept of them all, by number (-1 where there is none)."""

    count: Numbers
    pairs: Numbers
    single: Numbers
    concept: Numbers


def joining(heads: Numbers, tails: Numbers, size: int) -> sparse.csr_array:
    """A matrix with 1 where a hop leads from the node of the row to that of the column."""
    return _each_once(sparse.csr_array((np.ones(len(heads), np.int64), (heads, tails)), shape=(size, size)))


def _each_once(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return matrix


class KnownGraph:
    """Nodes are numbers. Concepts are known of every node: what kind of thing it is stands in its name, or in a
    directory. Paths are written as prompts write them; `hops` are matrices of single hops, forwards and backwards."""

    def __init__(
        self, mids: Numbers, concepts: list[str], mediators: Flags, hops: dict[str, sparse.csr_array]
    ) -> None:
        self.mids, self.size, self.steps = mids, len(mids), sorted(hops)
        self.words = sorted(set(concepts))
        self.concept: Numbers = np.array([self.words.index(word) for word in concepts], dtype=np.int64)
        self._matrices, self._mediators = dict(hops), sparse.diags_array(mediators.astype(np.int64), dtype=np.int64)
        self._ends: dict[tuple[str, ...], Ends | None] = {}
        self._has: dict[tuple[str, ...], Flags] = {}
        self._shown: dict[str, int] = {}

    @classmethod
    def of(cls, graph: BlindGraph, share: float, seed: int) -> KnownGraph:
        schema = graph.schema
        mids = as_mids(graph.members([signature.id for signature in schema.signatures]))
        signatures = graph.signatures_of(mids).tolist()
        concepts = [str(schema.concepts[signature]) for signature in signatures]
        mediators = np.array([schema.signatures[s].kind is NodeKind.MEDIATOR for s in signatures], np.bool_)
        draw, hops = np.random.default_rng(seed), dict[str, sparse.csr_array]()
        for relation in schema.relations:
            edges = graph.neighbours(mids, Hop(relation.id))
            kept = draw.random(len(edges.heads)) < share
            heads, tails = np.searchsorted(mids, edges.heads[kept]), np.searchsorted(mids, edges.tails[kept])
            matrix = joining(heads, tails, len(mids))
            for label, found in ((relation.label, matrix), ("^" + relation.label, matrix.T)):
                hops[label] = _each_once(hops[label] + found if label in hops else found)
        return cls(mids, concepts, mediators, hops)

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
            further = self.has(path[1:]) if len(path) > 1 else np.ones(self.size, dtype=np.bool_)
            self._has[path] = (self._step(path[0]) @ further.astype(np.int64)) > 0
        return self._has[path]

    def ends(self, path: tuple[str, ...]) -> Ends | None:
        """None where there are too many pairs to count."""
        if path not in self._ends:
            self._ends[path] = self._count(path)
        return self._ends[path]

    def _count(self, path: tuple[str, ...]) -> Ends | None:
        here, pairs = sparse.eye_array(self.size, dtype=np.int64, format="csr"), np.zeros(self.size, np.int64)
        for step in path:
            last = self._step(step)
            pairs = here @ np.diff(last.indptr).astype(np.int64)
            if int(pairs.sum()) > MAX_PAIRS:
                return None
            here = _each_once(here @ last)
        single, alone = np.full(self.size, -1, dtype=np.int64), pairs == 1
        single[alone] = here.indices[here.indptr[:-1][alone]]
        return Ends(np.diff(here.indptr).astype(np.int64), pairs, single, self._concepts_of(here))

    def _concepts_of(self, ends: sparse.csr_array) -> Numbers:
        """The concept that prompts show for all ends of a node: the commonest, and a second that covers a third."""
        nodes, shape = np.arange(self.size), (self.size, len(self.words))
        counts = ends @ sparse.csr_array((np.ones(self.size, np.int64), (nodes, self.concept)), shape=shape)
        concept = np.full(self.size, -1, dtype=np.int64)
        for node in np.flatnonzero(np.diff(counts.indptr)).tolist():
            row = slice(counts.indptr[node], counts.indptr[node + 1])
            ranked = sorted((-n, self.words[at]) for n, at in zip(counts.data[row], counts.indices[row], strict=True))
            total = -sum(number for number, _ in ranked)
            kept = [word for number, word in ranked[:2] if -number * 3 >= total] or [ranked[0][1]]
            concept[node] = self.number_of_words(", ".join(kept))
        return concept

    def number_of_words(self, words: str) -> int:
        """A number for what a prompt shows as a concept, be it one or two."""
        return self._shown.setdefault(words, len(self._shown))

    def _step(self, label: str) -> sparse.csr_array:
        """The pairs of one step; through mediators nothing meets itself."""
        if label not in self._matrices:
            first, _, further = label.rpartition("|")
            nothing = sparse.csr_array((self.size, self.size), dtype=np.int64)
            if not first:
                return nothing
            passed = self._step(first) @ self._mediators @ self._matrices.get(further, nothing)
            self._matrices[label] = _each_once(passed - sparse.diags_array(passed.diagonal(), dtype=np.int64))
        return self._matrices[label]
