"""Turns the rows of tables into triples by the policy's `[[tables]]`. Errors name file and line, never a cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from kg_store.errors import LoadError
from kg_store.formats.json_records import refers_to_parent
from kg_store.sources.cell_values import read_cell
from kg_store.sources.raw_graph import Term, value_term
from kg_store.sources.table_files import Sheet, bare_name, sheets_of, sheets_with_tables
from kg_store.sources.table_policy import (
    CLASS_NAMESPACE,
    RELATION_NAMESPACE,
    ColumnPolicy,
    TablePolicy,
    joined_key,
    stem_of,
)
from kg_store.terms import ValueKind
from kg_store.text.labels import readable
from kg_store.text.notation import first_parts
from kg_store.text.words import folded_text

_FIRST = "(say `first` in the column's settings)"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_FIGURE = f"<{RELATION_NAMESPACE}figure>"
_ROW = "urn:arog:row:"
_THING = "urn:arog:thing:"

Triple = tuple[Term, Term, Term]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table.

    `line` is the number of its last line in the file; no other row of the table has its `place`.
    """

    line: int
    place: str
    cells: Mapping[str, str] = field(repr=False)


class Tables:
    """The tables of one load. All keys are read before the first triple, so that references can be resolved."""

    def __init__(self, paths: Sequence[Path], tables: Sequence[TablePolicy]) -> None:
        """Reads all keys.

        Raises LoadError if a table has no file, its file lacks a column, or two rows share a key.
        """
        self._paths = paths
        self._policies = sheets_with_tables(paths, tables) if tables else []
        self._by_file = {table.file: table for _, table in self._policies}
        self._telling = {
            table.file: {name: telling for name in table.columns if (telling := table.telling_of(name))}
            for table in self._by_file.values()
        }
        self._keys: dict[str, set[str]] = {}
        self._references, self._joined = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._keys_by: dict[tuple[str, str], dict[str, str | None]] = {}
        self._folded_keys: dict[tuple[str, str | None], dict[str, str | None]] = {}
        for sheet, table in self._policies:
            self._keys.setdefault(table.file, set()).update(self._fresh_keys(sheet, table))
        for table in self._by_file.values():
            for number, column in enumerate(table.columns.values(), start=1):
                target = self._by_file.get(column.table) if column.table is not None else None
                if column.table is not None and target is None:
                    raise LoadError(f"column {number} of this table refers to a table that is not loaded", table.file)
                if target is not None and target.key is None:
                    raise LoadError(f"column {number} of this table refers to a table without a key", table.file)
                if target is not None and column.by is not None:
                    self._read_keys_by(target, column.by)

    def _rows(self, sheet: Sheet, table: TablePolicy, odd: Counter[str] | None = None) -> Iterator[TableRow]:
        is_one_of_many = [each for _, each in self._policies].count(table) > 1
        of_file = f"{sheet.path.parent.name}/{sheet.name}:" if is_one_of_many else ""
        return read_rows(sheet, table, odd, of_file)

    def _fresh_keys(self, sheet: Sheet, table: TablePolicy) -> set[str]:
        """Returns the keys of a sheet.

        Raises LoadError if one occurs twice, here or in another file of the table, since both rows would become one
        entity.
        """
        lines: dict[str, int] = {}
        for row in self._rows(sheet, table):
            if table.key is None:
                return set()
            key = table.key_of(row.cells)
            if key in lines:
                raise LoadError(f"the key of this line stands in line {lines[key]} too", sheet.name, row.line)
            if key in self._keys[table.file]:
                raise LoadError("the key of this line stands in another file of this table too", sheet.name, row.line)
            lines[key] = row.line
        return set(lines)

    def _read_keys_by(self, target: TablePolicy, by: str) -> None:
        """Stores, for each cell of the column `by`, the key of its row; None if several rows have that cell."""
        if (target.file, by) in self._keys_by:
            return
        found = self._keys_by.setdefault((target.file, by), {})
        for sheet, _ in (each for each in self._policies if each[1] is target):
            if by not in sheet.header(target):
                raise LoadError("the header has no column for `by` of a reference to this table", sheet.name, 1)
            for row in self._rows(sheet, target):
                key = target.key_of(row.cells)
                found[row.cells[by]] = key if found.get(row.cells[by], key) == key else None

    def has(self, path: Path) -> bool:
        """Returns True if a table of the file is read, or a dump whose rows are those of another's tables."""
        is_read = any(sheet.path == path for sheet, _ in self._policies)
        return is_read or (bare_name(path).lower().endswith(".sql") and not sheets_of(path, self._paths))

    def triples(self, path: Path, skipped: Counter[str]) -> Iterator[Triple]:
        """Yields the triples of the tables of `path`; counts in `skipped`, by reason, what was left out."""
        for sheet, table in self._policies:
            if sheet.path == path:
                skipped.update({sentence: count for count, sentence in sheet.notes})
                yield from self._of_sheet(sheet, table, skipped)
        mapped = {sheet.name for sheet, _ in self._policies}
        unread = [sheet.name for sheet in sheets_of(path, self._paths) if sheet.name not in mapped]
        if unread:
            skipped[f"tables of {path.name} are not mapped by the policy, and were not read"] += len(unread)

    def joins(self) -> tuple[str, ...]:
        """Returns a line for each column that refers to a table: the target, and how many of its cells lead to a row.

        To be called when all triples are read.
        """
        found = []
        for (file, name), count in self._references.items():
            settings = self._by_file[file].columns[name]
            target = self._by_file[str(settings.table)]
            held = self._joined[file, name]
            parts = " + ".join((name, *settings.beside))
            key = settings.by or " + ".join((target.key or "", *target.key_beside))
            found.append(f"{file} {parts} -> {target.file} {key}, {held:,} of {count:,}")
        return tuple(found)

    def _of_sheet(self, sheet: Sheet, table: TablePolicy, skipped: Counter[str]) -> Iterator[Triple]:
        unread = sum(not refers_to_parent(sheet.name, each) for each in {*sheet.header(table)} - table.used().keys())
        if unread:
            skipped[f"columns of {sheet.name} are not mapped by the policy, and were not read"] += unread
        is_empty = True
        relations = {column: f"<{table.relation_iri(column)}>" for column in table.columns}
        for row in self._rows(sheet, table, skipped):
            is_empty = False
            yield from self._of_row(row, table, relations, sheet.name, skipped)
        if is_empty:
            raise LoadError("this table has a header and no row below it: there is nothing to load", sheet.name)

    def _of_row(
        self, row: TableRow, table: TablePolicy, relations: Mapping[str, Term], file: str, skipped: Counter[str]
    ) -> Iterator[Triple]:
        facts = list(self._facts(row, table, file, skipped))
        if table.links:
            yield from _link(table, row.place, facts)
            return
        subject = _subject(table, table.key_of(row.cells) if table.key is not None else row.place)
        yield subject, _TYPE, f"<{table.class_iri}>"
        for name in table.names:
            parts = (name,) if isinstance(name, str) else name
            if words := " ".join(filter(None, (table.filled(row.cells, part) for part in parts))):
                yield subject, _LABEL, _text(words)
        for column, tail, further in facts:
            yield subject, relations[column], tail
            yield from further
        yield from self._figures(subject, row, table, file, skipped)

    def _figures(
        self, subject: Term, row: TableRow, table: TablePolicy, file: str, skipped: Counter[str]
    ) -> Iterator[Triple]:
        """Yields a nameless node for each value in the headers of columns, with the cells below it."""
        for spread in table.spread:
            over, relation = spread.iris()
            for column, value in spread.columns.items():
                cell = row.cells[column].strip()
                if not cell or cell in (*table.empty, *spread.empty):
                    continue
                node = _nameless(table, f"{row.place}.{value}")
                yield subject, _FIGURE, node
                yield node, f"<{over}>", value_term(value, ValueKind.DATE)
                yield node, f"<{relation}>", self._tail(cell, cell, spread.cells, file, row.line, skipped)

    def _facts(
        self, row: TableRow, table: TablePolicy, file: str, skipped: Counter[str]
    ) -> Iterator[tuple[str, Term, tuple[Triple, ...]]]:
        """Yields (column, term, further triples about the term) for each cell of the row."""
        for column, settings in table.columns.items():
            if settings.of is not None:
                continue
            telling = self._telling[table.file].get(column, {})
            terms = list(self._terms(row, table, column, file, skipped))
            for tail, further in terms:
                yield column, tail, (*further, *self._told_of(tail, row, table, column, file, skipped))
            if telling and not terms and any(table.filled(row.cells, each) for each in telling):
                reason = f"rows of {file} name nothing in a column that others tell of (`of`), which were left out"
                _count(skipped, reason, row.line)

    def _told_of(
        self, thing: Term, row: TableRow, table: TablePolicy, column: str, file: str, skipped: Counter[str]
    ) -> Iterator[Triple]:
        """Yields the triples of a thing in `column` that the other columns of its row give."""
        for name, settings in self._telling[table.file].get(column, {}).items():
            relation = _LABEL if settings.is_name else f"<{table.relation_iri(name)}>"
            for tail, further in self._terms(row, table, name, file, skipped):
                yield thing, relation, tail
                yield from further

    def _terms(
        self, row: TableRow, table: TablePolicy, column: str, file: str, skipped: Counter[str]
    ) -> Iterator[tuple[Term, tuple[Triple, ...]]]:
        """Yields (term, triples that say what it is) for each value of one cell."""
        settings = table.columns[column]
        filled = table.filled(row.cells, column)
        if filled != row.cells[column]:
            skipped[f"cells of {file} say that nothing is known (`empty` in the policy), and were left out"] += 1
        parts = filled.split(settings.separator) if settings.separator else [filled]
        for cell in filter(None, map(str.strip, parts)):
            if settings.concept is not None:
                said = " ".join(cell.split())
                if said != cell:
                    _count(skipped, f"cells of {file} mean the same as without their further blanks", row.line)
                thing = f"<{_THING}{quote(settings.concept, safe='')}:{quote(said, safe='')}>"
                kind = f"<{CLASS_NAMESPACE}{quote(settings.concept, safe='')}>"
                yield thing, ((thing, _TYPE, kind), *self._called(thing, said, row, table, column))
                continue
            beside = [row.cells[each] for each in settings.beside]
            key = joined_key([cell, *beside]) if beside else cell
            tail = self._tail(cell, key, settings, file, row.line, skipped)
            if settings.table is not None:
                self._references[table.file, column] += 1
                self._joined[table.file, column] += is_thing(tail)
            yield tail, ()

    def _called(self, thing: Term, said: str, row: TableRow, table: TablePolicy, column: str) -> Iterator[Triple]:
        """Yields a name for the thing of a cell, unless another cell of the row has it; the cell is then its code."""
        telling = self._telling[table.file].get(column, {})
        if any(table.filled(row.cells, name) for name, settings in telling.items() if settings.is_name):
            yield thing, f"<{RELATION_NAMESPACE}{quote(readable(column).lower(), safe='')}>", _text(said)
        else:
            yield thing, _LABEL, _text(said)

    def _folded(self, file: str, by: str | None) -> Mapping[str, str | None]:
        """Returns the key of a row by what cells call it, in small letters; None if several rows are called so."""
        found = self._folded_keys.get((file, by))
        if found is None:
            found = self._folded_keys[file, by] = {}
            called = {key: key for key in self._keys[file]} if by is None else self._keys_by[file, by]
            for cell, key in called.items():
                found[folded_text(cell)] = key if found.get(folded_text(cell), key) == key else None
        return found

    def _tail(self, cell: str, called: str, column: ColumnPolicy, file: str, line: int, skipped: Counter[str]) -> Term:
        """Returns what a cell leads to: a row of another table, or a value. A cell that leads to no row is a text.

        `called`: what the cell, with those beside it, calls the row.
        """
        if column.table is not None:
            key = called if column.by is None else self._keys_by[column.table, column.by].get(called, "")
            if key is not None and key not in self._keys[column.table]:
                key = self._folded(column.table, column.by).get(folded_text(called), "")
                if key:
                    _count(skipped, f"references of {file} lead to a row that is written in other capitals", line)
            if key is None:
                _count(skipped, f"references of {file} could mean several rows and were kept as text", line)
                return value_term(cell, ValueKind.TEXT)
            if not key:
                _count(skipped, f"references of {file} lead to no row and were kept as text", line)
                return value_term(cell, ValueKind.TEXT)
            return _subject(self._by_file[column.table], key)
        lexical = read_cell(cell, column)
        if lexical is None:
            is_unclear = column.kind is ValueKind.DATE and column.first is None and first_parts(cell) is not None
            reason = f"could have the day or the month first {_FIRST}" if is_unclear else f"are no {column.kind.value}"
            _count(skipped, f"cells of {file} {reason} and were kept as text", line)
            return value_term(cell, ValueKind.TEXT)
        return value_term(lexical, column.kind)


