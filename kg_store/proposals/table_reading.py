"""Reads the sheets of one table into a profile: its header, its columns, its key and the kind of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import DeclaredKeys
from kg_store.formats.files import Encoding, encoding_of
from kg_store.formats.json_records import JSON_ENDINGS, refers_to_parent
from kg_store.proposals.column_profiles import Column, full_words
from kg_store.proposals.header_evidence import (
    MIN_HEADED_ROWS,
    MIN_VALUE_COLUMNS,
    MIN_VALUE_ROWS,
    first_line_is_header,
    first_line_stands_apart,
    has_key_or_name,
    is_called_as_table,
    is_value,
    may_be_header,
)
from kg_store.proposals.name_parts import TIMES
from kg_store.proposals.sheet_groups import SheetGroup
from kg_store.proposals.spread_columns import row_words, spread_of, years_in
from kg_store.proposals.table_profiles import TableProfile, concept_words, find_key, find_names
from kg_store.proposals.total_rows import find_totals
from kg_store.sources.table_files import TABLE_ENDINGS, TEXT_ENDINGS, Sheet, bare_name, delimiter_of, sheets_of
from kg_store.sources.table_policy import MAX_COLUMN_CHARS, TablePolicy

NO_HEADER, MIN_ROWS = 0, 2
"""Lines without a header are rows of a table if they are at least MIN_ROWS, and a column holds numbers or dates."""
NO_CERTAIN_HEADER = (
    "lines stand above this one, and it is not certain that it is the header: say its line as `header_row` in the "
    "[[tables]] of the policy, or take away the lines above the header"
)


def sheets_in(path: Path, beside: Sequence[Path]) -> list[Sheet]:
    if Path(bare_name(path)).suffix.lower() not in TABLE_ENDINGS or len(bare_name(path)) > MAX_COLUMN_CHARS:
        return []
    try:
        return sheets_of(path, beside)
    except LoadError:
        if Path(bare_name(path)).suffix.lower() in TEXT_ENDINGS:
            return []
        raise


def profile_of(
    group: SheetGroup, header_row: int | None
) -> tuple[TableProfile | None, set[Path], list[tuple[Path, LoadError]]]:
    """Returns the profile of a table, the files that are read for it, and the errors of its broken sheets.

    The profile is None if no sheet can be read or it is not a table.
    """
    errors: list[tuple[Path, LoadError]] = []
    parts: list[tuple[Sheet, int, dict[str, list[str]]]] = []
    for sheet in group.sheets:
        try:
            part = _part(sheet) if header_row is None else _without_header(sheet)
            parts += [(sheet, *part)] if part is not None else []
        except LoadError as error:
            errors.append((sheet.path, error))
    if not parts or len(group.file) > MAX_COLUMN_CHARS:
        return None, set(), errors
    return _of_parts(group, parts), {sheet.path for sheet, *_ in parts}, errors


def _part(sheet: Sheet) -> tuple[int, dict[str, list[str]]] | None:
    """Returns the line of a sheet's header, and its columns; None if it is no table. Raises LoadError if it is
    broken.
    """
    is_text = sheet.ending in TEXT_ENDINGS
    is_called = not is_text
    try:
        line, header = next(sheet.lines())
        if not may_be_header(header, is_text):
            return None
        is_called = is_called or is_called_as_table(header, delimiter_of(sheet.path))
        columns = _columns(sheet)
    except LoadError:
        if is_called:
            raise
        return None
    if not next(iter(columns.values()), ()):
        return None
    if line > 1 and line > sheet.first_line() and not (has_key_or_name(header) or _is_apart(sheet, columns)):
        # A row below a title must not be mistaken for a header, because its cells would become words of the schema.
        raise LoadError(NO_CERTAIN_HEADER, sheet.name, line)
    return line, columns


def _is_apart(sheet: Sheet, columns: Mapping[str, Sequence[str]]) -> bool:
    """Returns True if the header is unlike the rows; a header of two lines, or one with an empty line below it, is no
    row, so that fewer rows suffice.
    """
    (header, _), (row, _) = islice(sheet.lines(), 2)
    return first_line_stands_apart(columns, MIN_VALUE_ROWS if row == header + 1 else MIN_HEADED_ROWS)


def _without_header(sheet: Sheet) -> tuple[int, dict[str, list[str]]] | None:
    """Returns the columns of lines that are all rows; None if they do not look like those of one table."""
    columns = _columns(sheet, TablePolicy(file="*", header_row=NO_HEADER))
    rows = len(next(iter(columns.values()), ()))
    typed = any(any(cells) and all(is_value(cell) for cell in cells if cell) for cells in columns.values())
    is_table = sum(map(any, columns.values())) >= MIN_VALUE_COLUMNS and rows >= MIN_ROWS and typed
    return (NO_HEADER, columns) if is_table else None


def _of_parts(group: SheetGroup, parts: Sequence[tuple[Sheet, int, dict[str, list[str]]]]) -> TableProfile:
    sheet, line, _ = parts[0]
    totals = find_totals([part for _, _, part in parts])  # Takes a last row of sums out of them.
    columns = _joined(group, parts)
    is_text = sheet.ending in TEXT_ENDINGS
    is_called = not is_text or line == NO_HEADER or is_called_as_table(list(columns), delimiter_of(sheet.path))
    is_called = is_called or bool(years_in(columns))
    profiles, full = _columns_and_words(group, columns)
    spread = spread_of(profiles, full)
    for name in (name for each in spread for name in each.columns):
        del profiles[name], columns[name]
    is_of_figures = any(each.relation == " ".join(full) for each in spread)
    concept = (concept_words(row_words(profiles.values())) if is_of_figures else ()) or concept_words(full)
    # A cell with the file's own noun heads a column: `Kit` in the first line of `kit.csv`.
    is_word = len(" ".join(concept)) > 1
    says_noun = is_word and any(column.words == list(concept) for column in profiles.values())
    is_headed = not is_called and (says_noun or first_line_is_header(columns))
    stands_apart = is_headed or (not is_called and first_line_stands_apart(columns))
    first, is_bare = next(iter(columns)), stands_apart or line == NO_HEADER
    key = _key_of(group.file, concept, profiles, columns, sheet.declared, is_text=is_text, is_bare=is_bare)
    if not concept and key is not None:
        # An upload has no name of its own, so the key's name gives the concept: `patient_id` -> patient.
        concept = concept_words(full_words(key))
    # Codes with digits below words without any: the first line is none of the rows.
    stands_apart = stands_apart or (key == first and profiles[first].numbers_rows and not re.search(r"\d", first))
    is_certain = is_called or is_headed or (stands_apart and key is not None)
    profile = TableProfile(
        file=group.file,
        columns=profiles,
        rows=len(columns[first]),
        concept_words=concept,
        key=key,
        is_certain=is_certain,
        header_row=line if line != 1 and len({each for _, each, _ in parts}) == 1 else None,
        encoding=_encoding_of(sheet for sheet, *_ in parts),
        declared=sheet.declared,
        totals=totals,
        spread=spread,
    )
    return _with_part(profile, group) if group.part else profile


def _encoding_of(sheets: Iterable[Sheet]) -> Encoding | None:
    """Returns the encoding of all sheets; None if they have several."""
    encodings: set[Encoding] = {encoding_of(each.path) if each.ending in TEXT_ENDINGS else "utf-8" for each in sheets}
    return encodings.pop() if len(encodings) == 1 else None


def _columns_and_words(group: SheetGroup, columns: Mapping[str, Sequence[str]]) -> tuple[dict[str, Column], list[str]]:
    """Returns the profiles of a table's columns without those that say its rows' type, and the words for its rows."""
    ending = group.sheets[0].ending
    profiles = {name: Column.of(name, cells) for name, cells in columns.items()}
    typed = None if ending in TEXT_ENDINGS else _type_of_all(profiles.values())
    dropped = _types_within(profiles.values()) if ending in JSON_ENDINGS else []
    for name in {*dropped, *([typed.name] if typed is not None else [])}:
        del profiles[name]
    return profiles, group.concept_words() if typed is None else full_words(typed.cells[0].removesuffix("__c"))


def _with_part(profile: TableProfile, group: SheetGroup) -> TableProfile:
    """Returns the profile of a table with a column for what differs in the names of its files.

    Where each file numbers its rows anew, that column is a part of the key. What has a row in several years, as a
    member does, is a thing of which each row tells.
    """
    told = profile.columns[group.part].lines
    count = told.count(told[0])
    own = {name: Column.of(name, each.lines[:count]) for name, each in profile.columns.items() if name != group.part}
    one = replace(profile, columns=own, rows=count, key=find_key([*own.values()], profile.concept_words))
    name = next(iter(find_names(one, frozenset())), None)
    of_one = own.get(name) if isinstance(name, str) and one.key in (None, name) else None
    found = replace(profile, part=group.part, parts=group.parts)
    if group.part in TIMES and of_one is not None and of_one.is_unique and not profile.columns[of_one.name].is_unique:
        return replace(found, key=None, entry=of_one.name)
    key = profile.columns[one.key] if one.key is not None and profile.key is None else None
    is_one_row = key is not None and len(set(zip(key.lines, told, strict=True))) == len(key.cells) == profile.rows
    return replace(found, key=key.name, key_beside=(group.part,)) if key is not None and is_one_row else found


def _joined(group: SheetGroup, parts: Sequence[tuple[Sheet, int, dict[str, list[str]]]]) -> dict[str, list[str]]:
    """Returns the columns of all parts of a table, with one for what differs in the names of its files."""
    columns: dict[str, list[str]] = {name: [] for _, _, part in parts for name in part}
    told: list[str] = []
    for sheet, _, part in parts:
        rows = len(next(iter(part.values())))
        told += [group.part_of(sheet.name)] * rows
        for name, cells in columns.items():
            cells += part.get(name, [""] * rows)
    return {**columns, group.part: told} if group.part else columns


def _key_of(
    file: str,
    concept: Sequence[str],
    profiles: Mapping[str, Column],
    columns: Mapping[str, Sequence[str]],
    declared: DeclaredKeys | None,
    *,
    is_text: bool,
    is_bare: bool,
) -> str | None:
    """Returns the key column: the one that the file declares, or that its name and cells show; None without any.

    `is_bare`: the words of the header say nothing of a key. A part of a declared key is none.
    """
    stated = declared.key if declared is not None else ()
    if len(stated) == 1 and stated[0] in profiles and profiles[stated[0]].is_unique:
        return stated[0]
    key = find_key([each for each in profiles.values() if not refers_to_parent(file, each.name)], concept)
    first, cells = next(iter(columns.items()))
    if key is None and is_bare and all(cells) and len(set(cells)) == len(cells):
        key = first
    if key is None and not is_text:
        key = next((each.name for each in profiles.values() if each.is_sign and each.rows >= MIN_VALUE_ROWS), None)
    return None if key in stated else key


def _type_of_all(columns: Iterable[Column]) -> Column | None:
    """Returns the column that holds the same type name in every row, as programs export it, or None.

    It becomes the concept of the records and is left out as a fact. The type of an object within the record is none.
    """
    own = (column for column in columns if " " not in column.name or column.name in _OF_RECORDS)
    named = (column for column in own if column.full[-1:] == ["type"] and len(column.cells) == column.rows)
    return next((column for column in named if len(column.distinct) == 1 and column.cells[0][:3].isalpha()), None)


_OF_RECORDS: Final = ("attributes type",)
"""Where Salesforce keeps the type of a record."""


def _types_within(columns: Iterable[Column]) -> list[str]:
    """Returns the columns that hold one type name in all rows, that of an object within the record: `address type`.

    They tell of the format alone, and answers would name them in place of what the object holds.
    """
    inner = (each for each in columns if " " in each.name and each.full[-1:] == ["type"] and len(each.cells) > 1)
    of_one = (each for each in inner if len(each.distinct) == 1)
    return [each.name for each in of_one if re.fullmatch("[A-Z][A-Za-z]+", each.cells[0])]


MAX_SHARED_CELLS = 100_000


def _columns(sheet: Sheet, table: TablePolicy | None = None) -> dict[str, list[str]]:
    lines = sheet.lines(table)
    _, header = next(lines)
    columns: dict[str, list[str]] = {column: [] for column in header}
    same: dict[str, str] = {}
    for _, cells in lines:
        for column, cell in zip(header, cells, strict=True):
            # Equal cells share their memory: a packed kilobyte can hold millions of them.
            columns[column].append(same.get(cell, cell))
            if len(same) < MAX_SHARED_CELLS:
                same[cell] = cell
    return columns
