"""NearWords: finds the words of a vocabulary that a misspelt word may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from kg_store.text.normalise import is_letters

MIN_LENGTH = 4
_TWO_SLIPS_FROM = 9


def slips_allowed(length: int) -> int:
    """Returns the number of slips (a letter added, missing or changed, or two swapped) allowed in a word of this
    length.
    """
    if length < MIN_LENGTH:
        return 0
    return 2 if length >= _TWO_SLIPS_FROM else 1


@dataclass(frozen=True, slots=True)
class NearWords:
    """Words sorted by length, each with the set of its letters as bits; one slip changes at most two bits.

    Comparing the bits of a whole vocabulary takes a fraction of a millisecond and leaves few words to compare in full.
    """

    _words: npt.NDArray[np.object_] = field(repr=False)
    _ids: npt.NDArray[np.int64] = field(repr=False)
    _letters: npt.NDArray[np.uint32] = field(repr=False)
    _starts: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, words: Sequence[str]) -> NearWords:
        """Builds the index; `near` returns positions in `words`. Words shorter than MIN_LENGTH or with digits are left
        out.
        """
        kept = [at for at, word in enumerate(words) if len(word) >= MIN_LENGTH and is_letters(word)]
        kept.sort(key=lambda at: len(words[at]))
        lengths = [len(words[at]) for at in kept]
        starts = np.searchsorted(lengths, np.arange((lengths[-1] if lengths else 0) + 2))
        letters = np.fromiter((_bits(words[at]) for at in kept), dtype=np.uint32, count=len(kept))
        ids = np.array(kept, dtype=np.int64)
        spelt = np.array([words[at] for at in kept], dtype=np.object_)
        return cls(spelt, ids, letters, tuple(starts.tolist()))

    def near(self, word: str) -> dict[int, int]:
        """Returns position -> number of slips, for every word within the slips that the length of `word` allows."""
        slips = slips_allowed(len(word) + 1)
        if not slips or not is_letters(word):
            return {}
        first, last = self._start(len(word) - slips), self._start(len(word) + slips + 1)
        changed = np.bitwise_count(self._letters[first:last] ^ np.uint32(_bits(word)))
        able = np.flatnonzero(changed <= 2 * slips) + first
        words = self._words[able].tolist()
        distances = cdist((word,), words, scorer=OSA.distance, score_cutoff=slips, dtype=np.uint8)[0]
        ids = self._ids[able].tolist()
        near = np.flatnonzero(distances <= slips).tolist()
        return {ids[at]: int(distances[at]) for at in near if distances[at] <= slips_allowed(len(words[at]))}

    def _start(self, length: int) -> int:
        return self._starts[min(max(length, 0), len(self._starts) - 1)]


def _bits(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 32)
    return bits
