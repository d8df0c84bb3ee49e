"""Rows of CSV tables to triples, as the policy's `[[tables]]` map them. Errors tell file and line, never a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

from kg_store.errors import LoadError
from kg_store.sources.delimited_text import Rows, TableFile
from kg_store.sources.files import open_bytes
from kg_store.sources.raw_graph import Term, value_term
from kg_store.sources.table_policy import ColumnPolicy, TablePolicy
from kg_store.terms import ValueKind
from kg_store.text.labels import readable
from kg_store.text.literals import fits

TABLE_ENDINGS = (".csv", ".tsv", ".txt")
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

Triple = tuple[Term, Term, Term]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a table; `line` is where it ends in the file."""

    line: int
    cells: Mapping[str, str] = field(repr=False)


class Tables:
    """The tables of one load. Every key is read before the first triple, so that references can be followed."""

    def __init__(self, paths: Sequence[Path], tables: Sequence[TablePolicy]) -> None:
        """Raises LoadError where a table has no file, or its file lacks a column, or two rows share a key."""
        self._policies = _assigned(paths, tables)
        self._keys: dict[str, set[str]] = {}
        for path, table in self._policies.items():
            self._keys.setdefault(table.file, set()).update(_keys(path, table))
        for table in self._policies.values():
            for number, column in enumerate(table.columns.values(), start=1):
                if column.table is not None and column.table not in self._keys:
                    raise LoadError(f"column {number} of this table refers to a table that is not loaded", table.file)

    def has(self, path: Path) -> bool:
        return path in self._policies

    def triples(self, path: Path, stream: IO[bytes], skipped: Counter[str]) -> Iterator[Triple]:
        """The triples of the rows of `path`; counts in `skipped`, by reason, what was left out."""
        table = self._policies[path]
        unread = len(header_of(path, table)) - len(table.used())
        if unread:
            skipped[f"columns of {path.name} are not mapped by the policy, and were not read"] += unread
        for row in read_rows(stream, path.name, table):
            yield from self._of_row(row, table, path.name, skipped)

    def _of_row(self, row: TableRow, table: TablePolicy, file: str, skipped: Counter[str]) -> Iterator[Triple]:
        subject = _subject(table, row.cells[table.key])
        yield subject, _TYPE, f"<urn:arog:class:{quote(table.concept or _stem(table.file), safe='')}>"
        for name in _names(row, table):
            yield subject, _LABEL, _text(name)
        for column, settings in table.columns.items():
            relation = f"<urn:arog:relation:{quote(settings.relation or readable(column).lower(), safe='')}>"
            for cell in _parts(row.cells[column], settings):
                tail = self._tail(cell, settings, file, row.line, skipped)
                if tail is not None:
                    yield subject, relation, tail

    def _tail(self, cell: str, column: ColumnPolicy, file: str, line: int, skipped: Counter[str]) -> Term | None:
        if column.table is not None:
            if cell not in self._keys[column.table]:
                _count(skipped, f"references of {file} lead to no row and were left out", line)
                return None
            table = next(each for each in self._policies.values() if each.file == column.table)
            return _subject(table, cell)
        if column.kind in (ValueKind.NUMBER, ValueKind.DATE) and not fits(cell, column.kind):
            _count(skipped, f"cells of {file} are no {column.kind.value} and were kept as text", line)
            return value_term(cell, ValueKind.TEXT)
        return value_term(cell, column.kind)


def header_of(path: Path, table: TablePolicy | None = None) -> list[str]:
    """The cells of the first line. Raises LoadError where a column has no name or two share one."""
    with open_bytes(path) as stream:
        opened = _table_file(stream, path.name, table)
        return _header(opened.quoted_rows(_delimiter(opened, table)), path.name)


def delimiter_of(path: Path) -> str:
    """The delimiter that the file's header tells."""
    with open_bytes(path) as stream:
        return _table_file(stream, path.name, None).header_delimiter()


