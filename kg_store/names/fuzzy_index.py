"""InexactNames: finds names as people type them: misspelt, abbreviated, reordered, joined or incomplete."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar

from kg_store.names.fuzzy_search import NOT_INITIALS, Fits, FuzzyWindow, InexactHit, IsName, MayHold
from kg_store.names.name_table import NameTable
from kg_store.names.name_words import NameVocabulary
from kg_store.text.english import PublicWords
from kg_store.text.normalise import Normalised, is_letters, normalise
from kg_store.text.word_matcher import stretches, words_of

__all__ = ["Fits", "InexactHit", "InexactNames", "IsName", "MayHold"]

MAX_CACHED = 20_000
"""The greatest number of stretches without a name in the cache, before it is emptied. Chosen by hand."""

_MAX_CACHED_LENGTH = 64
"""The greatest length of a cached stretch in characters: labels fit, sentences hardly do. Chosen by hand."""

_KnownT = TypeVar("_KnownT")


class InexactNames:
    """Finds inexact names.

    Promise: `find` gives the same hits for the same words for every caller; the linker and the guard share it. Limit:
    the forms in docs/linking.md; everyday words alone unless something marks them as a name.
    """

    def __init__(self, rows: NameTable, public: PublicWords) -> None:
        self._words = NameVocabulary(rows, public)
        # Requests repeat the labels of the schema and the numbers of their candidates: each is read once. Beside its
        # normalised text a stretch as it stands: capitals may tell initials.
        self._nameless: set[tuple[str, str]] = set()
        self._nameless_pieces: set[str] = set()
        self._dull: set[str] = set()

    def find(
        self,
        text: str,
        skip: Collection[str] = (),
        is_name: IsName | None = None,
        may_hold: MayHold | None = None,
        fits: Fits | None = None,
    ) -> list[InexactHit]:
        """Returns hits by start and then the longest first; they may overlap. Words in `skip` stand for nothing.

        `may_hold` tells which stretches of everyday words can be skipped; `fits` caches the findings of one request.
        """
        normalised = normalise(text)
        fits = {} if fits is None else fits
        found: list[InexactHit] = []
        whole = [(0, len(normalised.text))]
        for begin, stop in self._unread(text, skip) if is_name is None and normalised.is_one_to_one else whole:
            is_nameless = is_name is None
            for start, end in stretches(normalised.text, begin, stop):
                if may_hold and normalised.is_one_to_one and self._is_plain(normalised.text, start, end, may_hold):
                    continue
                hits, tells_nothing = self._read(text, normalised, start, end, skip, is_name, fits)
                found += hits
                is_nameless = is_nameless and tells_nothing
            if is_nameless and normalised.is_one_to_one:
                _remember(self._nameless_pieces, text[begin:stop], stop - begin)
        return sorted(found, key=lambda hit: (hit.start, -hit.end))

    def _unread(self, text: str, skip: Collection[str]) -> Iterator[tuple[int, int]]:
        """Pieces between quotes, which no name crosses, without those that certainly hold no name and those in `skip`.

        Only possible if every character is normalised by itself, so that the pieces are too.
        """
        pieces = text.split('"')
        unread = {
            piece
            for piece in set(pieces).difference(self._nameless_pieces, skip)
            if piece[_after_skipped(piece, skip) :] not in self._nameless_pieces
        }
        start = done = 0
        for at in [place for place, piece in enumerate(pieces) if piece in unread] if unread else ():
            start += sum(map(len, pieces[done:at])) + at - done
            done = at
            yield start + _after_skipped(pieces[at], skip), start + len(pieces[at])

    def _read(
        self,
        text: str,
        normalised: Normalised,
        start: int,
        end: int,
        skip: Collection[str],
        is_name: IsName | None,
        fits: Fits,
    ) -> tuple[list[InexactHit], bool]:
        """The hits of one stretch, and True if it holds no name, whatever is skipped or marked."""
        first, last = normalised.span(start, end)
        stretch = normalised.text[start:end], text[first:last]
        if is_name is None and (stretch in self._nameless or stretch[1] in skip):
            return [], stretch[1] not in skip
        if is_name is None and not self._may_hold_name(stretch[0]):
            _remember(self._nameless, stretch, end - start)
            return [], True
        reading = FuzzyWindow(
            self._words, text, normalised, words_of(normalised.text, start, end), skip, is_name, fits
        )
        hits = reading.hits()
        is_nameless = is_name is None and not hits and not reading.skips_any()
        if is_nameless:
            _remember(self._nameless, stretch, end - start)
        return hits, is_nameless

    def _is_plain(self, text: str, start: int, end: int, may_hold: MayHold) -> bool:
        """True if a stretch consists of everyday words that nothing marks. Beyond ASCII, digits may be letters of
        words.
        """
        stretch = text[start:end]
        return stretch.isascii() and not may_hold(start, end) and not self._may_hold_name(stretch)

    def is_own(self, text: str) -> bool:
        """True if `text` is among the service's phrases."""
        return self._words.is_own(text)

    def looks_like_name(self, text: str) -> bool:
        """True if a word of `text` consists of letters and is not an everyday word."""
        return self._words.looks_like_name(text)

    def _may_hold_name(self, stretch: str) -> bool:
        """False for everyday words, which make up nearly all of a request; a cheap first test."""
        for word in stretch.split():
            if word in self._dull:
                continue
            forms = [each.text for each in words_of(word)]
            if _has_initial(word, forms) or not all(map(self._is_dull, forms)):
                return True
            # Nothing but an everyday word outlives the request: figures may be somebody's number.
            if len(forms) == 1 and forms[0].isalpha() and self._words.is_everyday(forms[0]):
                _remember(self._dull, word, len(word))
        return False

    def _is_dull(self, word: str) -> bool:
        return self._words.is_everyday(word) or not is_letters(word)


def _after_skipped(piece: str, skip: Collection[str]) -> int:
    """The position after a word of `skip` and a bracket: requests are full of `Eq7f2k (person)`, and no name crosses
    that.
    """
    bracket = piece.find(" (")
    return bracket + 1 if bracket > 0 and piece[:bracket] in skip and piece[:bracket].isalnum() else 0


def _remember(nameless: set[_KnownT], known: _KnownT, length: int) -> None:
    if length > _MAX_CACHED_LENGTH:
        return
    if len(nameless) >= MAX_CACHED:
        nameless.clear()
    nameless.add(known)


def _has_initial(written: str, forms: list[str]) -> bool:
    return any(len(form) == 1 and (form not in NOT_INITIALS or "." in written) for form in forms)
