"""Public words: what a name may equal without being secret (design rule 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from wordfreq import top_n_list

from kg_store.text.normalise import is_unspaced, is_word_character, normalise

FREQUENT_WORDS = 3_000
MAX_PHRASE_WORDS = 6
_MAX_UNSPACED_LENGTH = 12


@dataclass(frozen=True, slots=True)
class PublicWords:
    """A closed list of normalised words and phrases; `normalised in words` asks it.

    Promise: the frequent words are wordfreq's own list, unedited. A name that is in here is listed in the
    graph's report, and passes the guard where the text does not mark it as a name.
    """

    _frequent: frozenset[str] = field(repr=False)
    _own: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, phrases: Iterable[str]) -> PublicWords:
        """The frequent English words, the numbers 0 to 99, and every run of up to six words of each phrase."""
        own = {str(number) for number in range(100)}
        for phrase in set(phrases):
            own.update(_runs(normalise(phrase).text))
        return cls(_most_frequent() - own, frozenset(own))

    def __contains__(self, normalised: object) -> bool:
        return normalised in self._own or normalised in self._frequent

    def __len__(self) -> int:
        return len(self._own) + len(self._frequent)

    def is_own(self, normalised: str) -> bool:
        """True where it is a word of our phrases (templates, relations, concepts), or a small number."""
        return normalised in self._own


def frequent_words(language: str, count: int) -> frozenset[str]:
    """The `count` most frequent words of a language (ISO 639-1), by wordfreq's small list."""
    return frozenset(top_n_list(language, count, wordlist="small"))


@cache
def _most_frequent() -> frozenset[str]:
    """The same at every load: normalised once."""
    return frozenset(normalise(word).text.strip() for word in top_n_list("en", FREQUENT_WORDS, wordlist="best"))


def _runs(text: str) -> set[str]:
    """Every run of words as it stands in `text`, with the punctuation inside it and none around it."""
    words = _word_spans(text)
    found: set[str] = set()
    for first, (start, _) in enumerate(words):
        found.update(text[start:end] for _, end in words[first : first + MAX_PHRASE_WORDS])
    for start, end in words:
        found.update(_unspaced_runs(text[start:end]))
    return found


def _word_spans(text: str) -> list[tuple[int, int]]:
    spans = []
    for is_word, group in groupby(enumerate(text), key=lambda pair: is_word_character(pair[1])):
        positions = [position for position, _ in group]
        if is_word:
            spans.append((positions[0], positions[-1] + 1))
    return spans


def _unspaced_runs(word: str) -> set[str]:
    """A script without spaces doesn't show its words: there every run of characters counts as one."""
    if not any(map(is_unspaced, word)):
        return set()
    ends = range(2, _MAX_UNSPACED_LENGTH + 1)
    return {word[start : start + length] for start in range(len(word)) for length in ends}
