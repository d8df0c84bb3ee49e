"""References between tables: columns whose cells are keys or names of another, told by their words and cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kg_store.formats.json_records import PARENT
from kg_store.proposals.column_profiles import Column
from kg_store.proposals.column_words import (
    CONCEPTS,
    COUNT_WORDS,
    KEY_WORDS,
    LEADING_WORDS,
    LONG_TEXT,
    OF_THE_SAME,
    any_alike,
)
from kg_store.proposals.table_keys import TableProfile, find_names
from kg_store.terms import ValueKind
from kg_store.text.literals import is_year

MIN_KNOWN = 0.5
"""The share of cells that are keys of the other table, where the words of a column speak of it."""
MIN_KNOWN_WITHOUT_WORDS = 0.95
MIN_DISTINCT = 3
MIN_FIGURES = 5
"""So many different figures that are all keys of one table are no chance, where its keys lie close together."""
MIN_DIGITS, MIN_DIGITS_OF_CODES = 4, 8


def find_target(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """The table that a column refers to: the one that most of its cells are keys of, and its words speak of."""
    if column.name == table.key or not column.cells or COUNT_WORDS & set(column.full) or LONG_TEXT & set(column.full):
        return None
    owner = _owner(column, table, tables)
    if owner is not None and owner.key is not None and _known(column, owner) >= MIN_KNOWN_WITHOUT_WORDS:
        return owner
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
    if len(holding) != 1:
        return None
    is_sure = (leads and len(column.distinct) >= MIN_DISTINCT) or _are_figures_of(column, holding[0])
    return holding[0] if is_sure else None


def find_named_target(
    column: Column, table: TableProfile, tables: Sequence[TableProfile]
) -> tuple[TableProfile, str] | None:
    """The one table of which a column holds names, short signs or e-mails instead of keys, and the column of those."""
    if (owner := _owner(column, table, tables)) is not None and owner.key is not None:
        told = next((each.name for each in owner.columns.values() if each.is_unique and _holds(each, column)), None)
        return None if told is None else (owner, told)
    is_text = column.kind is ValueKind.TEXT and not LONG_TEXT & set(column.full)
    if not is_text or column.name == table.key or len(set(column.parts)) < MIN_DISTINCT:
        return None
    # A list of what is told by another column of the same table: the countries that border one.
    may_be_own = bool(OF_THE_SAME & set(column.full)) or column.separator is not None
    others = [other for other in tables if other is not table or may_be_own]
    if column.is_unique and column.separator is None:
        # Texts of which each row has its own are names of its own, unless the column is called like the others.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    if CONCEPTS & set(column.full):
        # A subject may be called as a department is, and is none.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    found = [
        (other, by)
        for other in others
        if (by := next((each.name for each in _told_by(other) if _holds(each, column)), None)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _owner(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """The table of the records that hold the rows of `table` as a list, where `column` refers to them."""
    if column.name != PARENT or "/" not in table.file:
        return None
    holder = table.file.rpartition("/")[0]
    return next((other for other in tables if other.file == holder), None)


def _told_by(table: TableProfile) -> Iterator[Column]:
    """The columns that tell the rows of a table apart beside its key, as people use them."""
    names = {each for each in find_names(table, frozenset()) if isinstance(each, str)} - {table.key}
    for column in table.columns.values():
        is_filled = bool(column.cells) and len(column.distinct) == len(column.cells) >= MIN_KNOWN * table.rows
        if table.key is not None and is_filled and (column.name in names or column.holds_emails or column.is_sign):
            yield column


def _holds(told: Column, column: Column) -> bool:
    """True of the cells of `column` that are nearly all cells of `told`; of one name and a key, most of them."""
    needed = MIN_KNOWN if column.name == told.name and told.is_called_key else MIN_KNOWN_WITHOUT_WORDS
    return sum(cell in told.distinct for cell in column.parts) >= needed * len(column.parts)


def _known(column: Column, other: TableProfile) -> float:
    return sum(cell in other.keys for cell in column.parts) / len(column.parts)


def _are_figures_of(column: Column, other: TableProfile) -> bool:
    """True of many figures that are all keys of a table whose keys lie in a narrow band, such as 4100 to 4190."""
    assert other.key is not None
    keys = other.columns[other.key].distinct
    if column.is_unique or len(column.distinct) < MIN_FIGURES or all(map(is_year, column.distinct)):
        return False
    if not all(key.isdecimal() and len(key) >= MIN_DIGITS for key in keys):
        return False
    figures = [int(key) for key in keys]
    return max(figures) < 2 * min(figures)


def _rank(column: Column, table: TableProfile, other: TableProfile, share: float) -> float:
    """A figure for the fit, 0 for none: the words first, then the share of cells."""
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
    if rest and tuple(rest) == other.concept_words and share > MIN_KNOWN:
        return 6 + share
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
    """True of keys that no count is like: with letters or marks, a zero in front, or many digits."""
    if not all(cell.isdigit() for cell in key.distinct):
        return True
    return any(cell[0] == "0" and len(cell) > 1 for cell in key.distinct) or min(map(len, key.distinct)) >= (
        MIN_DIGITS_OF_CODES
    )


def _is_long(key: Column) -> bool:
    return all(len(cell) >= MIN_DIGITS for cell in key.distinct)


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
    target = find_target(key, keyless, others)
    if not rest or target is None:
        return False
    # A table of orders may tell them apart by an order's number; `place_isPartOf_place` is none of places, if one is.
    is_of_rest = any_alike(rest, target.concept_words) and len(target.concept_words) < len(table.concept_words)
    if table.concept_words and any_alike(rest, table.concept_words[-1:]) and not is_of_rest:
        return False
    return any(find_target(each, keyless, others) is not None for each in table.columns.values() if each is not key)
