"""Reads cells of tables as values: dates in one order, truths in one spelling, numbers with their unit."""

from __future__ import annotations

import re

from kg_store.sources.table_policy import ColumnPolicy
from kg_store.terms import ValueKind
from kg_store.text.literals import parse_value

TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1", "ja", "j", "oui", "si", "sí", "wahr", "x"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0", "nein", "non", "falsch"})
_THREE_PARTS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})((?:[ T]\d{1,2}:\d\d.*)?)")


def read_cell(cell: str, column: ColumnPolicy) -> str | None:
    """Returns the spelling under which a cell's value is stored; None if it is not of the column's kind."""
    if column.kind is ValueKind.DATE:
        return _date(cell, column)
    if column.kind is ValueKind.TRUTH:
        word = cell.lower()
        return "true" if word in TRUE_WORDS else "false" if word in FALSE_WORDS else None
    if column.kind is ValueKind.NUMBER:
        with_unit = f"{cell} {column.unit}"
        if column.unit is not None and is_of(cell, ValueKind.NUMBER) and is_of(with_unit, ValueKind.NUMBER):
            return with_unit
        return cell if is_of(cell, ValueKind.NUMBER) else None
    return cell


def is_of(cell: str, kind: ValueKind) -> bool:
    """True if a cell can be read as a value of `kind`, as people type it."""
    try:
        parse_value(cell, kind)
    except ValueError:
        return False
    return True


def day_and_month(cell: str) -> tuple[int, int] | None:
    """The first two numbers of a date like 05/03/1980; None for any other text."""
    match = _THREE_PARTS.fullmatch(cell)
    return (int(match[1]), int(match[3])) if match else None


def _date(cell: str, column: ColumnPolicy) -> str | None:
    match = _THREE_PARTS.fullmatch(cell)
    if match is not None and column.first is not None:
        day, month = (match[1], match[3]) if column.first == "day" else (match[3], match[1])
        cell = f"{match[4]}-{int(month):02}-{int(day):02}"
    return cell if is_of(cell, ValueKind.DATE) else None
