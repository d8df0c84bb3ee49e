"""Ordinary words: English words that a text may hold without naming anybody, even where a name is spelt like one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from english_words import get_english_words_set
from wordfreq import top_n_list, zipf_frequency

ALWAYS_ORDINARY = 1_000
"""So many of the most frequent words are ordinary although the dictionary has them with a capital, too (May)."""

ALWAYS_EVERYDAY = 300
"""So many are ordinary without the dictionary, which leaves out forms (has, years)."""

FREQUENT_ORDINARY = 15_000
MAX_ABOVE_STEM = 1.0
"""A form that is over ten times as frequent as its stem is a word of its own, most often a name (Dodgers)."""

RARE_BELOW = 4.0
"""Zipf frequency: ten times in a million words."""

_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))


@cache
def is_ordinary(word: str) -> bool:
    """Whether `word` (normalised), or what it is a form of, stands in the dictionary in small letters alone.

    The dictionary is Webster's Second (package english-words), which writes proper names with a capital.
    """
    if word in _ordinary():
        return True
    frequency = zipf_frequency(word, "en") - MAX_ABOVE_STEM
    return any(stem in _ordinary() and zipf_frequency(stem, "en") >= frequency for stem in stems(word))


def stems(word: str) -> Iterator[str]:
    """What `word` may be a form of, by the English endings: `treated`, `cities`, `stopping`."""
    for ending, instead in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3:
            yield stem + instead
            if not instead and stem[-1] == stem[-2]:
                yield stem[:-1]


def may_be_proper(word: str) -> bool:
    """Whether the dictionary has `word` with a capital too, or not at all."""
    plain = word.casefold()
    return plain in _proper() or not is_ordinary(plain)


def is_rare(text: str) -> bool:
    """Whether a word of `text` is one that questions seldom hold, in the dictionary or not."""
    return any(zipf_frequency(word, "en") < RARE_BELOW for word in text.casefold().split())


@cache
def frequent_ordinary() -> tuple[str, ...]:
    """The frequent ones among them: what a misspelt word most likely was meant to be."""
    frequent = top_n_list("en", FREQUENT_ORDINARY, wordlist="best")
    return tuple(word for word in frequent if word.isalpha() and is_ordinary(word))


@cache
def _proper() -> frozenset[str]:
    return frozenset(word.casefold() for word in get_english_words_set(["web2"]) if not word.islower())


@cache
def _ordinary() -> frozenset[str]:
    words, proper = get_english_words_set(["web2"]), _proper()
    frequent = set(top_n_list("en", ALWAYS_ORDINARY, wordlist="best"))
    everyday = {word for word in words if word.islower() and (word not in proper or word in frequent)}
    return frozenset(everyday.union(top_n_list("en", ALWAYS_EVERYDAY, wordlist="best")))
