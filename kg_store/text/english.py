"""English words: ordinary and rare words, the public words that may be sent although a name equals them, and everyday
synonyms for common relations and concepts.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from english_words import get_english_words_set
from wordfreq import get_frequency_dict, lossy_tokenize, top_n_list
from wordfreq.numbers import digit_freq, smash_numbers

from kg_store.text.inflection import singular
from kg_store.text.normalise import MARKS, is_unspaced, normalise
from kg_store.text.words import without_accents

ALWAYS_ORDINARY = 1_000
"""This many most frequent words are ordinary even if the dictionary also has them capitalised (May). By hand."""

ALWAYS_EVERYDAY = 300
"""This many most frequent words are ordinary even if the dictionary lacks them (has, years). Chosen by hand."""

FREQUENT_ORDINARY = 15_000
MAX_ABOVE_STEM = 1.0
"""A form counts as a word of its own if its frequency (log10) exceeds that of its stem by more than this.

Such words are mostly names (Dodgers). Chosen by hand.
"""

RARE_BELOW = 4.0  # Words below this Zipf frequency (ten uses in a million words) are rare. Chosen by hand.
_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))


def is_ordinary(word: str) -> bool:
    """Returns True if `word` (normalised), or a word that it is a form of, is in the dictionary in lower case only.

    The dictionary is Webster's Second (package english-words), which writes proper names with a capital. Only words of
    wordfreq's list are cached, because other words may be names that people typed.
    """
    if word in _ordinary():
        return True
    return _listed_form(word) if word in get_frequency_dict("en", "best") else _is_form(word)


def _is_form(word: str) -> bool:
    known = [stem for stem in stems(word) if stem in _ordinary()]
    if not known:
        return False
    frequency = zipf_frequency(word) - MAX_ABOVE_STEM
    return any(zipf_frequency(stem) >= frequency for stem in known)


_listed_form = cache(_is_form)


def zipf_frequency(word: str, language: str = "en") -> float:
    """Returns log10 of a word's uses in 10^9 words of a language (ISO 639-1); 0.0 if wordfreq does not know it.

    The small lists of other languages than English are enough to tell function words. The result equals
    `wordfreq.zipf_frequency`, which is not used because it caches every word that it is asked for: here only English
    words of its list are cached.
    """
    is_listed = language == "en" and word in get_frequency_dict("en", "best")
    return _listed_frequency(word) if is_listed else _frequency(word, language)


def _frequency(word: str, language: str) -> float:
    frequencies, inverse = get_frequency_dict(language, "best" if language == "en" else "small"), 0.0
    for token in lossy_tokenize(word, language):
        smashed = smash_numbers(token)
        if smashed not in frequencies:
            return 0.0
        inverse += 1.0 / (frequencies[smashed] * (1.0 if smashed == token else digit_freq(token)))
    if not inverse:
        return 0.0
    frequency = 1.0 / inverse
    return round(math.log10(round(frequency, math.floor(-math.log10(frequency)) + 3)) + 9.0, 2)


@cache
def _listed_frequency(word: str) -> float:
    return _frequency(word, "en")


def stems(word: str) -> Iterator[str]:
    """Yields the words that `word` may be a form of, by English endings: `treated` -> treat, `cities` -> city."""
    for ending, instead in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3:
            yield stem + instead
            if not instead and stem[-1] == stem[-2]:
                yield stem[:-1]


def is_plural(word: str) -> bool:
    """Returns True for a word in s that is at most as frequent as without it: "grants", but not "jones"."""
    return word.endswith("s") and any(zipf_frequency(stem) >= zipf_frequency(word) for stem in stems(word))


def may_be_proper(word: str) -> bool:
    """Returns True if `word` may be a proper name: the dictionary has it with a capital, or not at all."""
    plain = word.casefold()
    return plain in _proper() or not is_ordinary(plain)


def is_rare(text: str) -> bool:
    """Returns True if `text` holds a word that questions rarely use, whether or not it is in the dictionary."""
    return any(zipf_frequency(word) < RARE_BELOW for word in text.casefold().split())


@cache
def frequent_ordinary() -> tuple[str, ...]:
    """Returns the frequent ordinary words, which a misspelt word most likely stands for."""
    frequent = top_n_list("en", FREQUENT_ORDINARY, wordlist="best")
    return tuple(word for word in frequent if word.isalpha() and is_ordinary(word))


def _proper() -> frozenset[str]:
    return _proper_and_ordinary()[0]


def _ordinary() -> frozenset[str]:
    return _proper_and_ordinary()[1]


@cache
def _proper_and_ordinary() -> tuple[frozenset[str], frozenset[str]]:
    """Returns the words of the dictionary with a capital, casefolded, and the ordinary words."""
    everyday, proper = set[str](), set[str]()
    for word in get_english_words_set(["web2"]):
        if word.islower():
            everyday.add(word)
        else:
            proper.add(word.casefold())
    everyday -= proper.difference(top_n_list("en", ALWAYS_ORDINARY, wordlist="best"))
    return frozenset(proper), frozenset(everyday.union(top_n_list("en", ALWAYS_EVERYDAY, wordlist="best")))


FREQUENT_WORDS = 3_000
MAX_PHRASE_WORDS = 6
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
_MAX_UNSPACED_LENGTH = 12


@dataclass(frozen=True, slots=True)
class PublicWords:
    """A closed list of normalised words and phrases that may be sent although a name equals them.

    Test with `normalised in words`. Promise: the frequent words are wordfreq's own list, unedited. A name that is in
    the list is mentioned in the graph's report, and passes the guard unless the text marks it as a name.
    """

    _frequent: frozenset[str] = field(repr=False)
    _own: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, phrases: Iterable[str]) -> PublicWords:
        """Returns the list of the frequent words, the numbers 0 to 99, and every run of words of each phrase.

        Words are kept with and without their accents, as inexact names are found without.
        """
        own = {str(number) for number in range(100)}
        for phrase in set(phrases):
            said = normalise(phrase).text
            own |= _runs(said) | (set() if said.isascii() else _runs(without_accents(said)))
        return cls(_most_frequent() - own, frozenset(own))

    def __contains__(self, normalised: object) -> bool:
        return normalised in self._own or normalised in self._frequent

    def __len__(self) -> int:
        return len(self._own) + len(self._frequent)

    def is_own(self, normalised: str) -> bool:
        """Returns True for a word or phrase of the service (template, relation, concept) and for 0 to 99."""
        return normalised in self._own


def frequent_words(language: str, count: int) -> frozenset[str]:
    """Returns the `count` most frequent words of a language (ISO 639-1) in wordfreq's small list."""
    return frozenset(top_n_list(language, count, wordlist="small"))


