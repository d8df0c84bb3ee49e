"""Inflection of English nouns: a noun in its other number, by a dictionary of word forms."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any

from kg_store.text.plurals import singular


class _NoSpacy:
    """A finder of modules that has no spaCy."""

    def find_spec(self, name: str, *_where: object) -> ModuleSpec | None:
        if name == "spacy":
            raise ModuleNotFoundError(name, name=name)
        return None


def _lemminflect() -> Any:
    """lemminflect offers itself to spaCy where that is installed, and loads torch with it: 4 s and 250 MB unused."""
    finder = _NoSpacy()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lemminflect")
    finally:
        sys.meta_path.remove(finder)


lemminflect = _lemminflect()


def in_other_number(noun: str) -> Iterator[str]:
    """The plurals of a singular noun, the singular of a plural one: accountants, accountant. None for other words, and
    for nouns that have one number alone.

    Remembers nothing: what is asked may be a name.
    """
    known = lemminflect.getAllLemmas(noun)
    if not known:
        one = singular(noun)
        yield one if one != noun else f"{noun}s"
    for lemma in known.get("NOUN", ()):
        if lemma != noun:
            yield str(lemma)
        else:
            yield from (str(form) for form in lemminflect.getInflection(lemma, "NNS") if form != noun)


def may_be_verb(word: str) -> bool:
    """True of play and models. Remembers nothing: what is asked may be a name."""
    return "VERB" in lemminflect.getAllLemmas(word)


def lemmas_of(word: str) -> frozenset[str]:
    """`word`, and all that it may be a form of. Remembers nothing: what is asked may be a name."""
    return frozenset({word, *(each for forms in lemminflect.getAllLemmas(word).values() for each in forms)})
