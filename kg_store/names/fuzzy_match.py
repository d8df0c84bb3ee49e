"""Compares typed words with the words of one name, allowing another order, initials and misspellings (slips)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.names.name_table import ROMAN_NUMERALS, NameRow, NameTable, Numbers, RowPlaces
from kg_store.names.name_words import COMMON_WORDS
from kg_store.text.english import is_ordinary
from kg_store.text.normalise import is_letters
from kg_store.text.words import slips_allowed

COST_OF_SLIP = 0.08
COST_OF_INITIAL = 0.05
COST_OF_ORDER = 0.03
COST_OF_LEFT_OUT = 0.04
COST_OF_UNNEEDED = 0.01
SCORE_OF_FIRST_AND_LAST = 0.9
SCORE_OF_PART = 0.6
"""The score of a mention that leaves out one end of a name of at most three words; longer names cost more."""

_WINDOW = 8
MAX_REACH = 2 * _WINDOW
"""The greatest number of typed words on each side that may belong to a name, including skipped initials."""

_USUAL_LENGTH = 3
_MAX_LEFT_OUT = 2
_MIN_SHORT_LENGTH = 3


_Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Standing:
    """A cache for one typed word: the numbers of the name words that it stands for as an initial or short form.

    `asked`: the name words that were checked; `words`: those of them that it stands for.
    """

    asked: set[int] = field(default_factory=set)
    words: list[int] = field(default_factory=list)


class TypedWords(Protocol):
    """The words that a person typed; `at` is the position of a word among them.

    `joins`: no border separates the word from the one before. `near`: the numbers of the name words that it may be,
    each with its number of slips (misspelt letters). `numbers_near`: these numbers alone, sorted. `standing`: the
    cache of `stands_for`.
    """

    @property
    def spellings(self) -> Sequence[str]: ...
    def joins(self, at: int) -> bool: ...
    def near(self, at: int) -> Mapping[int, int]: ...
    def numbers_near(self, at: int) -> Numbers: ...
    def standing(self, at: int) -> Standing: ...
    def is_initial(self, at: int) -> bool: ...
    def is_everyday(self, at: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class RowMatch:
    """The typed words from `first` to `last`, which stand for a name.

    `whole`: they stand for the whole name, although function words or middle names may be missing; otherwise they are
    only a part of it, such as a surname.
    """

    first: int
    last: int
    score: float
    whole: bool
    slips: int


@dataclass(slots=True)
class _Matching:
    """For each typed word that was matched the position of its word in the name, and the slips that were needed.

    `letters` is the total length of the matched words, `initials` the positions in the name that are matched by one
    letter or a short form.
    """

    used: dict[int, int]
    slips: int
    letters: int
    initials: set[int] = field(default_factory=set)


def fit_row(row: NameRow, typed: TypedWords, at: int) -> RowMatch | None:
    """Returns the best match of the name `row` with the typed words around position `at`; None if none fits."""
    fits, near = [], typed.near(at)
    for place, word in enumerate(row.words):
        slips = near.get(word)
        if slips is not None:
            # The words beside it may spoil the match (Smilla S.); the word alone may still be part of the name.
            alone, found = (_Matching({at: place}, slips, _letters(row, place, typed, at)) for _ in range(2))
            _extend(found, row, typed, at, -1)
            _extend(found, row, typed, at, +1)
            fits.append(_judge(found, row, typed) or _judge(alone, row, typed))
    return max((fit for fit in fits if fit is not None), key=lambda fit: fit.score, default=None)


def _extend(found: _Matching, row: NameRow, typed: TypedWords, at: int, step: int) -> None:
    """Matches the typed words on one side of `at`, one after another, as long as they are words of the row (a name).

    An initial that the row lacks is skipped.
    """
    for _ in range(_WINDOW):
        beside = at + step
        if not 0 <= beside < len(typed.spellings) or not typed.joins(max(at, beside)):
            return
        if _take(found, row, typed, beside, found.used[at] + step):
            at = beside
            continue
        beyond = beside + step
        passes = typed.is_initial(beside) and 0 <= beyond < len(typed.spellings) and typed.joins(max(beside, beyond))
        if not passes or not _take(found, row, typed, beyond, found.used[at] + step):
            return
        at = beyond


def _take(found: _Matching, row: NameRow, typed: TypedWords, at: int, wanted: int) -> bool:
    """Matches typed word `at` with a word of the row that is not matched yet; returns False if none fits.

    The row's word at position `wanted`, or the nearest to it, is preferred.
    """
    taken, near = found.used.values(), typed.near(at)
    free = [place for place in range(len(row.words)) if place not in taken]
    able = [(near[row.words[place]], abs(place - wanted), place) for place in free if row.words[place] in near]
    if able:
        slips, _, place = min(able)
        found.used[at] = place
        found.slips += slips
        found.letters += _letters(row, place, typed, at)
        return True
    standing = [(abs(place - wanted), place) for place in free if stands_for(typed, at, row.spelt[place])]
    if not standing:
        return False
    _, place = min(standing)
    found.used[at] = place
    found.initials.add(place)
    return True


def _letters(row: NameRow, place: int, typed: TypedWords, at: int) -> int:
    """Returns the length of the name's word or of the typed word, whichever is longer.

    A slip may have dropped a letter, so the longer one counts.
    """
    return max(len(row.spelt[place]), len(typed.spellings[at]))


def stands_for(typed: TypedWords, at: int, word: str) -> bool:
    """Returns True if the typed word is an initial or short form (Ben) of `word`, or `word` is its initial."""
    said = typed.spellings[at]
    if said[0] != word[0]:
        return False
    if typed.is_initial(at):
        return True
    if len(word) == 1:
        return is_letters(said) and said not in COMMON_WORDS and said not in ROMAN_NUMERALS
    return not typed.is_everyday(at) and len(said) >= _MIN_SHORT_LENGTH and word.startswith(said)


def _judge(found: _Matching, row: NameRow, typed: TypedWords) -> RowMatch | None:
    """Returns the match with its score; None if the typed words are too few or too different to mean this name.

    Function words at the ends of a partial match are cut off.
    """
    needed = [place for place, each in enumerate(row.needed) if each]
    first, last = min(found.used), max(found.used)
    used = found.used.values()
    told = [place for place in needed if place in used]
    if not told or found.slips > slips_allowed(found.letters):
        return None
    whole = told == needed
    if not whole:
        while found.used[first] not in told:
            first = min(at for at in found.used if at > first)
        while found.used[last] not in told:
            last = max(at for at in found.used if at < last)
    places = [found.used[at] for at in sorted(found.used) if first <= at <= last]
    if needed[-1] in found.initials or _is_jumbled(places):
        return None
    cost = (
        COST_OF_SLIP * found.slips + COST_OF_INITIAL * len(found.initials) + COST_OF_ORDER * (places != sorted(places))
    )
    if whole:
        return RowMatch(first, last, 1.0 - cost - COST_OF_UNNEEDED * (len(row.words) - len(places)), True, found.slips)
    left_out = len(needed) - len(told)
    if needed[-1] in told and needed[0] in told and left_out <= _MAX_LEFT_OUT and not _is_title(typed, first):
        return RowMatch(first, last, SCORE_OF_FIRST_AND_LAST - COST_OF_LEFT_OUT * left_out - cost, True, found.slips)
    if found.initials or told not in (needed[-len(told) :], needed[: len(told)]):
        return None
    cost += COST_OF_LEFT_OUT * max(0, len(needed) - _USUAL_LENGTH)
    return RowMatch(first, last, SCORE_OF_PART + COST_OF_LEFT_OUT * (len(told) - 1) - cost, False, found.slips)


def _is_jumbled(places: Sequence[int]) -> bool:
    """Returns True if the words are out of order, except for a last word that was put first (Smith, John)."""
    return sum(after < before for before, after in pairwise(places)) > 1


def _is_title(typed: TypedWords, first: int) -> bool:
    """Returns True if the first typed word is an everyday word, as in the title of a film or book.

    Middle words may be missing from names of people, but not from titles.
    """
    return is_ordinary(typed.spellings[first]) and not typed.is_initial(first)


def group_rows(names: NameTable, rows: Numbers, typed: TypedWords, at: int) -> tuple[list[list[int]], int]:
    """Returns (groups, reach): `rows` in groups, so that `fit_row` at `at` gives one result for a whole group.

    `reach`: these results depend only on the `reach` typed words before `at` and the `reach` words after it.
    """
    places = names.places(rows)
    telling = names.are_among(places.words, typed.numbers_near(at))
    reach = max(_mark_beside(names, places, typed, at, step, telling) for step in (-1, 1))
    # All words that no typed word may mean count as one word; only whether they are needed makes a difference.
    codes = np.where(telling, places.words, -1) * 2 + places.needed
    data, size = codes.tobytes(), codes.itemsize
    groups: dict[bytes, list[int]] = {}
    for row, begin, end in zip(rows.tolist(), places.begins.tolist(), places.ends.tolist(), strict=True):
        groups.setdefault(data[begin * size : end * size], []).append(row)
    return list(groups.values()), reach


def _mark_beside(names: NameTable, places: RowPlaces, typed: TypedWords, at: int, step: int, telling: _Flags) -> int:
    """Sets the flags in `telling` of those words of rows that a typed word on one side of `at` may mean.

    `step` is -1 for the words before `at`, 1 for those after it. Stops at a typed word that continues no row. Returns
    the number of typed words that were looked at.
    """
    open_rows = np.ones(len(places.begins), dtype=np.bool_)
    for beside in range(at + step, at + step * (MAX_REACH + 1), step):
        if not 0 <= beside < len(typed.spellings) or not typed.joins(max(beside, beside - step)):
            break
        open_places = np.repeat(open_rows, places.lengths)
        met = open_places & _meant(names, places.words, typed, beside)
        telling |= met
        if not typed.is_initial(beside):  # An initial that a row lacks is skipped.
            open_rows &= np.logical_or.reduceat(met, places.begins)
        if not open_rows.any():
            break
    return abs(beside - at)


def _meant(names: NameTable, words: Numbers, typed: TypedWords, beside: int) -> _Flags:
    """Returns a flag for each of `words`: the typed word at `beside` may mean it.

    It may be that word itself, misspelt or not, or stand for it as an initial or a short form.
    """
    meant = names.are_among(words, typed.numbers_near(beside))
    begun = names.begin_with(words, typed.spellings[beside][0])
    known = typed.standing(beside)
    fresh = set(words[begun].tolist()) - known.asked
    known.asked |= fresh
    known.words += [word for word in fresh if stands_for(typed, beside, names.words[word])]
    return meant | names.are_among(words, np.array(known.words, dtype=np.int32)) if known.words else meant
