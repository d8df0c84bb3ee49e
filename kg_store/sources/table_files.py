"""Reads tables in files of any format, and finds the policy's `[[tables]]` for them. Errors never name a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import DeclaredKeys, Rows, TableFile, TableOfFile, filled_span, with_header
from kg_store.formats.files import encoding_of, open_bytes
from kg_store.formats.json_records import JSON_ENDINGS, tables_of_json
from kg_store.formats.property_graph import is_property_graph
from kg_store.formats.sql_dumps import tables_of_sql
from kg_store.formats.workbooks import sheets_of_other_workbook, sheets_of_workbook
from kg_store.sources.table_policy import TablePolicy
from kg_store.sources.totals import without_totals
from kg_store.text.normalise import TOO_MANY_MARKS, has_too_many_marks

MIN_OF_HEADER = 0.5
"""The least share of the header's cells that a line must have; one with fewer is broken."""
MAX_UNNAMED = 0.05
"""The greatest share of lines with cells in columns without a name; with more, the header lacks a name."""
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BOOK_ENDINGS = (".xlsx", ".xls", ".xlsb", ".ods")
TABLE_ENDINGS = (*TEXT_ENDINGS, *BOOK_ENDINGS, *JSON_ENDINGS, ".sql")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a file.

    `name`: its name in the policy. `open_rows` yields its lines from the first one, which may be a title. `is_cut`:
    the format drops empty cells at the end of a line, so short lines are normal. `is_one_object`: the file is one JSON
    object. `declared`: the keys that the file itself declares.
    """

    path: Path
    name: str
    open_rows: Callable[[TablePolicy | None], Rows]
    notes: tuple[tuple[int, str], ...] = ()
    is_cut: bool = False
    is_one_object: bool = False
    declared: DeclaredKeys | None = None

    @property
    def ending(self) -> str:
        """The ending of the sheet's file, without ".gz"."""
        return Path(bare_name(self.path)).suffix.lower()

    def header(self, table: TablePolicy | None = None) -> list[str]:
        """Returns the names of the sheet's columns. Raises LoadError if a column has no name."""
        return next(self.lines(table))[1]

    def first_line(self) -> int:
        """Returns the number of the first line that is not empty, be it a title or the header."""
        with closing(self.open_rows(None)) as rows:  # type: ignore[type-var]
            return next((line for line, cells in rows if any(cells)), 1)

    def lines(self, table: TablePolicy | None = None, odd: Counter[str] | None = None) -> Rows:
        """Yields (line number, cells) of the header and of every row of `table`, with its column for the file's name.

        A last row of totals is left out if the table says so. Raises LoadError as `_all_lines` does.
        """
        lines = self._all_lines(table, odd)
        if table is not None and table.totals:
            lines = without_totals(lines, table, self.name, odd)
        if table is None or table.part is None:
            return lines
        of_header = chain((table.part,), repeat(table.part_of(self.name)))
        return ((line, [*cells, part]) for (line, cells), part in zip(lines, of_header, strict=False))

    def _all_lines(self, table: TablePolicy | None, odd: Counter[str] | None) -> Rows:
        """Yields (line number, cells) of the header and of every line that is not empty.

        Columns without a name at both ends are cut off. A line with fewer cells than the header is filled up with
        empty ones, comments are left out, and so are the cells of a few lines in columns without a name; all are
        counted in `odd`. Raises LoadError at a line with more cells than the header, since its cells may be shifted,
        at one that lacks most cells, and at the end if many lines have cells in columns without a name.
        """
        with closing(self.open_rows(table)) as opened:  # type: ignore[type-var]
            rows = self._in_order(opened)
            first, header, rest = with_header(rows, table.header_row if table is not None else None)
            kept = filled_span(header)
            header = _told_apart(header)
            if not all(header[kept]) or not header[kept]:
                raise LoadError("a table needs a header line with a name for every column", self.name, first)
            yield first, header[kept]
            unnamed, count = list[int](), 0
            for line, cells in rest:
                if not any(cells):
                    continue
                if _is_comment(cells):
                    _count(odd, f"lines of {self.name} are comments that begin with #, and were left out")
                    continue
                count += 1
                is_short = len(cells) < len(header) and (self.is_cut or len(cells) >= MIN_OF_HEADER * len(header))
                if is_short:
                    cells = [*cells, *[""] * (len(header) - len(cells))]
                if is_short and not self.is_cut:
                    _count(odd, f"lines of {self.name} end before the header does: the cells that they lack are empty")
                if len(cells) != len(header):
                    reason = f"this line has {len(cells)} cells, the header has {len(header)}"
                    raise LoadError(reason, self.name, line)
                if any(cells[: kept.start]) or any(cells[kept.stop :]):
                    unnamed.append(line)
                    _count(odd, f"lines of {self.name} have a cell in a column without a name, which was left out")
                yield line, cells[kept]
            if len(unnamed) > MAX_UNNAMED * count:
                raise LoadError("this line has a cell in a column without a name", self.name, unnamed[0])

    def _in_order(self, rows: Rows) -> Rows:
        """Yields `rows`. Raises LoadError at a cell with too many marks, which would take minutes to compare."""
        for line, cells in rows:
            if any(map(has_too_many_marks, cells)):
                raise LoadError(TOO_MANY_MARKS, self.name, line)
            yield line, cells


