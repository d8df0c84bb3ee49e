"""TermNumbers: gives each distinct term of a load a number, with arrays for thousands of terms at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, count
from operator import eq
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.sources.raw_graph import RawGraph, Term, TermIds

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
_NumberT = TypeVar("_NumberT", bound=np.generic)

_WORD_BYTES: Final = 8
_MAX_WORDS: Final = 32
"""Longer terms are hashed and compared one by one, or one long text would take a step for each of its words."""
_FIRST_SLOTS: Final = 1 << 16
_LOW, _HIGH, _HALF = np.uint64(0xFFFF_FFFF), np.uint64(0xFFFF_FFFF_0000_0000), np.uint64(32)
_KEPT: Final = np.array([(1 << 8 * count) - 1 for count in range(_WORD_BYTES + 1)], dtype=np.uint64)
"""The bits of a word that belong to a term of which it holds so many bytes."""

ReadTerms = Callable[[list[bytes]], list[Term]]
"""Returns the texts of terms that were not met before."""


def _as_texts(terms: list[bytes]) -> list[Term]:
    return [term.decode("utf-8", "surrogatepass") for term in terms]


def collect(batches: Iterable[Sequence[tuple[Term, Term, Term]] | TermIds], numbers: TermNumbers) -> RawGraph:
    """Returns the triples of all batches as a RawGraph, in memory: 12 bytes each, and every distinct term once.

    A batch may hold, instead of terms, what `numbers` has made of them.
    """
    parts: list[TermIds] = [np.empty((0, 3), dtype=np.int32)]
    for batch in batches:
        if not isinstance(batch, np.ndarray):
            batch = numbers.of_texts(list(chain.from_iterable(batch))).reshape(-1, 3)
        parts.append(batch)
    heads, relations, tails = np.concatenate(parts).T.copy()
    return RawGraph(numbers.terms, heads, relations, tails)


class TermNumbers:
    """Numbers terms from 0 on, in the order in which they are first met; `terms` holds the text of each.

    A table finds a term by a hash of 64 bits. Promise: two different terms never get one number, because the bytes of
    each term are compared with those of the term that was found; should two hashes be equal, the load is refused.
    Nobody can write a file in which they are: the hash is drawn for each load from a strongly universal family
    (Lemire and Kaser, "Strongly universal string hashing is fast", 2014, section 2), in which any two terms meet once
    in 2**64 draws.
    """

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self._key = os.urandom(32)
        # For each word of a term, and for its length: factors of its low and its high half in either of two sums.
        drawn = os.urandom((_MAX_WORDS + 1) * 4 * _WORD_BYTES)
        self._factors = np.frombuffer(drawn, dtype=np.uint64).reshape(-1, 4)
        self._slots: TermIds = np.full(_FIRST_SLOTS, -1, dtype=np.int32)
        self._hashes: Words = np.zeros(_FIRST_SLOTS, dtype=np.uint64)
        self._checked: npt.NDArray[np.bool_] = np.zeros(_FIRST_SLOTS, dtype=np.bool_)
        self._bytes: npt.NDArray[np.uint8] = np.zeros(_FIRST_SLOTS, dtype=np.uint8)
        self._ends: Longs = np.zeros(_FIRST_SLOTS + 1, dtype=np.int64)

    def of_texts(self, terms: Sequence[Term]) -> TermIds:
        """Returns the numbers of `terms`."""
        encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
        ends = np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)))
        begins = np.concatenate((np.zeros(1, dtype=np.int64), ends))[:-1]
        return self.of_places(b"".join(encoded), begins, ends)

    def of_places(self, data: bytes, begins: Longs, ends: Longs, read: ReadTerms = _as_texts) -> TermIds:
        """Returns the numbers of the terms that stand in `data` from `begins` to before `ends`.

        `read` gets each term that it has not let pass before; if it raises, none of these terms is kept. Raises
        LoadError if the hashes of two terms are equal.
        """
        places = _Places.of(data, begins, ends)
        hashes = self._hashed(places)
        numbers = self._found(hashes)
        if read is not _as_texts:
            self._check(numbers, read)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            _, first, which = np.unique(hashes[unknown], return_index=True, return_inverse=True)
            rank = np.empty_like(first)
            rank[np.argsort(first)] = np.arange(len(first))
            numbers[unknown] = len(self.terms) + rank[which]
            fresh = unknown[np.sort(first)]
            terms = [data[begin:end] for begin, end in zip(begins[fresh].tolist(), ends[fresh].tolist(), strict=True)]
            self._add(read(terms), terms, hashes[fresh], read is not _as_texts)
        if not self._are_alike(places, numbers):
            raise LoadError("two terms have the same hash: load the files again")
        return numbers

    def _hashed(self, places: _Places) -> Words:
        """Returns the hash of each place. The low half of a sum of products is left out, since it isn't universal."""
        *factors, of_length = self._factors
        lengths = (places.ends - places.begins).astype(np.uint64)
        one, other = lengths * of_length[0] + of_length[1], lengths * of_length[2] + of_length[3]
        for words, factor in zip(places.words, factors, strict=False):
            low, high, some = words & _LOW, words >> _HALF, slice(places.long, places.long + len(words))
            one[some] += low * factor[0] + high * factor[1]
            other[some] += low * factor[2] + high * factor[3]
        found = (one & _HIGH) | (other >> _HALF)
        for at in range(places.long):
            digest = blake2b(places.term(at), key=self._key, digest_size=_WORD_BYTES).digest()
            found[at] = int.from_bytes(digest, "big")
        hashes: Words = np.empty_like(found)
        hashes[places.order] = found
        return hashes

    def _found(self, hashes: Words) -> TermIds:
        """Returns the number of the term that each hash belongs to, -1 where there is none."""
        at = self._first_slots(hashes)
        numbers = self._slots[at]
        others = np.flatnonzero((numbers >= 0) & (self._hashes[numbers] != hashes))
        while len(others):
            at[others] = (at[others] + 1) & (len(self._slots) - 1)
            numbers[others] = met = self._slots[at[others]]
            others = others[(met >= 0) & (self._hashes[met] != hashes[others])]
        return numbers

    def _first_slots(self, hashes: Words) -> Longs:
        return (hashes & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _check(self, numbers: TermIds, read: ReadTerms) -> None:
        """Has `read` look at those terms of `numbers` that it has not seen."""
        others = np.unique(numbers[(numbers >= 0) & ~self._checked[numbers]])
        if len(others):
            read([self.terms[number].encode("utf-8", "surrogatepass") for number in others.tolist()])
            self._checked[others] = True

    def _add(self, texts: list[Term], terms: list[bytes], hashes: Words, are_checked: bool) -> None:
        known, size = len(self.terms), len(self.terms) + len(texts)
        self.terms += texts
        self._hashes, self._checked = _with_room(self._hashes, size), _with_room(self._checked, size)
        self._hashes[known:size], self._checked[known:size] = hashes, are_checked
        self._ends = _with_room(self._ends, size + 1)
        lengths = np.fromiter(map(len, terms), dtype=np.int64, count=len(terms))
        self._ends[known + 1 : size + 1] = self._ends[known] + np.cumsum(lengths)
        first, end = int(self._ends[known]), int(self._ends[size])
        self._bytes = _with_room(self._bytes, end + _WORD_BYTES)
        self._bytes[first:end] = np.frombuffer(b"".join(terms), dtype=np.uint8)
        while len(self._slots) < 2 * size:
            self._slots = np.full(2 * len(self._slots), -1, dtype=np.int32)
            known = 0
        self._fill(np.arange(known, size, dtype=np.int32))

    def _fill(self, numbers: TermIds) -> None:
        """Puts each number into the first free slot from that of its hash on."""
        at = self._first_slots(self._hashes[numbers])
        while len(numbers):
            free = self._slots[at] < 0
            self._slots[at[free]] = numbers[free]
            left = self._slots[at] != numbers  # Of several numbers for one slot, one has it.
            numbers, at = numbers[left], (at[left] + 1) & (len(self._slots) - 1)

    def _are_alike(self, places: _Places, numbers: TermIds) -> bool:
        """Returns True if each place holds the same bytes as the term of its number."""
        numbers = numbers[places.order]
        begins, ends = self._ends[numbers], self._ends[numbers + 1]
        if not np.array_equal(ends - begins, places.ends - places.begins):
            return False
        words = _words(self._bytes, begins[places.long :], ends[places.long :])
        held = (self._bytes[begins[at] : ends[at]].tobytes() for at in range(places.long))
        return all(map(np.array_equal, words, places.words)) and all(map(eq, held, map(places.term, count())))


@dataclass(frozen=True, slots=True)
class _Places:
    """Places of terms in `data`, the longest first; `order` holds their positions in the order that was given.

    The first `long` places are too long for words; `words[n]` has word n of each of the others that has so many.
    """

    data: bytes = field(repr=False)
    order: Longs
    begins: Longs
    ends: Longs
    long: int
    words: list[Words] = field(repr=False)

    @classmethod
    def of(cls, data: bytes, begins: Longs, ends: Longs) -> _Places:
        # Numbers of 16 bits are sorted by their digits, in a fraction of the time.
        lengths = np.minimum(ends - begins, _MAX_WORDS * _WORD_BYTES + 1).astype(np.uint16)
        order = np.argsort(~lengths, kind="stable")
        begins, ends = begins[order], ends[order]
        long = int(np.count_nonzero(lengths > _MAX_WORDS * _WORD_BYTES))
        padded = np.frombuffer(data + bytes(_WORD_BYTES), dtype=np.uint8)
        return cls(data, order, begins, ends, long, _words(padded, begins[long:], ends[long:]))

    def term(self, at: int) -> bytes:
        return self.data[self.begins[at] : self.ends[at]]


def _words(data: npt.NDArray[np.uint8], begins: Longs, ends: Longs) -> list[Words]:
    """Returns the first word of each place, the second of each that has one, and so on; the longest place is first.

    A last word ends where its place does, and begins within the word before. `data` goes on for a word behind the last
    place.
    """
    from_byte: Words = np.ndarray(len(data) - _WORD_BYTES + 1, dtype="<u8", buffer=data, strides=(1,))
    lengths = ends - begins
    found = [from_byte[begins] & _KEPT[np.minimum(lengths, _WORD_BYTES)]]
    for start in range(_WORD_BYTES, int(lengths.max(initial=0)), _WORD_BYTES):
        having = int(np.searchsorted(-lengths, -start))
        found.append(from_byte[np.minimum(begins[:having] + start, ends[:having] - _WORD_BYTES)])
    return found


def _with_room(array: npt.NDArray[_NumberT], size: int) -> npt.NDArray[_NumberT]:
    """Returns `array`, or a longer copy where it has no room for `size` numbers."""
    if size <= len(array):
        return array
    larger = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
