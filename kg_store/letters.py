"""Letters of any script: with the marks that belong to them, which `\\w` of `re` leaves out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Final

_LAST_WITH_MARKS = 0x1F000


def _mark_ranges() -> Iterator[str]:
    codes = [code for code in range(0x300, _LAST_WITH_MARKS) if unicodedata.category(chr(code))[0] == "M"]
    for _, group in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        run = [code for _, code in group]
        yield f"{chr(run[0])}-{chr(run[-1])}"


MARKS: Final = "".join(_mark_ranges())
"""For a class of a pattern: `[\\w{MARKS}]` are the characters of words, vowel signs of Indic scripts among them."""


def is_letters(word: str) -> bool:
    """Whether `word` is letters and the marks on them alone."""
    return word.isalpha() or (not word.isascii() and all(map(_is_letter_or_mark, word)) and word[:1].isalpha())


@cache
def _is_letter_or_mark(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character)[0] == "M"
