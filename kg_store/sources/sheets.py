"""Sheets: the tables in files of rows, in any format: a header and lines of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Rows, TableFile
from kg_store.formats.encodings import encoding_of
from kg_store.formats.excel_sheets import sheets_of_workbook
from kg_store.formats.files import open_bytes
from kg_store.formats.header_rows import filled_span, with_header
from kg_store.formats.json_records import tables_of_json
from kg_store.formats.other_workbooks import sheets_of_other_workbook
from kg_store.formats.property_graph import is_property_graph
from kg_store.sources.table_policy import TablePolicy

MIN_OF_HEADER = 0.5
"""A line with fewer of the header's cells is broken."""
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BOOK_ENDINGS = (".xlsx", ".xls", ".xlsb", ".ods")
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
TABLE_ENDINGS = (*TEXT_ENDINGS, *BOOK_ENDINGS, *JSON_ENDINGS)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a file. `name`: its name in the policy; `open_rows` yields its lines, titles and the header first.

    `is_cut`: empty cells at the end of a line are not kept in the file. `is_one_object`: the file is one JSON object.
    """

    path: Path
    name: str
    open_rows: Callable[[TablePolicy | None], Rows]
    notes: tuple[tuple[int, str], ...] = ()
    is_cut: bool = False
    is_one_object: bool = False

    @property
    def ending(self) -> str:
        """The ending of its file, without ".gz"."""
        return Path(bare_name(self.path)).suffix.lower()

    def header(self, table: TablePolicy | None = None) -> list[str]:
        """Returns the names of its columns. Raises LoadError if a column has no name or two have the same."""
        return next(self.lines(table))[1]

    def first_line(self) -> int:
        """Returns the first line that holds anything, be it a title or the header."""
        with closing(self.open_rows(None)) as rows:  # type: ignore[type-var]
            return next((line for line, cells in rows if any(cells)), 1)

    def lines(self, table: TablePolicy | None = None, odd: Counter[str] | None = None) -> Rows:
        """Yields the header and every non-empty line, without the columns that are empty in the header at its ends.

        A line that ends early is filled up with empty cells, and counted in `odd`. Raises LoadError at a line with
        more cells than the header, which may have shifted them, and at one that lacks most of them.
        """
        with closing(self.open_rows(table)) as rows:  # type: ignore[type-var]
            first, header, rest = with_header(rows, table.header_row if table is not None else None)
            kept = filled_span(header)
            header = _told_apart(header)
            _check_header(header[kept], self.name, first)
            yield first, header[kept]
            for line, cells in rest:
                if not any(cells):
                    continue
                is_short = len(cells) < len(header) and (self.is_cut or len(cells) >= MIN_OF_HEADER * len(header))
                if is_short:
                    cells = [*cells, *[""] * (len(header) - len(cells))]
                if is_short and odd is not None and not self.is_cut:
                    odd[f"lines of {self.name} end before the header does: the cells that they lack are empty"] += 1
                if len(cells) != len(header):
                    reason = f"this line has {len(cells)} cells, the header has {len(header)}"
                    raise LoadError(reason, self.name, line)
                if any(cells[: kept.start]) or any(cells[kept.stop :]):
                    raise LoadError("this line has a cell in a column without a name", self.name, line)
                yield line, cells[kept]


def sheets_of(path: Path) -> list[Sheet]:
    """Returns the tables of a file; none if it holds triples or a graph. Raises LoadError."""
    name = bare_name(path)
    ending = Path(name).suffix.lower()
    if ending not in TABLE_ENDINGS or is_property_graph(path):
        return []
    if ending in TEXT_ENDINGS:
        return [Sheet(path, name, _text_rows(path))]
    if ending in BOOK_ENDINGS:
        found = sheets_of_workbook(path) if ending == ".xlsx" else sheets_of_other_workbook(path)
        return [Sheet(path, f"{name}/{each.title}", each.open_rows, each.notes, is_cut=True) for each in found]
    return [
        Sheet(
            path, f"{name}/{each.title}" if each.title else name, each.open_rows, is_one_object=each.is_one_object
        )
        for each in tables_of_json(path)
    ]  # fmt: skip


def is_text(path: Path) -> bool:
    """True of a text file of rows or triples, by its ending."""
    return Path(bare_name(path)).suffix.lower() in TEXT_ENDINGS


def bare_name(path: Path) -> str:
    """Returns a file's name without ".gz"."""
    return path.name.removesuffix(".gz")


def delimiter_of(path: Path) -> str:
    """Returns the delimiter found in the file's header; a comma if it is not a text file."""
    if Path(bare_name(path)).suffix.lower() not in TEXT_ENDINGS:
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
    """The names of columns, with a number behind each that stands there a second time."""
    seen = Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if name and seen[name] > 1 else name)
    return found


def _check_header(names: list[str], file: str, line: int) -> None:
    if not names or not all(names):
        raise LoadError("a table needs a header line with a name for every column", file, line)
