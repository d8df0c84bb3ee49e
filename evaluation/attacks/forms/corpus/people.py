"""Surnames and given names of many languages, as a hostile tester writes them down (`people.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("people.toml")


@cache
def _lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    return {
        table: {key: [word.replace("_", " ") for word in text.split()] for key, text in lists.items()}
        for table, lists in tables.items()
    }


def surnames() -> list[str]:
    """All of them, in small letters, each once."""
    return list(dict.fromkeys(name for names in _lists()["surnames"].values() for name in names))


def surnames_of(language: str) -> Sequence[str]:
    return _lists()["surnames"][language]


def given_names_of(language: str) -> Sequence[str]:
    return _lists()["given"][language]


def everyday_words_of(language: str) -> frozenset[str]:
    """Surnames that are everyday words of a language other than English; none for languages that are not listed."""
    return frozenset(_lists()["everyday"].get(language, ()))


def names_first() -> frozenset[str]:
    """Surnames that dictionaries have as nouns, and that everybody reads as names."""
    return frozenset(_lists()["names_first"]["en"])