def _is_comment(cells: Sequence[str]) -> bool:
    """Returns True for a line that says one thing behind a #, as people part the rows of a file."""
    return cells[0].startswith("#") and not any(cells[1:])


def _count(odd: Counter[str] | None, reason: str) -> None:
    if odd is not None:
        odd[reason] += 1


def sheets_of(path: Path, beside: Sequence[Path] = ()) -> list[Sheet]:
    """Returns the tables of a file; none if it holds triples or a graph. Raises LoadError.

    `beside`: the files of the load, since dumps may tell of each other's tables.
    """
    name = bare_name(path)
    ending = Path(name).suffix.lower()
    if ending not in TABLE_ENDINGS or is_property_graph(path):
        return []
    if ending in TEXT_ENDINGS:
        return [Sheet(path, name, _text_rows(path))]
    dumps = [each for each in beside if bare_name(each).lower().endswith(".sql")]
    reader: dict[str, Callable[[Path], list[TableOfFile]]] = {
        ".xlsx": sheets_of_workbook,
        ".sql": lambda dump: tables_of_sql(dump, dumps),
        **dict.fromkeys(JSON_ENDINGS, tables_of_json),
    }
    return [
        Sheet(
            path,
            f"{name}/{each.title}" if each.title else name,
            each.open_rows,
            each.notes,
            is_cut=ending in BOOK_ENDINGS,
            is_one_object=each.is_one_object,
            declared=each.declared,
        )
        for each in reader.get(ending, sheets_of_other_workbook)(path)
    ]


def is_text(path: Path) -> bool:
    """Returns True for a text file of rows or triples, by its ending."""
    return Path(bare_name(path)).suffix.lower() in TEXT_ENDINGS


def bare_name(path: Path) -> str:
    """Returns a file's name without ".gz"."""
    return path.name.removesuffix(".gz")


def delimiter_of(path: Path) -> str:
    """Returns the delimiter found in the file's header; a comma if it is not a text file."""
    if not is_text(path):
        return ","
    with open_bytes(path) as stream:
        return TableFile(stream, path.name, encoding_of(path)).header_delimiter()


def _text_rows(path: Path) -> Callable[[TablePolicy | None], Rows]:
    def rows(table: TablePolicy | None) -> Iterator[tuple[int, list[str]]]:
        with open_bytes(path) as stream:
            told = table.encoding if table is not None and "encoding" in table.model_fields_set else encoding_of(path)
            opened = TableFile(stream, path.name, told)
            given = table.delimiter if table is not None else None
            yield from opened.quoted_rows(given or opened.header_delimiter())

    return rows


def _told_apart(names: list[str]) -> list[str]:
    """Returns the names of columns, with a number appended to each repetition of a name."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if name and seen[name] > 1 else name)
    return found


def sheets_with_tables(paths: Sequence[Path], tables: Sequence[TablePolicy]) -> list[tuple[Sheet, TablePolicy]]:
    """Returns each sheet with its table: matched by name, or else by the columns of its header."""
    sheets = [sheet for path in paths for sheet in sheets_of(path, paths)]
    found = [(sheet, table) for sheet in sheets if (table := table_called(sheet.name, tables)) is not None]
    taken, named = [table for _, table in found], [sheet for sheet, _ in found]
    open_tables = [table for table in tables if table not in taken]
    for sheet in (sheet for sheet in sheets if sheet not in named):
        fitting = [table for table in open_tables if _fits(sheet, table)]
        if len(fitting) > 1:
            reason = "the header matches several tables of the policy: give the file the name of one"
            raise LoadError(reason, sheet.name)
        found += [(sheet, fitting[0])] if fitting else []
    mapped = [table for _, table in found]
    for number, table in enumerate(tables, start=1):
        if table not in mapped:
            raise LoadError(f"table {number} of the policy matches none of the files, by name or by its columns")
    return found


def table_called(name: str, tables: Sequence[TablePolicy]) -> TablePolicy | None:
    """Returns the table that a file or sheet belongs to by its name; an exact name precedes a pattern."""
    fitting = [table for table in tables if table.has(name)]
    return min(fitting, key=lambda table: table.is_pattern, default=None)


def _fits(sheet: Sheet, table: TablePolicy) -> bool:
    try:
        return set(table.used()) <= set(sheet.header(table))
    except LoadError:
        return False
