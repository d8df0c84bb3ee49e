"""The policies of tables: which column is the key, which hold names, references, things, values or figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator

from kg_store.formats.files import Encoding
from kg_store.terms import ValueKind
from kg_store.text.labels import FORBIDDEN_IN_LABELS, clean_label, readable
from kg_store.text.notation import DecimalMark, FirstPart

MAX_LABEL_CHARS = 80
MAX_COLUMN_CHARS = 200
MAX_PLACE = 100
RELATION_NAMESPACE = "urn:arog:relation:"
CLASS_NAMESPACE = "urn:arog:class:"
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS), AfterValidator(clean_label)]
Column = Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_CHARS)]
Marks = tuple[Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARS)], ...]


def as_label(words: str) -> str:
    """Returns `words` as a label of a policy; empty if nothing is left of them."""
    return FORBIDDEN_IN_LABELS.sub(" ", words).strip()[:MAX_LABEL_CHARS].strip()


class PolicyPart(BaseModel):
    """Base class of all parts of a policy. Unknown fields are refused; validation errors do not quote the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    def lines(self, heading: str = "") -> list[str]:
        """Returns its settings as lines of TOML below `heading`.

        Defaults are left out, and so are parts that have a heading of their own.
        """
        fields = type(self).model_fields.items()
        told = [(name, getattr(self, name), info.get_default(call_default_factory=True)) for name, info in fields]
        plain = [(name, value) for name, value, default in told if value != default and not _has_headings(value)]
        return ["", heading, *(f"{name} = {toml(value)}" for name, value in plain)]


def _has_headings(value: object) -> bool:
    first = next(iter(value), None) if isinstance(value, tuple) else value
    return isinstance(first, dict | PolicyPart)


def toml(value: object) -> str:
    """Returns a string, number, truth value or list as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda mark: f"\\u{ord(mark.group()):04x}", escaped) + '"'


class ColumnPolicy(PolicyPart):
    """The settings of one column, which becomes a relation.

    `table`: the table that the cells refer to, by its keys, or by the cells of its column `by`. `concept`: each
    different cell is an entity of that kind. Without these two, cells are values of `kind`. `relation`: the relation's
    label; default: the column's name. `separator` separates several values in one cell. `unit`: the unit of numbers.
    `decimal`: the mark before decimals; default: as each cell shows. `first`: the part that dates like 05/03/1980
    begin with. `serial`: whole numbers are dates, the days that a spreadsheet counts from 1900. `own`: the relation
    belongs to this table alone, so that its settings do not apply to other tables. `empty`: cells that mean that
    nothing is known, in addition to those of the table. `beside`: columns whose cells, behind this one's, are what the
    key of `table` is made of. `of`: the column of things that the cells tell of, in place of the row: the `email` of
    the customer of an order. `is_name`: such a cell is what the thing is called.
    """

    relation: Label | None = None
    kind: ValueKind = ValueKind.TEXT
    table: Column | None = None
    by: Column | None = None
    beside: tuple[Column, ...] = ()
    concept: Label | None = None
    unit: Label | None = None
    decimal: DecimalMark | None = None
    first: FirstPart | None = None
    serial: StrictBool = False
    separator: Annotated[str, Field(min_length=1, max_length=3)] | None = None
    own: StrictBool = False
    empty: Marks = ()
    of: Column | None = None
    is_name: StrictBool = False

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if self.table is not None and self.concept is not None:
            raise ValueError("a column has a table or a concept, not both")
        if self.by is not None and self.table is None:
            raise ValueError("`by` is a column of a table, which is not given")
        if self.beside and (self.table is None or self.by is not None or self.separator is not None):
            raise ValueError("`beside` needs a `table`, and no `by` or `separator`")
        if self.is_name and (self.of is None or self.concept is not None or self.table is not None):
            raise ValueError("`is_name` needs `of`, the column of the things that are called so, and no other thing")
        return self

    def label(self, column: str) -> str:
        """Returns the label of the column's relation."""
        return self.relation or readable(column).lower()


class SpreadPolicy(PolicyPart):
    """Columns whose headers are values, such as years: a row has a figure for each, with the header and the cell.

    `columns`: maps each header to its value. `over`: the relation of a figure to that value, a date. `relation`: its
    relation to the cell, a number with this `unit`, and this mark before `decimal`s.
    """

    relation: Label
    over: Label = "year"
    unit: Label | None = None
    decimal: DecimalMark | None = None
    empty: Marks = ()
    columns: dict[Column, Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARS)]]

    @property
    def cells(self) -> ColumnPolicy:
        """The settings of its columns."""
        return ColumnPolicy(kind=ValueKind.NUMBER, unit=self.unit, decimal=self.decimal, empty=self.empty)

    def iris(self) -> tuple[str, str]:
        """Returns the predicates of a figure: of the header's value, and of the cell."""
        over, relation = (RELATION_NAMESPACE + quote(label, safe="") for label in (self.over, self.relation))
        return over, relation


