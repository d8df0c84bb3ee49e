"""Finds columns whose headers are years: `2019`, `2020`, `2021` beside a country are its figures of those years."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from kg_store.proposals.column_profiles import FILE_WORDS, NAME_WORDS, Column, full_words, unit_of
from kg_store.sources.table_policy import SpreadPolicy, as_label
from kg_store.terms import ValueKind

MIN_SPREAD: Final = 3
"""The fewest years in headers that are values: two columns may as well be compared with each other. By hand."""
OF_CELLS: Final = "value"
"""The relation to the cells where neither the headers nor the file's name say what they are."""
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_DIGIT: Final = re.compile(r"\d")


def years_in(header: Iterable[str]) -> dict[str, dict[str, str]]:
    """Returns, by what the headers say beside it, the columns with a year in their header, and that year.

    Only those that say the same with MIN_SPREAD years or more, in order: a row of data is no header.
    """
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in header:
        years = set(_YEAR.findall(name))
        rest = _YEAR.sub(" ", name)
        if len(years) == 1 and not _DIGIT.search(rest):
            # The World Bank writes `2019 [YR2019]`.
            words = [word for word in full_words(rest) if word != "yr"]
            found[" ".join(words)][name] = years.pop()
    return {words: of for words, of in found.items() if len(of) >= MIN_SPREAD and _are_in_order([*of.values()])}


def _are_in_order(years: Sequence[str]) -> bool:
    steps = {int(later) > int(earlier) for earlier, later in pairwise(years)}
    return len(steps) == 1 and len(set(years)) == len(years)


def spread_of(columns: Mapping[str, Column], of_file: Sequence[str]) -> tuple[SpreadPolicy, ...]:
    """Returns the groups of columns of numbers whose headers are years. `of_file`: the words of the file's name."""
    found = years_in(columns)
    if sum(map(len, found.values())) == len(columns):
        return ()  # Nothing is left that the figures could be of.
    named = " ".join(word for word in of_file if word.isalpha() and word not in FILE_WORDS)
    return tuple(
        SpreadPolicy(
            relation=as_label(words) or as_label(named) or OF_CELLS,
            unit=unit_of(next(iter(of))),
            empty=tuple(sorted({mark for name in of for mark in columns[name].empty})),
            columns=of,
        )
        for words, of in found.items()
        if any(columns[name].cells for name in of)
        and all(columns[name].kind is ValueKind.NUMBER for name in of if columns[name].cells)
    )


def row_words(columns: Iterable[Column]) -> list[str]:
    """Returns the words for a row whose file is called after its figures: those of its first column of texts."""
    first = next((each for each in columns if each.kind is ValueKind.TEXT and each.cells), None)
    return [word for word in first.full if word not in NAME_WORDS] if first is not None else []
