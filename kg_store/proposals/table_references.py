"""References between tables: columns whose cells are the keys of another, told by their words and by their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kg_store.proposals.column_profiles import Column
from kg_store.proposals.column_words import COUNT_WORDS, KEY_WORDS, LEADING_WORDS, LONG_TEXT, OF_THE_SAME, any_alike
from kg_store.proposals.table_keys import TableProfile

MIN_KNOWN = 0.5
"""The share of cells that are keys of the other table, where the words of a column speak of it."""
MIN_KNOWN_WITHOUT_WORDS = 0.95
MIN_DISTINCT = 3


def find_target(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """The table that a column refers to: the one that most of its cells are keys of, and its words speak of."""
    if column.name == table.key or not column.cells or COUNT_WORDS & set(column.full) or LONG_TEXT & set(column.full):
        return None
    ranked = [
        (_rank(column, table, other, share), -place, other)
        for place, other in enumerate(tables)
        if other.key is not None and (share := _known(column, other)) > 0
    ]
    best = max(ranked, key=lambda each: each[:2], default=None)
    if best is not None and best[0] > 0:
        return best[2]
    leads = column.is_called_key or (bool(column.full) and column.full[-1] in LEADING_WORDS)
    # Small figures are keys of many tables: only one may have them all.
    holding = [other for *_, other in ranked if _known(column, other) == 1 and other is not table]
    is_sure = leads and len(holding) == 1 and len(column.distinct) >= MIN_DISTINCT
    return holding[0] if is_sure else None


def _known(column: Column, other: TableProfile) -> float:
    return sum(cell in other.keys for cell in column.cells) / len(column.cells)


def _rank(column: Column, table: TableProfile, other: TableProfile, share: float) -> float:
    """How well it fits, 0 for not at all: the words first, then the share of cells."""
    assert other.key is not None
    key = other.columns[other.key]
    rest = [word for word in column.full if word not in KEY_WORDS]
    if other is table:
        speaks = bool(OF_THE_SAME & set(column.full)) or (column.is_called_key and share >= MIN_KNOWN_WITHOUT_WORDS)
        return (
            (2 + share)
            if speaks and share > MIN_KNOWN and _is_telling(key) + bool(OF_THE_SAME & set(column.full))
            else 0
        )
    if column.name == key.name and share > MIN_KNOWN:
        return 5 + share
    if other.concept_words and any_alike(rest, other.concept_words) and share > MIN_KNOWN:
        return 4 + share
    key_rest = [word for word in key.full if word not in KEY_WORDS]
    if key_rest and any_alike(rest, key_rest) and share > MIN_KNOWN:
        return 3 + share
    if share < MIN_KNOWN_WITHOUT_WORDS or len(column.distinct) < min(MIN_DISTINCT, table.rows):
        return 0
    # Small figures are keys of everything: without words only keys that are unlike figures tell.
    return (1 + share) if _is_telling(key) or (column.is_called_key and _is_long(key)) else 0


def _is_telling(key: Column) -> bool:
    return not all(cell.isdigit() for cell in key.distinct)


def _is_long(key: Column) -> bool:
    return all(len(cell) >= 4 for cell in key.distinct)


def with_links(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """`tables`, those without a key where theirs is another table's: a table that joins others is none of things."""
    found = []
    for table in tables:
        others = [other for other in tables if other is not table]
        found.append(table.without_key() if table.key is not None and _is_borrowed(table, others) else table)
    return found


def _is_borrowed(table: TableProfile, others: Sequence[TableProfile]) -> bool:
    """True where the key is a reference, and so is another column: the rows are joined by it, not told apart."""
    assert table.key is not None
    keyless = replace(table, key=None)
    key = table.columns[table.key]
    rest = [word for word in key.full if word not in KEY_WORDS]
    if not rest or (table.concept_words and any_alike(rest, table.concept_words[-1:])):
        return False
    if find_target(key, keyless, others) is None:
        return False
    return any(find_target(each, keyless, others) is not None for each in table.columns.values() if each is not key)
