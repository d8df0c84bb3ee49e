"""Reads the cells of tables as values: numbers, dates, yes or no, as people type them."""

from __future__ import annotations

from kg_store.sources.table_policy import ColumnPolicy
from kg_store.terms import ValueKind
from kg_store.text.literals import FALSE_WORDS, TRUE_WORDS, parse_value
from kg_store.text.notation import compact_date, date_of_serial, is_serial, iso_date, plain_number_in, worded_date


def read_cell(cell: str, column: ColumnPolicy) -> str | None:
    """Returns the spelling under which a cell's value is stored; None if it is not of the column's kind."""
    if column.kind is ValueKind.DATE:
        return _date_in(cell, column)
    if column.kind is ValueKind.TRUTH:
        word = cell.lower()
        return "true" if word in TRUE_WORDS else "false" if word in FALSE_WORDS else None
    if column.kind is ValueKind.NUMBER:
        if column.decimal is not None or not is_of(cell, ValueKind.NUMBER):
            cell = plain_number_in(cell, column.decimal or ".")
            if not is_of(cell, ValueKind.NUMBER):
                return None
        with_unit = f"{cell} {column.unit}"
        return with_unit if column.unit is not None and is_of(with_unit, ValueKind.NUMBER) else cell
    return cell


def _date_in(cell: str, column: ColumnPolicy) -> str | None:
    if column.serial and is_serial(cell):
        return date_of_serial(cell)
    cell = compact_date(cell) or iso_date(cell, column.first) or cell
    return cell if is_of(cell, ValueKind.DATE) else worded_date(cell)


def is_of(cell: str, kind: ValueKind) -> bool:
    """Returns True if a cell can be read as a value of `kind`, as people type it."""
    try:
        parse_value(cell, kind)
    except ValueError:
        return False
    return True
