"""The settings for reading lines of text files: the `[[tables]]` and `[[triples]]` of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator

from kg_store.formats.encodings import Encoding
from kg_store.terms import ValueKind
from kg_store.text.labels import clean_label, readable

MAX_LABEL_CHARS = 80
MAX_COLUMN_CHARS = 200
MAX_PLACE = 100
RELATION_NAMESPACE = "urn:arog:relation:"
CLASS_NAMESPACE = "urn:arog:class:"
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS), AfterValidator(clean_label)]
Column = Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_CHARS)]
Marks = tuple[Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARS)], ...]


class PolicyPart(BaseModel):
    """Strict about unknown fields; its errors do not quote the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ColumnPolicy(PolicyPart):
    """One column as a relation.

    `table`: its cells are keys of the table of that file, or cells of its column `by`. `concept`: each different cell
    is a thing of that kind. Otherwise they are values of `kind`. `relation`: the default is the column's name;
    `separator` separates several values in one cell. `unit`: of numbers; `first`: the part that dates like 05/03/1980
    begin with. `own`: the relation belongs to this table alone, so its settings leave other tables unchanged. `empty`:
    cells that say that nothing is known, beside those of the table.
    """

    relation: Label | None = None
    kind: ValueKind = ValueKind.TEXT
    table: Column | None = None
    by: Column | None = None
    concept: Label | None = None
    unit: Label | None = None
    first: Literal["day", "month"] | None = None
    separator: Annotated[str, Field(min_length=1, max_length=3)] | None = None
    own: StrictBool = False
    empty: Marks = ()

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if self.table is not None and self.concept is not None:
            raise ValueError("a column has a table or a concept, not both")
        if self.by is not None and self.table is None:
            raise ValueError("`by` is a column of a table, which is not given")
        return self

    def label(self, column: str) -> str:
        """The words of its relation."""
        return self.relation or readable(column).lower()


class TablePolicy(PolicyPart):
    """A table in which each row is an entity. `names`: columns, or lists of columns that form one name; best first.

    Without a `key` a row joins the things that its columns refer to. A file belongs to the table with its name, else
    to the only table whose columns are in its header. A sheet of a workbook is called `book.xlsx/Sheet`. `*`
    in a name stands for anything: the files of `orders-*.csv` are one table.
    `header_row`: the line of the header, where titles stand above it; 0 where there is none. `empty`: cells that say
    that nothing is known, such as `NULL`.
    """

    file: Column
    key: Column | None = None
    concept: Label | None = None
    names: tuple[Column | Annotated[tuple[Column, ...], Field(min_length=2)], ...] = ()
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    encoding: Encoding = "utf-8"
    header_row: Annotated[int, Field(ge=0)] | None = None
    empty: Marks = ()
    columns: dict[Column, ColumnPolicy] = {}

    def has(self, name: str) -> bool:
        """True where the file or sheet of that name belongs to this table by its name."""
        return name == self.file or (self.is_pattern and pattern_of(self.file).fullmatch(name) is not None)

    @property
    def is_pattern(self) -> bool:
        """True where its files may have several names; they may also lack some of its columns."""
        return "*" in self.file

    def used(self) -> dict[str, str]:
        """Returns each column that the table uses, and for what: `the key`, `name 1`, `column 2`."""
        used = {self.key: "the key"} if self.key is not None else {}
        for number, name in enumerate(self.names, start=1):
            for part in (name,) if isinstance(name, str) else name:
                used.setdefault(part, f"name {number}")
        for number, column in enumerate(self.columns, start=1):
            used.setdefault(column, f"column {number}")
        return used

    def filled(self, row: Mapping[str, str], column: str) -> str:
        """The cell of a column; empty where it only says that nothing is known."""
        cell, settings = row[column], self.columns.get(column)
        marks = (*self.empty, *settings.empty) if settings is not None else self.empty
        return "" if cell in marks else cell

    def references(self) -> list[str]:
        """The columns that refer to tables, in their order."""
        return [column for column, settings in self.columns.items() if settings.table is not None]

    @property
    def links(self) -> bool:
        """True if its rows are not things but join some."""
        return self.key is None and bool(self.references())

    @property
    def kind(self) -> str:
        """The kind of its rows in words."""
        return self.concept or stem_of(self.file)

    @property
    def class_iri(self) -> str:
        return CLASS_NAMESPACE + quote(self.kind, safe="")

    def relation_iri(self, column: str) -> str:
        """Returns the predicate of a column; columns with the same words share it, unless one is `own`."""
        settings = self.columns[column]
        owner = quote(stem_of(self.file), safe="") + "/" if settings.own else ""
        return f"{RELATION_NAMESPACE}{owner}{quote(settings.label(column), safe='')}"

    def lines(self) -> Iterator[str]:
        """The table as TOML."""
        yield from ("", "[[tables]]")
        for field in ("file", "key", "concept", "names", "delimiter", "encoding", "header_row", "empty"):
            value = getattr(self, field)
            if value != type(self).model_fields[field].default:
                yield f"{field} = {toml(value)}"
        for column, settings in self.columns.items():
            filled = {name: getattr(settings, name) for name in type(settings).model_fields}
            default = ColumnPolicy()
            told = [f"{name} = {toml(value)}" for name, value in filled.items() if value != getattr(default, name)]
            yield from ("", f"[tables.columns.{toml(column)}]", *told)


@cache
def pattern_of(file: str) -> re.Pattern[str]:
    """Returns the names that a table's `file` stands for."""
    return re.compile("[^/]*".join(map(re.escape, file.split("*"))))


def stem_of(file: str) -> str:
    """Returns a table's file without folder and ending: `book.xlsx/Sheet` -> `Sheet`."""
    last = file.rsplit("/", 1)[-1]
    return (last.rpartition(".")[0] or last) if "/" not in file else last


def _three_places(places: tuple[int, int, int]) -> tuple[int, int, int]:
    if len(set(places)) < len(places):
        raise ValueError("head, relation and tail are three different columns")
    return places


Place = Annotated[int, Field(ge=1, le=MAX_PLACE)]


class TriplesPolicy(PolicyPart):
    """A text file whose lines are triples. Without `file` it applies to every text file that no table maps.

    `columns`: the positions of head, relation and tail, counted from 1. `header`: the first line is a header.
    """

    file: Column | None = None
    columns: Annotated[tuple[Place, Place, Place], AfterValidator(_three_places)] = (1, 2, 3)
    header: StrictBool = False

    def lines(self) -> Iterator[str]:
        """The part as TOML."""
        yield from ("", "[[triples]]")
        for field, info in type(self).model_fields.items():
            if getattr(self, field) != info.default:
                yield f"{field} = {toml(getattr(self, field))}"


def toml(value: object) -> str:
    """A string, number, truth value or list as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda mark: f"\\u{ord(mark.group()):04x}", escaped) + '"'
