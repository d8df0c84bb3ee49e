"""Finds text values in the other number: "accountants" of people whose job is "Accountant", "machine" of Machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kg_store.names.index import NameHit, NameIndex
from kg_store.names.name_markup import COMMON_WORDS
from kg_store.terms import ValueKind
from kg_store.text.inflection import in_other_number

MAX_WORDS: Final = 4
"""Of a value that says what kind of thing something is."""

MIN_LETTERS: Final = 3
_WORD: Final = re.compile(r"\w+")


def find_in_other_number(index: NameIndex, text: str) -> Iterator[NameHit]:
    """Whole text values that stand in `text` in the singular or plural that they are not written in; none where the
    words are the schema's own: "which prescriptions" asks for no value."""
    words = list(_WORD.finditer(text))
    for at, word in enumerate(words):
        noun = word[0].lower()
        if len(noun) < MIN_LETTERS or not (noun.isascii() and noun.isalpha()) or noun in COMMON_WORDS:
            continue
        start = words[max(0, at - MAX_WORDS + 1)].start()
        for form in in_other_number(noun):
            said = text[start : word.start()] + form
            for hit in index.find(said):
                typed = text[start + hit.start : word.end()].lower()
                is_value = hit.kind == "value" and hit.value_kind is ValueKind.TEXT
                if hit.end == len(said) and is_value and not index.is_own(typed):
                    yield replace(hit, start=start + hit.start, end=word.end())
