"""The settings by which lines of text files are read: the `[[tables]]` and `[[triples]]` of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool

from kg_store.terms import ValueKind
from kg_store.text.labels import clean_label

MAX_LABEL_CHARS = 80
MAX_COLUMN_CHARS = 200
MAX_PLACE = 100
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS), AfterValidator(clean_label)]
Column = Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_CHARS)]


class PolicyPart(BaseModel):
    """Strict about unknown fields; its errors do not quote the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ColumnPolicy(PolicyPart):
    """One column as a relation. `table`: its cells are keys of the table of that file; else they are values of `kind`.

    `relation` is the column's own name where it is left out; `separator` parts several values in one cell.
    """

    relation: Label | None = None
    kind: ValueKind = ValueKind.TEXT
    table: Column | None = None
    separator: Annotated[str, Field(min_length=1, max_length=3)] | None = None


class TablePolicy(PolicyPart):
    """One row is one entity. `names` are columns, or lists of columns that are one name together; best first.

    A file belongs to the table of its name, else to the only one whose columns its header has.
    """

    file: Column
    key: Column
    concept: Label | None = None
    names: tuple[Column | Annotated[tuple[Column, ...], Field(min_length=2)], ...] = ()
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    encoding: Literal["utf-8", "utf-16", "latin-1", "cp1252"] = "utf-8"
    columns: dict[Column, ColumnPolicy] = {}

    def used(self) -> dict[str, str]:
        """Each column that the table reads, and what for: `the key`, `name 1`, `column 2`."""
        used = {self.key: "the key"}
        for number, name in enumerate(self.names, start=1):
            for part in (name,) if isinstance(name, str) else name:
                used.setdefault(part, f"name {number}")
        for number, column in enumerate(self.columns, start=1):
            used.setdefault(column, f"column {number}")
        return used

    def lines(self) -> Iterator[str]:
        """The table as TOML."""
        yield from ("", "[[tables]]")
        for field in ("file", "key", "concept", "names", "delimiter", "encoding"):
            value = getattr(self, field)
            if value != type(self).model_fields[field].default:
                yield f"{field} = {toml(value)}"
        for column, settings in self.columns.items():
            filled = {name: getattr(settings, name) for name in type(settings).model_fields}
            default = ColumnPolicy()
            told = [f"{name} = {toml(value)}" for name, value in filled.items() if value != getattr(default, name)]
            yield from ("", f"[tables.columns.{toml(column)}]", *told)


def _three_places(places: tuple[int, int, int]) -> tuple[int, int, int]:
    if len(set(places)) < len(places):
        raise ValueError("head, relation and tail are three different columns")
    return places


Place = Annotated[int, Field(ge=1, le=MAX_PLACE)]


class TriplesPolicy(PolicyPart):
    """A text file whose lines are triples. Without `file` it is every text file that no table maps.

    `columns` are the places of head, relation and tail, counted from 1. `header`: the first line is none.
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
