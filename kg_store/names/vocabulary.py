"""NameVocabulary: the words of a graph's names, and which words of a text are everyday words instead."""

from __future__ import annotations

from functools import cache

from kg_store.names.name_table import NameTable
from kg_store.text.english import PublicWords, frequent_ordinary, is_ordinary
from kg_store.text.fuzzy_words import NearWords
from kg_store.text.normalise import is_letters, normalise
from kg_store.text.word_matcher import words_of

_MIN_PLURAL_LENGTH = 4
_MORE_EVERYDAY = frozenset("died heard became began paid ive".split())
"""Forms that the dictionary of ordinary words leaves out: of verbs, and I've without its sign."""

_MAX_CACHED = 100_000


class NameVocabulary:
    """Words are asked for as `words_of` gives them: normalised, in plain Latin letters."""

    def __init__(self, rows: NameTable, public: PublicWords) -> None:
        self.rows = rows
        self._public = public
        self._near: dict[str, dict[int, int]] = {}
        may_be_ordinary("")  # Reads the dictionary now, and not with the first question.

    def is_own(self, word: str) -> bool:
        """A word of our own phrases, or a small number."""
        return self._public.is_own(word)

    def is_everyday(self, word: str) -> bool:
        """A word of our own phrases, a small number, or an ordinary English word."""
        return word in _MORE_EVERYDAY or self._public.is_own(word) or is_ordinary(word)

    def is_public(self, word: str) -> bool:
        return word in _MORE_EVERYDAY or word in self._public or is_ordinary(word)

    def looks_like_name(self, text: str) -> bool:
        """True where a word of `text` is no everyday word, but letters."""
        words = (word.text for word in words_of(normalise(text).text))
        return any(is_letters(word) and len(word) > 1 and not self.is_everyday(word) for word in words)

    def near(self, word: str) -> dict[int, int]:
        """Words of names that `word` may stand for, with the number of slips; itself among them where it is one."""
        found = self._near.get(word)
        if found is None:
            found = self._near[word] = self._near_words(word)
            if len(self._near) > _MAX_CACHED:
                self._near.clear()
        return found

    def _near_words(self, word: str) -> dict[int, int]:
        plural = word.endswith("s") and len(word) >= _MIN_PLURAL_LENGTH
        plural = plural and (word not in self._public or self.is_everyday(word[:-1]))
        spelt = [self.rows.number_of(word), self.rows.number_of(word[:-1]) if plural else None]
        found = {number: 0 for number in spelt if number is not None}
        return found if self.is_public(word) else {**self.rows.near.near(word), **found}


@cache
def may_be_ordinary(word: str) -> bool:
    """True where `word` is a slip away from a frequent English word: then it is no misspelt name alone."""
    return bool(_frequent().near(word))


@cache
def _frequent() -> NearWords:
    return NearWords.of(frequent_ordinary())
