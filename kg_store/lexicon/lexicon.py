"""Reads the lists of words that may stand in a text without naming anybody."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

_FOLDER = Path(str(files("kg_store.lexicon")))
ENGLISH: Final = _FOLDER / "english.txt"
OTHER: Final = _FOLDER / "other.txt"
OWN: Final = _FOLDER / "own.txt"
SOURCES: Final = _FOLDER / "sources.toml"
KINDS: Final = "nvarf"
"""Noun, verb, adjective, adverb, auxiliary."""


def in_lexicon(word: str) -> bool:
    """True where `word`, in small letters and with the accents that it was typed with, is a common English word that
    names nobody. Promise: no spelling but the list's own is in it, so that no name is by what it folds to."""
    return word in _english()


def in_any_lexicon(word: str) -> bool:
    """The same, or whether it is a common word of another language."""
    return word in _english() or word in _of_all_languages()


def kinds_of(word: str) -> str:
    """Letters of `KINDS`; none for words that no dictionary describes, and for those outside the lexicon."""
    return _english().get(word, "")


def words_of_language(code: str) -> frozenset[str]:
    """The common words of another language (ISO 639-1); none where the language is unknown."""
    return _others().get(code, frozenset())


def languages() -> tuple[str, ...]:
    """The codes of the languages other than English that have words here."""
    return tuple(_others())


def size() -> int:
    """The number of English words."""
    return len(_english())


@cache
def _of_all_languages() -> frozenset[str]:
    return frozenset().union(*_others().values())


@cache
def sources() -> dict[str, int]:
    """English words by the first source that has them, and how many were `taken_out` since they are names."""
    return tomllib.loads(SOURCES.read_text(encoding="utf-8"))


@cache
def _english() -> dict[str, str]:
    rows = (line.partition(" ") for line in ENGLISH.read_text(encoding="utf-8").splitlines())
    return {word: kinds for word, _, kinds in rows}


@cache
def _others() -> dict[str, frozenset[str]]:
    rows = (line.partition(":") for line in OTHER.read_text(encoding="utf-8").splitlines())
    return {code: frozenset(words.split()) for code, _, words in rows}
