"""WordMatcher: many patterns at once in a normalised text, between word borders only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import daachorse

from kg_store.errors import StoreError
from kg_store.text.normalise import Normalised

Match = tuple[int, int, int]
"""Start and end in the normalised text, and the pattern's number."""

_PRIVATE_PLANE = 0xF0000
_SEAM_WINDOW = 2_000
"""Characters looked at after a dropped one; longer names are still found where a visible border precedes them."""


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """An Aho-Corasick automaton over patterns whose word starts are capitals.

    Normalised text has no capitals, so raising the first letter of every word, there and in the patterns,
    lets the automaton itself refuse most matches inside words: a question costs a tenth of the time.
    """

    _automaton: Any = field(repr=False)

    @classmethod
    def of(cls, patterns: Sequence[str]) -> WordMatcher:
        """Matches carry the position of the pattern in `patterns`; equal patterns match each for itself."""
        marked = [_mark_starts(pattern) for pattern in patterns]
        return cls(daachorse.CharwiseDoubleArrayAhoCorasick(marked))

    @classmethod
    def from_bytes(cls, data: bytes) -> WordMatcher:
        """Raises StoreError on bytes that `to_bytes` did not write."""
        try:
            return cls(daachorse.CharwiseDoubleArrayAhoCorasick.deserialize(data))
        except ValueError:
            raise StoreError("the name index holds no valid automaton") from None

    def to_bytes(self) -> bytes:
        return bytes(self._automaton.serialize())

    def matches(self, normalised: Normalised, wanted: bytes | None = None) -> Iterator[Match]:
        """Every match that begins and ends at a word border, each once. `wanted` has a byte a pattern: those of 0
        are passed over."""
        text = normalised.text
        marked, length = _mark_starts(text), len(text)
        for start, end, pattern in self._automaton.find_overlapping(marked):
            if wanted is not None and not wanted[pattern]:
                continue
            if end < length and _goes_on(text[end - 1 : end + 1]) and end not in normalised.seams:
                continue
            if normalised.is_border(start) and _ends_word(normalised, end):
                yield start, end, pattern
        for seam in sorted(normalised.seams):
            for match in self._matches_at_seam(normalised, marked, seam):
                if wanted is None or wanted[match[2]]:
                    yield match

    def whole(self, text: str) -> Iterator[int]:
        """The patterns that equal `text` as a whole."""
        for start, end, pattern in self._automaton.find_overlapping(_mark_starts(text)):
            if start == 0 and end == len(text):
                yield pattern

    def _matches_at_seam(self, normalised: Normalised, marked: str, seam: int) -> Iterator[Match]:
        """A dropped character may have parted two words: what follows it is tried as the start of one."""
        window = _mark_starts(normalised.text[seam : seam + _SEAM_WINDOW])
        if not window or window[0] == marked[seam]:
            return
        for start, end, pattern in self._automaton.find_overlapping(window):
            if start == 0 and _ends_word(normalised, seam + end):
                yield seam, seam + end, pattern


def _goes_on(pair: str) -> bool:
    """The common refusal, cheaply: the match is the beginning of a longer ASCII word."""
    return pair.isalnum() and pair.isascii()


def _ends_word(normalised: Normalised, end: int) -> bool:
    if not normalised.is_border(end):
        return False
    # "don't" is not a mention of Don: unlike 's, this ending never follows a name.
    text = normalised.text
    return not (text.startswith("'t", end) and text[end - 1] == "n" and normalised.is_border(end + 2))


def _mark_starts(text: str) -> str:
    """The text with the first letter of every word as a capital; of the same length."""
    marked = text.title() if text.isascii() else text.translate(_ONE_TO_ONE).title()
    if len(marked) != len(text):
        raise StoreError("a text can't be searched for names")
    return marked


class _OneToOne(dict[int, str]):
    """Letters whose capital is more than one character (ΐ) move to a private plane, where they have no case."""

    def __missing__(self, code: int) -> str:
        kept = chr(code) if len(chr(code).title()) == 1 else chr(_PRIVATE_PLANE + code)
        self[code] = kept
        return kept


_ONE_TO_ONE = _OneToOne()
