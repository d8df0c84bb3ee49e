"""CSV of property graphs: what `neo4j-admin database import` and Gremlin's loaders take, and what `apoc.export.csv`
writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import TableFile
from kg_store.formats.files import open_bytes
from kg_store.formats.graph_elements import (
    Node,
    Relationship,
    header_of_text,
    kind_of_type,
    parse_csv_list,
    split_array,
)
from kg_store.terms import ValueKind

_FIELD = re.compile(r"(?P<name>[^:]*)(?::(?P<type>[A-Za-z_]+(?:\[\])?)(?:\((?P<space>[^()]*)\))?(?:\{.*\})?)?")
_APOC = ("_id", "_labels", "_start", "_end", "_type")
_GREMLIN = {"~id": "ID", "~from": "START_ID", "~to": "END_ID", "~label": "LABEL"}
"""The fields of Gremlin's CSV, as Amazon Neptune loads it, as Neo4j's; a label is a relationship's type too."""
_ADMIN = frozenset({"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"})
_LABELS = ("LABEL", "_labels")


@dataclass(frozen=True, slots=True)
class _Field:
    """One column: a field of Neo4j's (`ID`, `_start`, ...) or a property. `space`: ids of several may be alike."""

    name: str
    field: str
    kind: ValueKind | None
    space: str
    is_array: bool


def is_node_header(header: Sequence[str]) -> bool:
    """True where a header is of nodes, or of relationships, or of both."""
    if {"_id", "_labels"} <= set(header) or {"_start", "_end", "_type"} <= set(header):
        return True
    wanted = {found.field for cell in header if (found := _field(cell)) is not None}
    return "ID" in wanted or {"START_ID", "END_ID"} <= wanted


def read_neo4j_csv(path: Path) -> Iterator[Node | Relationship]:
    """Every line as a node or a relationship. Raises LoadError."""
    delimiter, header = header_of_text(path)
    fields = [_field(cell) for cell in header]
    if None in fields:
        place = fields.index(None) + 1
        raise LoadError(f"column {place} of the header is no `name:type`, as neo4j-admin writes them", path.name, 1)
    make = _maker([each for each in fields if each is not None], path.name)
    with open_bytes(path) as stream:
        rows = TableFile(stream, path.name).quoted_rows(delimiter)
        next(rows)
        for line, cells in rows:
            if not any(cells):
                continue
            if len(cells) != len(fields):
                reason = f"this line has {len(cells)} cells, the header has {len(fields)}"
                raise LoadError(reason, path.name, line)
            yield make(cells, line)


def _field(cell: str) -> _Field | None:
    if cell in _APOC:
        return _Field("", cell, None, "", False)
    if cell in _GREMLIN:
        return _Field("", _GREMLIN[cell], None, "", False)
    match = _FIELD.fullmatch(cell)
    if match is None:
        return None
    name, kind, space = match["name"], match["type"] or "", match["space"] or ""
    if kind in _ADMIN:
        return _Field(name, kind, None, space, False)
    return _Field(name, "", kind_of_type(kind), "", kind.endswith("[]"))


def _maker(fields: Sequence[_Field], file: str) -> Callable[[Sequence[str], int], Node | Relationship]:
    place = {each.field: at for at, each in enumerate(fields) if each.field}
    kinds = {each.name: each.kind for each in fields if not each.field and each.kind is not None}

    def cell(cells: Sequence[str], *wanted: str) -> str:
        return next((cells[place[field]] for field in wanted if field in place), "")

    def space(*wanted: str) -> str:
        return next(
            (fields[place[field]].space + "/" for field in wanted if field in place and fields[place[field]].space), ""
        )

    def values(cells: Sequence[str]) -> dict[str, list[str]]:
        filled = [(each, text) for each, text in zip(fields, cells, strict=True) if text]
        found = {each.name: _values(text, each) for each, text in filled if not each.field and each.name}
        # An id with a name is a property as well.
        named = {each.name: [text] for each, text in filled if each.field == "ID" and each.name}
        return {**named, **found}

    def make(cells: Sequence[str], line: int) -> Node | Relationship:
        start, end = cell(cells, "START_ID", "_start"), cell(cells, "END_ID", "_end")
        if start or end:
            kind = cell(cells, "TYPE", "_type", "LABEL")
            if not (start and end and kind):
                raise LoadError("a relationship needs a start, an end and a type", file, line)
            ends = space("START_ID") + start, space("END_ID") + end
            return Relationship(kind, *ends, values(cells), kinds)
        found = cell(cells, "ID", "_id")
        if not found:
            raise LoadError("this line has no id", file, line)
        labels = [part for part in re.split("[;:]", cell(cells, *_LABELS)) if part.strip()]
        return Node(space("ID") + found, labels, values(cells), kinds)

    return make


def _values(text: str, each: _Field) -> list[str]:
    if each.is_array:
        return split_array(text)
    return parse_csv_list(text) if text.startswith("[") and text.endswith("]") else [text]
