"""Nodes and relationships of a property graph, and how exports write the kinds of their values."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kg_store.formats.delimited_text import TableFile
from kg_store.formats.files import open_bytes
from kg_store.terms import ValueKind

_NUMBERS = ("int", "long", "short", "byte", "float", "double", "number", "integer", "bigdecimal")
_DATES = ("date", "datetime", "localdatetime")
_TRUTHS = ("boolean", "bool")

Values = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class Node:
    """`id` tells it apart in its export; every property has a list of values."""

    id: str = field(repr=False)
    labels: Sequence[str]
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relation of type `type` from the node `start` to the node `end`."""

    type: str
    start: str = field(repr=False)
    end: str = field(repr=False)
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


def header_of_text(path: Path) -> tuple[str, list[str]]:
    """The delimiter and the cells of the first line, empty ones too."""
    with open_bytes(path) as stream:
        opened = TableFile(stream, path.name)
        delimiter = opened.header_delimiter()
        return delimiter, next(opened.quoted_rows(delimiter))[1]


def kind_of_type(name: str) -> ValueKind | None:
    """The kind of the values of a column of type `int`, `string[]`, ... in a header; None where it says nothing."""
    word = name.removesuffix("[]").partition("{")[0].lower()
    if word in _NUMBERS:
        return ValueKind.NUMBER
    if word in _DATES:
        return ValueKind.DATE
    return ValueKind.TRUTH if word in _TRUTHS else ValueKind.TEXT if word else None


def split_array(cell: str, delimiter: str = ";") -> list[str]:
    """The values of a cell of type `[]`."""
    return [part for part in (each.strip() for each in cell.split(delimiter)) if part]


def parse_csv_list(cell: str) -> list[str]:
    """The values of a list that stands in a cell as JSON or between brackets."""
    inner = cell.strip().removeprefix("[").removesuffix("]")
    return [part.strip() for part in next(csv.reader([inner], skipinitialspace=True), []) if part.strip()]