@cache
def _most_frequent() -> frozenset[str]:
    """Returns the frequent English words, normalised."""
    return frozenset(normalise(word).text.strip() for word in top_n_list("en", FREQUENT_WORDS, wordlist="best"))


def _runs(text: str) -> set[str]:
    """Returns every run of at most MAX_PHRASE_WORDS words of `text`, with the punctuation between them."""
    words = [match.span() for match in _WORD.finditer(text)]
    found: set[str] = set()
    for first, (start, _) in enumerate(words):
        found.update(text[start:end] for _, end in words[first : first + MAX_PHRASE_WORDS])
    for start, end in words:
        found.update(_unspaced_runs(text[start:end]))
    return found


def _unspaced_runs(word: str) -> set[str]:
    """Returns every run of 2 to 12 characters if the script has no spaces, because words can't be told apart there."""
    if not any(map(is_unspaced, word)):
        return set()
    ends = range(2, _MAX_UNSPACED_LENGTH + 1)
    return {word[start : start + length] for start in range(len(word)) for length in ends}


_TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "everyday_words.toml").read_text("utf-8")
)
_BACKWARDS: Final = "backwards"
_KINDS: Final = "kinds"
_PLAINER: Final = "plainer"
_NOUNS: Final = "nouns"
_VERBAL: Final = 2
"""The number of words at a relation's beginning that are looked up alone: `admitted to` in `admitted to ward`."""


def _words(parts: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    said: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for part in parts:
        for names, words in part.items():
            for name in names.split(", "):
                said[name] = tuple(dict.fromkeys((*said[name], *words.split(", "))))
    return dict(said)


_SAID: Final = _words(part for field, part in _TABLE.items() if field not in (_BACKWARDS, _KINDS, _PLAINER, _NOUNS))
_SAID_BACKWARDS: Final = _words([_TABLE[_BACKWARDS]])
_SAME: Final = tuple(frozenset(line.split(", ")) for line in _TABLE[_KINDS]["same"].strip().splitlines())

PLAINER: Final[Mapping[str, str]] = _TABLE[_PLAINER]
"""Everyday phrases, separated by commas, with the plainer words that replace them."""


@lru_cache(maxsize=50_000)
def kind_words(noun: str) -> frozenset[str]:
    """Returns `noun` (singular) and other words for the same kind of thing."""
    return frozenset({noun}).union(*(group for group in _SAME if noun in group))


def names_one_of(noun: str, kinds: Iterable[str]) -> bool:
    """Returns True if `noun` names one of `kinds` or its last word: "practice" names "veterinary practice"."""
    names = {name for kind in kinds for name in (kind.lower(), kind.lower().split()[-1])}
    return not kind_words(singular(noun)).isdisjoint(names)


def synonyms_of(relation: str) -> tuple[str, ...]:
    """Returns everyday words for `relation`; empty if none are known."""
    words = relation.lower().removeprefix("has ").removeprefix("is ")
    whole = _SAID.get(words) or _SAID.get(words.removesuffix(" of"))
    if whole or not words:
        return whole or ()
    parts = words.removesuffix(" of").split()
    last = _SAID.get(" ".join(parts[-_VERBAL:])) or _SAID.get(singular(parts[-1]), ())
    front = _SAID.get(" ".join(parts[:_VERBAL]), ()) if len(parts) > _VERBAL else ()
    return tuple(dict.fromkeys((*front, *last)))


def synonyms_backwards(relation: str) -> tuple[str, ...]:
    """Returns everyday words for `relation` walked backwards."""
    return _SAID_BACKWARDS.get(relation.lower(), ())


@dataclass(frozen=True, slots=True)
class Noun:
    """A general noun for a concept, such as "person".

    `has`: relations that leave an entity of such a concept; `plays`: relations that lead to one.
    """

    word: str
    has: tuple[str, ...]
    plays: tuple[str, ...]


NOUNS: Final = tuple(
    Noun(word, tuple(has.split(", ")), tuple(plays.split(", "))) for word, (has, plays) in _TABLE[_NOUNS].items()
)

GENERAL_NOUNS: Final = tuple(noun.word for noun in NOUNS)
