"""Inflection of English nouns, by a dictionary of word forms."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any

from kg_store.text.plurals import singular


class _NoSpacy:
    """A module finder that makes spaCy look uninstalled."""

    def find_spec(self, name: str, *_where: object) -> ModuleSpec | None:
        if name == "spacy":
            raise ModuleNotFoundError(name, name=name)
        return None


def _lemminflect() -> Any:
    """Imports lemminflect without spaCy, which would load torch with it: 4 s and 250 MB for nothing."""
    finder = _NoSpacy()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lemminflect")
    finally:
        sys.meta_path.remove(finder)


lemminflect = _lemminflect()


def in_other_number(noun: str) -> Iterator[str]:
    """Yields the plurals of a singular noun and the singular of a plural: accountants, accountant.

    Nothing for other words, or for nouns with only one number. Caches nothing, because the word may be a name.
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
    """True if `word` may be a verb: play, models. Caches nothing, because the word may be a name."""
    return "VERB" in lemminflect.getAllLemmas(word)


def lemmas_of(word: str) -> frozenset[str]:
    """Returns `word` and every word of which it may be a form. Caches nothing, because the word may be a name."""
    return frozenset({word, *(each for forms in lemminflect.getAllLemmas(word).values() for each in forms)})