def read_rows(
    sheet: Sheet, table: TablePolicy, odd: Counter[str] | None = None, of_file: str = ""
) -> Iterator[TableRow]:
    """Yields every row below the header; counts in `odd` the lines with fewer cells than the header.

    `of_file`: given if the table has several files; it makes the rows' places unique, and columns may then be missing
    in a file. Raises LoadError at a row with more cells than the header or without a key.
    """
    lines = sheet.lines(table, odd)
    _, header = next(lines)
    missing = {column: role for column, role in table.used().items() if column not in header}
    if missing and (not of_file or table.key in missing):
        role = next(iter(missing.values()))
        raise LoadError(f"the header has no column for {role} of this table in the policy", sheet.name, 1)
    unsaid = dict.fromkeys(missing, "")
    seen = Counter[int]()
    for line, cells in lines:
        # Rows of a list within one JSON record share its line.
        seen = seen if line in seen else Counter()
        seen[line] += 1
        place = f"{of_file}{line}" + (f".{seen[line]}" if seen[line] > 1 else "")
        row = TableRow(line, place, unsaid | dict(zip(header, cells, strict=True)))
        if table.key is not None and not table.key_of(row.cells):
            raise LoadError("this line has no key", sheet.name, line)
        yield row


def _link(table: TablePolicy, place: str, facts: list[tuple[str, Term, tuple[Triple, ...]]]) -> Iterator[Triple]:
    """Yields the triples of a row that joins entities.

    In a table of exactly two columns, both references, a row becomes one triple from the first to the second. Any
    other row becomes a nameless node that has the cells as facts, and to which the entity in the first reference
    column leads. If that column names no entity, none leads to the node; so a relation never has two meanings.
    """
    owner = next(iter(table.references()))
    heads = [tail for column, tail, _ in facts if column == owner and is_thing(tail)]
    rest = [(column, tail, further) for column, tail, further in facts if tail not in heads[:1]]
    if not any(column in table.references() and is_thing(tail) for column, tail, _ in facts):
        return
    if len(table.columns) == len(table.references()) == 2:
        yield from ((head, f"<{table.relation_iri(column)}>", tail) for head in heads[:1] for column, tail, _ in rest)
        return
    joint = _nameless(table, place)
    if heads:
        yield heads[0], f"<{table.class_iri.replace(':class:', ':relation:')}>", joint
    for column, tail, further in rest:
        yield joint, f"<{table.relation_iri(column)}>", tail
        yield from further


def _nameless(table: TablePolicy, place: str) -> Term:
    return "_:" + re.sub(r"[^0-9A-Za-z]", ".", quote(f"{stem_of(table.file)}.{place}", safe=""))


def is_thing(tail: Term) -> bool:
    """Returns True for the term of a thing; False for that of a value."""
    return tail.startswith("<")


def _subject(table: TablePolicy, key: str) -> Term:
    return f"<{_ROW}{quote(stem_of(table.file), safe='')}:{quote(key, safe='')}>"


def _text(text: str) -> Term:
    return value_term(text, ValueKind.TEXT)


def _count(skipped: Counter[str], reason: str, line: int) -> None:
    """Adds one to a reason's count; the reason names the first line where it occurred."""
    known = next((each for each in skipped if each.startswith(reason)), f"{reason} (the first in line {line})")
    skipped[known] += 1
