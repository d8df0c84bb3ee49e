"""Reads the word lists of the lexicon, and the adjectives and short names of places.

For example, "French" stands for France and "UK" for the United Kingdom.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

_FOLDER = Path(str(files("kg_store.lexicon")))
ENGLISH: Final = _FOLDER / "english.txt"
OTHER: Final = _FOLDER / "other.txt"
FURTHER: Final = _FOLDER / "further.txt"
OWN: Final = _FOLDER / "own.txt"
SOURCES: Final = _FOLDER / "sources.toml"
KINDS: Final = "nvarf"  # Noun, verb, adjective, adverb, auxiliary.


def in_lexicon(word: str) -> bool:
    """Returns True if `word`, in lower case and with its accents as typed, is a common English word that names nobody.

    Promise: only exact spellings of the list count, so that a name does not pass because it resembles a word.
    """
    return word in _english()


def common_words() -> Container[str]:
    """Returns the words that `in_lexicon` knows, for callers that ask for millions of words."""
    return _english()


def in_any_lexicon(word: str) -> bool:
    """Returns True if `word` is a common word of English or another language."""
    return word in _english() or word in _of_all_languages()


def kinds_of(word: str) -> str:
    """Returns the parts of speech of a word as letters of `KINDS`; empty if they are unknown."""
    return _english().get(word, "")


def words_of_language(code: str) -> frozenset[str]:
    """Returns the common words of a language other than English (ISO 639-1); empty if the language is unknown."""
    return _others().get(code, frozenset())


def in_lexicon_of(code: str, word: str) -> bool:
    """Returns True if `word` is a common word of another language; for German, French and Spanish also a rarer one."""
    return word in words_of_language(code) or word in _further().get(code, frozenset())


def languages_of(word: str) -> tuple[str, ...]:
    """Returns the codes of the languages other than English that `word` is a common word of."""
    return _languages_by_word().get(word, ())


def languages_of_rarer(word: str) -> tuple[str, ...]:
    """Returns those of German, French and Spanish (as codes) that have `word`, if only the longer lists do."""
    return tuple(code for code, words in _further().items() if word in words and word not in words_of_language(code))


def in_large_lexicon(word: str) -> bool:
    """Returns True if `word` is a word of English, German, French or Spanish that names nobody."""
    return word in _english() or any(word in words for words in _further().values())


def languages() -> tuple[str, ...]:
    """Returns the codes of the languages other than English that the lexicon has."""
    return tuple(_others())


def size() -> int:
    """Returns the number of English words."""
    return len(_english())


@cache
def _of_all_languages() -> frozenset[str]:
    return frozenset().union(*_others().values(), *_further().values())


@cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for code, words in _others().items():
        found |= {word: (*found.get(word, ()), code) for word in words}
    return found


@cache
def sources() -> dict[str, int]:
    """Returns the number of English words that each source added first; `taken_out` counts those removed as names."""
    return tomllib.loads(SOURCES.read_text(encoding="utf-8"))


@cache
def _english() -> dict[str, str]:
    rows = (line.partition(" ") for line in ENGLISH.read_text(encoding="utf-8").splitlines())
    return {word: kinds for word, _, kinds in rows}


@cache
def _others() -> dict[str, frozenset[str]]:
    return _by_language(OTHER)


@cache
def _further() -> dict[str, frozenset[str]]:
    return _by_language(FURTHER)


def _by_language(file: Path) -> dict[str, frozenset[str]]:
    rows = (line.partition(":") for line in file.read_text(encoding="utf-8").splitlines())
    return {code: frozenset(words.split()) for code, _, words in rows}


_WORD = re.compile(r"\w+")
# Letters that a case-insensitive pattern treats like others.
_LIKE_OTHERS = str.maketrans({"ı": "i", "İ": "i", "ſ": "s"})
_THE = re.compile(r"\bthe\s+\Z", re.IGNORECASE)


def places_called(text: str) -> tuple[str, ...]:
    """Returns the names, in lower case, of the places that `text` is an adjective or a short name of."""
    return _table().get(" ".join(text.lower().split()), ())


@dataclass(frozen=True, slots=True)
class PlaceAdjectives:
    """The adjectives and short names of a graph's places, without those that are a name or value of the graph."""

    _names: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _pattern: re.Pattern[str] | None = field(default=None, repr=False)
    _first_words: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, is_spelt: Callable[[str], bool], is_own: Callable[[str], bool]) -> PlaceAdjectives:
        """Builds the table of places that the graph names.

        `is_spelt`: returns True for a name or value of the graph; `is_own`: returns True for a word of the service
        itself.
        """
        found = {
            adjective: known
            for adjective, names in _table().items()
            if (known := tuple(filter(is_spelt, names))) and not _is_taken(adjective, is_spelt, is_own)
        }
        longest = sorted(map(re.escape, found), key=len, reverse=True)
        pattern = rf"(?<!\w)(?:{'|'.join(longest)})(?!\w)".replace(r"\ ", r"\s+")
        first = frozenset(_WORD.findall(adjective)[0] for adjective in found)
        return cls(found, re.compile(pattern, re.IGNORECASE), first) if found else cls()

    def said_in(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yields (start, end, names of the place) for each adjective or short name in `text`."""
        # Most texts hold none, and finding that out with the long pattern takes half a millisecond.
        if not self._pattern or self._first_words.isdisjoint(_WORD.findall(_small(text))):
            return
        for match in self._pattern.finditer(text):
            adjective = " ".join(_small(match[0]).split())
            is_other_word = match[0].islower() and adjective in _file()["lower_case_is_another_word"]["words"]
            if not is_other_word or (adjective in _file()["short_names"] and _THE.search(text, 0, match.start())):
                yield *match.span(), self._names[adjective]


def _small(text: str) -> str:
    return text.translate(_LIKE_OTHERS).lower()


def is_short_place(text: str) -> bool:
    """Returns True for a short name of a place such as UK, and False for an adjective such as British."""
    return " ".join(text.lower().split()) in _file()["short_names"]


def _is_taken(said: str, is_spelt: Callable[[str], bool], is_own: Callable[[str], bool]) -> bool:
    """Returns True if the graph or the service uses the word `said` in another meaning than the place.

    For a short name that is also a word in lower case ("us"), only "the us" is looked up.
    """
    if said in _file()["short_names"] and said in _file()["lower_case_is_another_word"]["words"]:
        return is_own(f"the {said}")
    return is_spelt(said) or is_own(said)


@cache
def _file() -> dict[str, dict[str, str]]:
    return tomllib.loads((_FOLDER / "place_adjectives.toml").read_text("utf-8"))


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Returns the names of the places, in lower case, by their adjectives and short names."""
    said = {**_file()["adjectives"], **_file()["short_names"]}
    return {adjective: tuple(names.lower().split(", ")) for adjective, names in said.items()}
