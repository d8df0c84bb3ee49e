"""Blank nodes get a term made of what they are joined to, so that their MIDs stay the same in every version."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from kg_store.sources.raw_graph import RawGraph, Term, TermKind
from kg_store.terms import Mids

_ROUNDS = 3
_Hashes = npt.NDArray[np.uint64]


def blank_terms(raw: RawGraph, kinds: npt.NDArray[np.uint8], mids: Mids) -> dict[int, Term]:
    """A term for each blank node; `mids` are the MIDs of all other terms, so nobody without the key can guess it.

    The hash of a node is a sum over its triples, so the order of the file does not matter. Nodes that three
    rounds can't tell apart are numbered in the order of the file.
    """
    blanks = np.flatnonzero(kinds == TermKind.BLANK)
    hashes = mids.astype(np.uint64)
    hashes[blanks] = 0
    triples = _distinct_triples(raw, kinds == TermKind.BLANK)
    for _ in range(_ROUNDS):
        hashes[blanks] = _mixed(_sums(triples, hashes)[blanks])
    met: Counter[int] = Counter()
    terms: dict[int, Term] = {}
    for node in blanks.tolist():
        code = int(hashes[node])
        terms[node] = f"_:{code:016x}.{met[code]}"
        met[code] += 1
    return terms


def _distinct_triples(raw: RawGraph, blank: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    touching = blank[raw.subjects] | blank[raw.objects]
    columns = (raw.subjects[touching], raw.predicates[touching], raw.objects[touching])
    return np.unique(np.stack(columns, axis=1), axis=0)


def _sums(triples: npt.NDArray[np.int32], hashes: _Hashes) -> _Hashes:
    subjects, predicates, objects = triples.T
    with np.errstate(over="ignore"):
        sums = np.zeros_like(hashes)
        relation = _mixed(hashes[predicates])
        np.add.at(sums, subjects, _mixed(hashes[objects] ^ relation))
        np.add.at(sums, objects, _mixed(hashes[subjects] + ~relation))
    return sums


def _mixed(numbers: _Hashes) -> _Hashes:
    """splitmix64's finaliser: every bit of a number moves every bit of the result."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