def read_rows(stream: IO[bytes], file: str, table: TablePolicy) -> Iterator[TableRow]:
    """Every row below the header. Raises LoadError on a line with another number of cells, or without a key."""
    opened = _table_file(stream, file, table)
    rows = opened.quoted_rows(_delimiter(opened, table))
    header = _header(rows, file)
    for column, role in table.used().items():
        if column not in header:
            raise LoadError(f"the header has no column for {role} of this table in the policy", file, 1)
    for line, cells in rows:
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise LoadError(f"this line has {len(cells)} cells, the header has {len(header)}", file, line)
        row = TableRow(line, dict(zip(header, cells, strict=True)))
        if not row.cells[table.key]:
            raise LoadError("this line has no key", file, line)
        yield row


def _table_file(stream: IO[bytes], file: str, table: TablePolicy | None) -> TableFile:
    return TableFile(stream, file, table.encoding if table is not None else "utf-8")


def _delimiter(opened: TableFile, table: TablePolicy | None) -> str:
    given = table.delimiter if table is not None else None
    return given or opened.header_delimiter()


def _assigned(paths: Sequence[Path], tables: Sequence[TablePolicy]) -> dict[Path, TablePolicy]:
    """Each file's table: by name, else by the columns of its header, which an upload without names leaves."""
    texts = [path for path in paths if _ending(path) in TABLE_ENDINGS]
    found = {path: table for table in tables for path in texts if _bare(path) == table.file}
    open_tables = [table for table in tables if table not in found.values()]
    for path in (path for path in texts if path not in found):
        fitting = [table for table in open_tables if _fits(path, table)]
        if len(fitting) > 1:
            raise LoadError("the header fits several tables of the policy: give the file the name of one", path.name)
        if fitting:
            found[path] = fitting[0]
    for number, table in enumerate(tables, start=1):
        if table not in found.values():
            raise LoadError(f"table {number} of the policy fits none of the files, by name or by its columns")
    return found


def _fits(path: Path, table: TablePolicy) -> bool:
    try:
        return set(table.used()) <= set(header_of(path, table))
    except LoadError:
        return False


def _keys(path: Path, table: TablePolicy) -> set[str]:
    lines: dict[str, int] = {}
    with open_bytes(path) as stream:
        for row in read_rows(stream, path.name, table):
            key = row.cells[table.key]
            if key in lines:
                raise LoadError(f"the key of this line stands in line {lines[key]} too", path.name, row.line)
            lines[key] = row.line
    return set(lines)


def _names(row: TableRow, table: TablePolicy) -> Iterator[str]:
    for name in table.names:
        parts = (name,) if isinstance(name, str) else name
        words = " ".join(row.cells[part] for part in parts if row.cells[part])
        if words:
            yield words


def _parts(cell: str, column: ColumnPolicy) -> list[str]:
    parts = cell.split(column.separator) if column.separator else [cell]
    return [part.strip() for part in parts if part.strip()]


def _subject(table: TablePolicy, key: str) -> Term:
    return f"<urn:arog:row:{quote(_stem(table.file), safe='')}:{quote(key, safe='')}>"


def _text(text: str) -> Term:
    return value_term(text, ValueKind.TEXT)


def _count(skipped: Counter[str], reason: str, line: int) -> None:
    """Counts under one reason, which tells the first line that it was met in."""
    known = next((each for each in skipped if each.startswith(reason)), f"{reason} (the first in line {line})")
    skipped[known] += 1


def _header(rows: Rows, file: str) -> list[str]:
    _, names = next(rows, (1, []))
    if not names or not all(names):
        raise LoadError("a table needs a header line with a name for every column", file, 1)
    if len(set(names)) != len(names):
        raise LoadError("two columns of the header have the same name", file, 1)
    return names


def _bare(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _ending(path: Path) -> str:
    return Path(_bare(path)).suffix.lower()


def _stem(file: str) -> str:
    return Path(file).stem