class TablePolicy(PolicyPart):
    """A table in which each row is an entity.

    `names`: columns, or lists of columns that together form one name; the best first. Without a `key`, a row joins the
    entities that its columns refer to. A file belongs to the table with its name, or else to the only table whose
    columns are in its header. A sheet of a workbook is called `book.xlsx/Sheet`. `*` in a name stands for anything:
    the files of `orders-*.csv` are one table.

    `header_row`: the line of the header, if titles stand above it; 0 if there is none. `empty`: cells that mean that
    nothing is known, such as `NULL`. `things`: each row is an entity although it has no key. `key_beside`: columns
    that only together with `key` tell the rows apart. `totals`: a last row that holds the sums of those above is left
    out. `part`: a further column, which holds what the first `*` in `file` stands for. `parts`: if given, `*` stands
    for these alone.
    """

    file: Column
    key: Column | None = None
    key_beside: tuple[Column, ...] = ()
    concept: Label | None = None
    names: tuple[Column | Annotated[tuple[Column, ...], Field(min_length=2)], ...] = ()
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    encoding: Encoding = "utf-8"
    header_row: Annotated[int, Field(ge=0)] | None = None
    empty: Marks = ()
    things: StrictBool = False
    totals: StrictBool = False
    part: Column | None = None
    parts: Marks = ()
    columns: dict[Column, ColumnPolicy] = {}
    spread: tuple[SpreadPolicy, ...] = ()

    @model_validator(mode="after")
    def _tells_of_things(self) -> Self:
        for settings in self.columns.values():
            of = self.columns.get(settings.of) if settings.of is not None else None
            if settings.of is not None and (of is None or of.concept is None or of.of is not None or of.separator):
                raise ValueError("`of` names a column of this table that has a `concept`, and no `separator` or `of`")
        return self

    def figure_of(self, column: str) -> SpreadPolicy | None:
        """Returns the settings of a column whose header is a value, such as a year; None for any other column."""
        return next((spread for spread in self.spread if column in spread.columns), None)

    def telling_of(self, column: str) -> dict[str, ColumnPolicy]:
        """Returns the columns that tell of the things of `column`, with their settings."""
        return {name: settings for name, settings in self.columns.items() if settings.of == column}

    def has(self, name: str) -> bool:
        """Returns True if the file or sheet of that name belongs to this table by its name."""
        found = pattern_of(self.file).fullmatch(name) if self.is_pattern else None
        return name == self.file or (found is not None and (not self.parts or found[1] in self.parts))

    def part_of(self, name: str) -> str:
        """Returns what the first `*` in `file` stands for in the name of a file or sheet, as words."""
        found = pattern_of(self.file).fullmatch(name) if self.is_pattern else None
        return " ".join(found[1].replace("_", " ").split()) if found is not None else ""

    @property
    def is_pattern(self) -> bool:
        """True if files of several names may belong to the table; such a file may lack some of its columns."""
        return "*" in self.file

    def used(self) -> dict[str, str]:
        """Returns each column that the table uses, with its role: `the key`, `name 1`, `column 2`."""
        used = dict.fromkeys((self.key, *self.key_beside), "the key") if self.key is not None else {}
        for number, name in enumerate(self.names, start=1):
            for part in (name,) if isinstance(name, str) else name:
                used.setdefault(part, f"name {number}")
        for number, (column, settings) in enumerate(self.columns.items(), start=1):
            for part in (column, *settings.beside):
                used.setdefault(part, f"column {number}")
        used.update((column, "a figure") for spread in self.spread for column in spread.columns)
        return used

    def key_of(self, row: Mapping[str, str]) -> str:
        """Returns the key of a row; empty if a part of it is. To be called if the table has a key."""
        return joined_key([row[column] for column in (self.key or "", *self.key_beside)])

    def filled(self, row: Mapping[str, str], column: str) -> str:
        """Returns the cell of a column; empty if it means that nothing is known."""
        cell, settings = row[column], self.columns.get(column)
        marks = (*self.empty, *settings.empty) if settings is not None else self.empty
        return "" if cell in marks else cell

    def references(self) -> list[str]:
        """Returns the columns whose cells refer to rows of a table, in order."""
        return [column for column, settings in self.columns.items() if settings.table is not None]

    @property
    def links(self) -> bool:
        """True if each row joins entities instead of being one: no key, but columns that refer to tables."""
        return self.key is None and not self.things and bool(self.references())

    @property
    def kind(self) -> str:
        """The kind of thing that a row is, in words: the concept, or the file's name."""
        return self.concept or stem_of(self.file)

    @property
    def class_iri(self) -> str:
        return CLASS_NAMESPACE + quote(self.kind, safe="")

    def relation_iri(self, column: str) -> str:
        """Returns the predicate of a column; columns with the same label share it, unless one is `own`."""
        settings = self.columns[column]
        owner = quote(stem_of(self.file), safe="") + "/" if settings.own else ""
        return f"{RELATION_NAMESPACE}{owner}{quote(settings.label(column), safe='')}"


def joined_key(parts: Sequence[str]) -> str:
    """Returns the cells of several columns as one key; empty if one of them is."""
    return " / ".join(parts) if all(parts) else ""


@cache
def pattern_of(file: str) -> re.Pattern[str]:
    """Returns a pattern of the file names that a table's `file` stands for."""
    return re.compile("([^/]*)".join(map(re.escape, file.split("*"))))


def stem_of(file: str) -> str:
    """Returns the name of a table's file without folder and ending: `book.xlsx/Sheet` -> `Sheet`."""
    last = file.rsplit("/", 1)[-1]
    return (last.rpartition(".")[0] or last) if "/" not in file else last
