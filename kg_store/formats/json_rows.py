"""Reads rows of a JSON file that are no list of objects: lists in a list, and objects by their keys.

The names of the columns of lists stand beside the rows, `{"columns": ["name", "age"], "data": [["Ann", 31]]}`, or in
the first row; otherwise the columns are called by their numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kg_store.terms import ValueKind
from kg_store.text.literals import fits

SEPARATOR: Final = "\x1f"
"""Separates the values of one list within a cell; texts do not hold it."""
VALUE: Final = "value"
# A mark in front, so that no key of an object is taken for a place in a row.
_PLACE: Final = "\x02column "
MAX_NAMES: Final = 2_000


def as_record(item: object) -> dict[str, Any]:
    """Returns an item of a list as an object: a list as a row with numbered columns, a plain value as its `value`."""
    if isinstance(item, dict):
        return item
    if isinstance(item, list):
        return {f"{_PLACE}{number}": each for number, each in enumerate(item, start=1)}
    return {VALUE: item}


@dataclass(slots=True)
class RowNames:
    """Finds the names of the columns of rows that are lists, while the records of a file are seen.

    `used`: the tables of which the names were taken; they tell nothing more.
    """

    used: set[str] = field(default_factory=set)
    _listed: dict[str, list[str]] = field(default_factory=dict)
    _first: dict[str, dict[str, str]] = field(default_factory=dict)
    _typed: dict[str, dict[str, bool]] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)

    def see(self, title: str, cells: Mapping[str, str]) -> None:
        """Notes what a record tells of names. `title`: its table."""
        places = [column for column in cells if column.startswith(_PLACE)]
        if places and title not in self._first:
            self._first[title] = {place: cells[place] for place in places}
            return
        for place in places:
            typed = self._typed.setdefault(title, {})
            typed[place] = typed.get(place, True) and (cells[place] == "" or _is_value(cells[place]))
        if not places:
            self._listed.update({key: cell.split(SEPARATOR) for key, cell in cells.items() if SEPARATOR in cell})
            told = self._listed.setdefault(title, [])
            if len(told) <= MAX_NAMES:
                told.append(cells.get(VALUE, ""))

    def header_of(self, title: str, columns: Sequence[str]) -> tuple[list[str], bool]:
        """Returns the names of a table's columns; and True if its first record holds them."""
        places = [column for column in columns if column.startswith(_PLACE)]
        names: dict[str, str] = {}
        first = [*self._first.get(title, {}).values()]
        beside = [key for key, told in self._listed.items() if len(told) == len(places) and _are_names(told)]
        is_first = False
        if places and len(beside) == 1:
            names = dict(zip(places, self._listed[beside[0]], strict=True))
            self.used.update(beside)
            self._notes[title] = (
                f"list of rows of {{}} has the names of its columns from the list `{beside[0]}` beside it"
            )
        elif places and len(first) == len(places) and _are_names(first) and any(self._typed.get(title, {}).values()):
            names, is_first = dict(zip(places, first, strict=True)), True
        elif places:
            self._notes[title] = "list of rows of {} has no names of columns: they are called by their numbers"
        return [names.get(column, column.removeprefix("\x02")) for column in columns], is_first

    def notes_on(self, title: str, file: str) -> Iterator[tuple[int, str]]:
        """Yields a (count, sentence) on the names of a table's columns. To be called after `header_of`."""
        if title in self._notes:
            yield 1, self._notes[title].format(file)


def _are_names(cells: Sequence[str]) -> bool:
    return all(cells) and len(set(cells)) == len(cells) and not any(map(_is_value, cells))


def _is_value(cell: str) -> bool:
    return fits(cell, ValueKind.NUMBER) or fits(cell, ValueKind.DATE)


MIN_ALIKE: Final = 5
"""Keys are also data if an object holds at least this many objects that all have the same keys. Chosen by hand."""
KEY: Final = "key"


def is_map(record: Mapping[str, Any]) -> bool:
    """Returns True for an object that holds records by their keys: `{"2": {"name": ...}, "7": {"name": ...}}`."""
    children = [each for each in record.values() if isinstance(each, dict) and each]
    if len(record) < MIN_ALIKE or len(children) < len(record):
        return False
    uses = Counter(key for child in children for key in child)
    usual = sum(count * 2 > len(children) for count in uses.values())
    return usual * 2 > len(uses)


def records_of_map(record: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yields each record of the object, with its key in a column of its own unless it has one with the same cells."""
    fields = set.intersection(*(set(child) for child in record.values()))
    has_own = any(all(str(child[field]) == key for key, child in record.items()) for field in fields)
    for number, (key, child) in enumerate(record.items(), start=1):
        yield "", number, as_record(child if has_own else {KEY: key} | child)
