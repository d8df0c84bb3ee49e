"""InexactNames: names as people type them: misspelt, abbreviated, turned round, run together, or half of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kg_store.inexact_reading import NOT_INITIALS, InexactHit, IsName, Reading
from kg_store.name_vocabulary import NameVocabulary
from kg_store.normalising import normalise
from kg_store.public_words import PublicWords
from kg_store.word_forms import stretches, words_of

__all__ = ["InexactHit", "InexactNames", "IsName"]

MOST_REMEMBERED = 20_000
"""Stretches without a name; then they are all forgotten."""

_LONGEST_REMEMBERED = 64
"""Characters: of labels, hardly of sentences that somebody wrote."""


class InexactNames:
    """Promise: `find` gives the same hits for the same words, whoever asks; the linker and the guard share it.

    Limit: the forms that docs/linking.md lists; everyday words alone where nothing marks them as a name.
    """

    def __init__(self, names: Iterable[tuple[str, tuple[int, ...]]], public: PublicWords) -> None:
        """`names`: normalised, each with the nodes called so."""
        self._words = NameVocabulary(names, public)
        # Requests repeat the labels of the schema and the numbers of their candidates: each is read once.
        self._nameless: set[tuple[str, str]] = set()

    def find(self, text: str, skip: Collection[str] = (), is_name: IsName | None = None) -> list[InexactHit]:
        """Hits by start and then the longest first; they may overlap. Words in `skip` stand for nothing."""
        normalised = normalise(text)
        found: list[InexactHit] = []
        for start, end in stretches(normalised.text):
            first, last = normalised.span(start, end)
            stretch = normalised.text[start:end], text[first:last]
            if is_name is None and (stretch in self._nameless or stretch[1] in skip):
                continue
            if is_name is None and not self._may_hold_name(stretch[0]):
                self._remember(stretch)
                continue
            reading = Reading(self._words, text, normalised, words_of(normalised.text, start, end), skip, is_name)
            hits = reading.hits()
            if is_name is None and not hits and not reading.skips_any():
                self._remember(stretch)
            found += hits
        return sorted(found, key=lambda hit: (hit.start, -hit.end))

    def looks_like_name(self, text: str) -> bool:
        """Whether a word of `text` is no everyday word, but letters."""
        return self._words.looks_like_name(text)

    def _may_hold_name(self, stretch: str) -> bool:
        """The cheap refusal of everyday words, which nearly all of a request is."""
        for word in stretch.split():
            forms = [each.text for each in words_of(word)]
            if _has_initial(word, forms) or not all(map(self._is_dull, forms)):
                return True
        return False

    def _is_dull(self, word: str) -> bool:
        return self._words.is_everyday(word) or not word.isalpha()

    def _remember(self, stretch: tuple[str, str]) -> None:
        """Beside its normalised text the stretch as it stands: capitals may tell initials."""
        if len(stretch[0]) > _LONGEST_REMEMBERED:
            return
        if len(self._nameless) >= MOST_REMEMBERED:
            self._nameless.clear()
        self._nameless.add(stretch)


def _has_initial(written: str, forms: list[str]) -> bool:
    return any(len(form) == 1 and (form not in NOT_INITIALS or "." in written) for form in forms)
