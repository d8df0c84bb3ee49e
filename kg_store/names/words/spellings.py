"""The spellings under which a name is looked for: its own, and those that people type."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from kg_store.text.english import is_ordinary
from kg_store.text.normalise import MARKS, is_unspaced, is_word_character
from kg_store.text.word_matcher import without_accents

AROUND_NAMES = " \"«»‹›'"
_POINT = re.compile(r"[.,](?= |$)")
_INSIDE_NAMES = re.compile(r"(?<=\w)[^\w\s]+(?=\w| \w)|(?<=\w )[^\w\s]+(?=\w)")
_SIGNS = re.compile(rf"[^\w\s'{MARKS}]+")
_APOSTROPHE = re.compile(r"(?<=\w) ?'(?=\w)")
_MIN_BARE_LENGTH = 5
"""With fewer letters a name without its punctuation (E.T.) could be any word."""

_SHORTEST_UNSPACED, _LONGEST_SPREAD = 2, 8
"""Lengths in characters: the shortest part of a name that counts alone, and the longest name typed letter by letter.
"""


def stands_in(name: str, text: str) -> bool:
    """True if `name` occurs between word borders in `text`; both are normalised."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        begins = start == 0 or not (is_word_character(name[0]) and is_word_character(text[start - 1]))
        if begins and (end == len(text) or not (is_word_character(name[-1]) and is_word_character(text[end]))):
            return True
        start = text.find(name, start + 1)
    return False


def can_be_found(pattern: str) -> bool:
    """False for punctuation alone, which JSON is full of."""
    return any(is_word_character(c) or unicodedata.category(c) == "So" for c in pattern)


def spellings_of(pattern: str) -> list[str]:
    """Returns the pattern and other spellings: Michael J Fox, zoe muller, "child 's play", "a k" for A.K."""
    plain = _POINT.sub("", pattern).strip(AROUND_NAMES)
    typed = dict.fromkeys((pattern, plain, without_accents(pattern), without_accents(plain)))
    typed |= dict.fromkeys(_without_signs(spelling) for spelling in tuple(typed))
    typed |= dict.fromkeys(_APOSTROPHE.sub(mark, spelling) for spelling in tuple(typed) for mark in ("'", " '", " "))
    bare = _INSIDE_NAMES.sub("", without_accents(pattern.replace("&", "and"))).strip()
    if pattern.startswith("saint "):
        typed |= dict.fromkeys(("st. " + pattern[6:], "st " + without_accents(pattern[6:])))
    typed |= dict.fromkeys(_unspaced_spellings(pattern))
    if bare.isascii() and len(bare) >= _MIN_BARE_LENGTH and (" " in bare or not is_ordinary(bare)):
        typed[bare] = None
    return [spelling for spelling in typed if spelling == pattern or can_be_found(spelling)]


def _unspaced_spellings(pattern: str) -> Iterator[str]:
    """Spellings of names in scripts without spaces: joined, letter by letter, and their parts, since they are not read
    inexactly.
    """
    parts = pattern.split(" ")
    if not all(part and all(map(is_unspaced, part)) for part in parts):
        return
    if len(parts) > 1:
        yield "".join(parts)
        yield from (part for part in parts if len(part) >= _SHORTEST_UNSPACED)
    if len(pattern) <= _LONGEST_SPREAD:
        yield " ".join("".join(parts))


def _without_signs(spelling: str) -> str:
    """The spelling with spaces for signs between letters; unchanged if that leaves one word, or digits."""
    apart = " ".join(_SIGNS.sub(" ", spelling).split())
    return apart if " " in apart and any(map(str.isalpha, apart)) else spelling
