"""Finds names and values in forms that the graph does not hold: accountants, or France in "French films"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from kg_store.lexicon.place_adjectives import is_short_name
from kg_store.names.fuzzy_index import IsName
from kg_store.names.index import NameIndex
from kg_store.names.name_hits import Mention, NameHit
from kg_store.names.name_markup import COMMON_WORDS
from kg_store.terms import ValueKind
from kg_store.text.english import is_plural
from kg_store.text.inflection import in_other_number

MAX_WORDS: Final = 4
"""The greatest number of words of a value that classifies a thing. Chosen by hand."""

MIN_LETTERS: Final = 3
_WORD: Final = re.compile(r"\w+")
_BEFORE: Final = re.compile(r"(?:([^\W\d_]+(?:['’]t)?)\s+)?\Z")
_BEHIND: Final = re.compile(r"\s+([^\W\d_]+)")
_MAX_LOOK_BACK: Final = 24
_OF_A_NOUN: Final = frozenset(
    "a an the which what all any some no every each many several most few more other another these those only both "
    "two three four five six seven eight nine ten".split()
)
_BEING: Final = frozenset("is are was were be been not isn't aren't wasn't weren't".split())


def find_in_other_number(index: NameIndex, text: str) -> Iterator[NameHit]:
    """Yields whole text values that occur in `text` in the other number (singular or plural); none that are words of
    the schema.
    """
    yield from (hit for hit in find_inflected(index, text) if hit.kind == "value" and hit.value_kind is ValueKind.TEXT)


def find_plural_names(index: NameIndex, text: str) -> Iterator[NameHit]:
    """Yields names that occur in `text` as lower-case plurals: "dogs", if something is called Dog."""
    for hit in find_inflected(index, text):
        typed = text[hit.start : hit.end]
        if hit.kind == "name" and typed.islower() and is_plural(typed.split()[-1]):
            yield hit


def find_inflected(index: NameIndex, text: str) -> Iterator[NameHit]:
    """Yields names and values whose last word occurs in `text` in its other number."""
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
                if hit.end == len(said) and not index.is_own(typed):
                    yield replace(hit, start=start + hit.start, end=word.end())


def with_adjectives(index: NameIndex, text: str, mentions: Sequence[Mention], is_name: IsName) -> list[Mention]:
    """Returns `mentions` with the places behind adjectives added.

    A place precedes a name that the adjective is only part of, where it is used as an adjective: "French actors" does
    not ask for people called French. It precedes several such names everywhere.
    """
    found: dict[tuple[int, int], list[NameHit]] = {}
    for hit in index.find_adjectives(text):
        if hit.linkable:
            found.setdefault((hit.start, hit.end), []).append(hit)
    kept = list(mentions)
    for (start, end), hits in found.items():
        over = [each for each in kept if each.start < end and start < each.end]
        stands_so = is_adjective(index, text, start, end)
        is_meant = stands_so or is_short_name(text[start:end]) or all(len(each.mids) > 1 for each in over)
        is_free = not over or (is_meant and all(_is_part(each, start, end) for each in over))
        named = [hit for hit in hits if not hit.public or stands_so or is_name(start, end)]
        if is_free and named:
            kept = [*(each for each in kept if each not in over), _mention(named)]
    return sorted(kept, key=lambda mention: mention.start)


def _mention(hits: Sequence[NameHit]) -> Mention:
    """The things of that name, or else the values."""
    things = [hit for hit in hits if hit.kind == "name"]
    kind = None if things else hits[0].value_kind
    mids = sorted({mid for hit in things or hits for mid in hit.mids})
    return Mention(hits[0].start, hits[0].end, tuple(mids), kind)


def _is_part(mention: Mention, start: int, end: int) -> bool:
    return mention.inexact and start <= mention.start and mention.end <= end


def is_adjective(index: NameIndex, text: str, start: int, end: int) -> bool:
    """True before a lower-case noun ("a French actor") and at the end of a clause ("is French"); elsewhere it may be a
    name.
    """
    before = _BEFORE.search(text, max(0, start - _MAX_LOOK_BACK), start)
    behind = _BEHIND.match(text, end)
    word = (before[1] or "").lower() if before else ""
    if behind is None:
        return word in _BEING
    noun = behind[1]
    return noun.islower() and (word in _OF_A_NOUN or is_plural(noun) or index.is_own(f"{noun}s"))
