"""Groups the rows of a name that fit a text alike: they differ only in words that nothing around it can stand for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.names.fuzzy_match import MAX_REACH, TypedText, stands_for
from kg_store.names.name_table import NameTable, Numbers, RowPlaces

_Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Standing:
    """Words of names by number: those that were `asked` about one typed word, and those that it stands for."""

    asked: set[int] = field(default_factory=set)
    words: list[int] = field(default_factory=list)


class TypedWords(TypedText, Protocol):
    """The words of a text, and for each the numbers of the words of names that it may be."""

    def numbers_near(self, at: int) -> Numbers: ...
    def standing(self, at: int) -> Standing: ...


def group_rows(names: NameTable, rows: Numbers, typed: TypedWords, at: int) -> tuple[list[list[int]], int]:
    """`rows` in groups, and how many words on each side of `at` tell what `fit_row` says of them.

    Promise: `fit_row` says the same of all rows of a group at `at`, so that one is enough.
    """
    places = names.places(rows)
    telling = names.are_among(places.words, typed.numbers_near(at))
    reach = max(_mark_beside(names, places, typed, at, step, telling) for step in (-1, 1))
    # A word that nothing stands for counts as any other such word; whether it is needed tells rows apart.
    codes = np.where(telling, places.words, -1) * 2 + places.needed
    data, size = codes.tobytes(), codes.itemsize
    groups: dict[bytes, list[int]] = {}
    for row, begin, end in zip(rows.tolist(), places.begins.tolist(), places.ends.tolist(), strict=True):
        groups.setdefault(data[begin * size : end * size], []).append(row)
    return list(groups.values()), reach


def _mark_beside(names: NameTable, places: RowPlaces, typed: TypedWords, at: int, step: int, telling: _Flags) -> int:
    """Marks what the words on one side of `at` may stand for, as far as any row can be followed that way: so far."""
    open_rows = np.ones(len(places.begins), dtype=np.bool_)
    for beside in range(at + step, at + step * (MAX_REACH + 1), step):
        if not 0 <= beside < len(typed.spellings) or not typed.joins(max(beside, beside - step)):
            break
        open_places = np.repeat(open_rows, places.lengths)
        met = open_places & _meant(names, places.words, typed, beside)
        telling |= met
        if not typed.is_initial(beside):  # An initial that a row lacks is passed over.
            open_rows &= np.logical_or.reduceat(met, places.begins)
        if not open_rows.any():
            break
    return abs(beside - at)


def _meant(names: NameTable, words: Numbers, typed: TypedWords, beside: int) -> _Flags:
    """The ones of `words` that the typed word may be, or stand for."""
    meant = names.are_among(words, typed.numbers_near(beside))
    begun = names.begin_with(words, typed.spellings[beside][0])
    known = typed.standing(beside)
    fresh = set(words[begun].tolist()) - known.asked
    known.asked |= fresh
    known.words += [word for word in fresh if stands_for(typed, beside, names.words[word])]
    return meant | names.are_among(words, np.array(known.words, dtype=np.int32)) if known.words else meant
