"""Finds what differs in the names of files or sheets that are parts of one table: a year, a month, a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kg_store.lexicon.lexicon import in_any_lexicon, kinds_of
from kg_store.proposals.column_profiles import full_words
from kg_store.text.dates import MONTH
from kg_store.text.literals import is_year

MIN_WORD: Final = 4
"""The fewest letters of an unknown word that may be a name rather than an abbreviation. Chosen by hand."""
TIMES: Final = ("year", "period")
"""The columns of parts that tell when a row holds."""
_YEAR: Final = r"(?<!\d)(?:1[89]|20)\d\d(?!\d)"
_TOKEN: Final = re.compile(rf"{_YEAR}|[^\W_]+?(?={_YEAR}|[\W_]|$)|[\W_]+")
_PERIOD: Final = re.compile(rf"(?=.*(?:{_YEAR}|{MONTH}|Q))(?:{_YEAR}|{MONTH}|[QHW]?\d\d?|[\W_]+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NameParts:
    """Names that differ in one place. `parts`: what stands there in each name, between `before` and `behind`."""

    before: str
    parts: tuple[str, ...]
    behind: str

    @property
    def are_periods(self) -> bool:
        """True for years, months and quarters: the same things may stand in each of them."""
        return all(map(_PERIOD.fullmatch, self.parts))

    @property
    def are_names(self) -> bool:
        """True for words none of which says what a row is: `north`, `Leicester`, but not `customers`."""
        return all(part and not names_a_kind(part) for part in self.parts)

    @property
    def column(self) -> str:
        """The name of a column that holds the parts; empty if these say nothing, such as the numbers of files."""
        if self.are_periods:
            return TIMES[not all(map(is_year, self.parts))]
        return "part" if all(re.fullmatch(r"[^\W\d_]{2,}(?:[\W_]+[^\W\d_]+)*", part) for part in self.parts) else ""


def parts_of(names: Sequence[str]) -> NameParts | None:
    """Returns what differs in `names`, which have no ending; None if one of them has nothing there."""
    tokens = [_TOKEN.findall(name) for name in names]
    least = min(map(len, tokens)) - 1
    first = tokens[0]
    start = next((at for at in range(least + 1) if len({each[at] for each in tokens}) > 1), least)
    end = next((at for at in range(least - start + 1) if len({each[-1 - at] for each in tokens}) > 1), least - start)
    parts = ["".join(each[start : len(each) - end]) for each in tokens]
    if len(set(parts)) < len(parts) or not all(parts):
        return None
    return NameParts("".join(first[:start]), tuple(parts), "".join(first[len(first) - end :]))


def names_a_kind(part: str) -> bool:
    """Returns True if a word says what a row is: a noun, a plural, a common word of another language, a short form."""
    words = full_words(part)
    if not words or any(char.isdigit() for char in part):
        return True
    kinds = kinds_of(words[-1])
    if kinds:
        return "a" not in kinds and "r" not in kinds
    return in_any_lexicon(words[-1]) or len(words[-1]) < MIN_WORD
