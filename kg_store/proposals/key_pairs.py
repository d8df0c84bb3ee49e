"""Finds keys of two columns: `yearID` and `teamID` together tell rows apart, and other tables refer to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import exp

from kg_store.proposals.column_profiles import KEY_WORDS, LONG_TEXT, any_alike
from kg_store.proposals.references import MAX_CHANCE, MIN_DISTINCT, MIN_KNOWN_WITHOUT_WORDS
from kg_store.proposals.table_profiles import TableProfile, find_names

MAX_SHARED_COLUMNS = 12
"""Of two tables that share more columns than this, only the first ones are tried."""


def with_pairs(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns `tables`; one without a key of its own has a pair of columns as its key, if another table refers by it.

    Its rows need a name. That two columns are unique together may be chance; so one must be called like the table, or
    there must be so few different cells that the rows would meet by chance, or a database declares the key.
    """
    found = []
    for table in tables:
        own = table.columns.get(table.key or "")
        pair = None if own is not None and own.is_called_key else next(_pairs(table, tables), None)
        found.append(table if pair is None else replace(table, key=pair[0], key_beside=pair[1:]))
    return found


def find_pair_targets(
    table: TableProfile, tables: Sequence[TableProfile]
) -> dict[str, tuple[TableProfile, tuple[str, ...]]]:
    """Returns the references by several columns: the first one, with the table that it leads to and the others."""
    found = {}
    for other in tables:
        key = (other.key or "", *other.key_beside)
        if other is not table and other.key_beside and (columns := _referring(table, other, key)):
            found[columns[0]] = other, columns[1:]
    return found


def _pairs(table: TableProfile, tables: Sequence[TableProfile]) -> Iterator[tuple[str, ...]]:
    declared = table.declared.key if table.declared is not None else ()
    names = find_names(replace(table, key=None), frozenset())
    called = {part for name in names for part in ((name,) if isinstance(name, str) else name)}
    if not called:
        return
    others = [other for other in tables if other is not table]
    shared = [
        column.name
        for column in table.columns.values()
        if column.name not in called
        and len(column.cells) == table.rows
        and not LONG_TEXT & set(column.full)
        and (column.name in declared or any(_same(column.name, other) for other in others))
    ]
    candidates = [declared] if len(declared) > 1 else [*combinations(shared[:MAX_SHARED_COLUMNS], 2)]
    for pair in candidates:
        speaks = _speaking(pair, table)
        is_certain = pair == declared or speaks is not None or _meet_by_chance(pair, table)
        key = (speaks or pair[-1], *(name for name in pair if name != (speaks or pair[-1])))
        if is_certain and set(pair) <= set(shared) and len(_cells(table, key)) == table.rows:
            yield from [key] if any(_referring(other, table, key) for other in others) else []


def _speaking(pair: Sequence[str], table: TableProfile) -> str | None:
    """Returns the column of a pair that is called like the table's rows: `teamID` of teams."""
    words = {name: [word for word in table.columns[name].full if word not in KEY_WORDS] for name in pair}
    return next((name for name, each in words.items() if any_alike(each, table.concept_words[-1:])), None)


def _meet_by_chance(pair: Sequence[str], table: TableProfile) -> bool:
    """Returns True if two rows would most likely have the same pair of cells if the cells were dealt by chance."""
    first, second = (len(table.columns[name].distinct) for name in pair)
    return exp(-(table.rows**2) / (2 * first * second)) <= MAX_CHANCE


def _referring(table: TableProfile, other: TableProfile, key: Sequence[str]) -> tuple[str, ...]:
    """Returns the columns of `table` that are called like the key of `other`, if it has nearly all of their rows."""
    columns = _declared(table, other, key) or tuple(filter(None, (_same(name, table) for name in key)))
    if len(columns) < len(key) or any(len(table.columns[name].cells) < table.rows for name in columns):
        return ()
    cells, known = _cells(table, columns), _cells(other, key)
    rows = zip(*(table.columns[name].cells for name in columns), strict=True)
    held = sum(row in known for row in rows)
    is_there = len(cells) >= min(MIN_DISTINCT, table.rows) and held >= MIN_KNOWN_WITHOUT_WORDS * table.rows > 0
    return columns if is_there else ()


def _declared(table: TableProfile, other: TableProfile, key: Sequence[str]) -> tuple[str, ...]:
    """Returns the columns of `table` that a database declares to refer to the key of `other`, in its order."""
    for columns, (title, theirs) in table.declared.references.items() if table.declared is not None else ():
        if other.file == f"{table.file.partition('/')[0]}/{title}" and set(theirs) == set(key):
            return tuple(columns[theirs.index(name)] for name in key)
    return ()


def _same(name: str, table: TableProfile) -> str | None:
    return next((each for each in table.columns if each.casefold() == name.casefold()), None)


def _cells(table: TableProfile, columns: Sequence[str]) -> set[tuple[str, ...]]:
    return set(zip(*(table.columns[name].cells for name in columns), strict=True))
