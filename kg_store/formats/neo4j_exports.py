"""Reads exports of property graphs: CSV of `neo4j-admin`, Gremlin's loaders and `apoc.export.csv`, and APOC's JSON."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import TableFile
from kg_store.formats.files import open_bytes
from kg_store.formats.json_records import Record, records_of
from kg_store.terms import ValueKind

_KINDS = {
    **dict.fromkeys("int long short byte float double number integer bigdecimal".split(), ValueKind.NUMBER),
    **dict.fromkeys("date datetime localdatetime".split(), ValueKind.DATE),
    **dict.fromkeys("boolean bool".split(), ValueKind.TRUTH),
}

Values = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `id` is unique in its export; each property has a list of values."""

    id: str = field(repr=False)
    labels: Sequence[str]
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship of type `type` from the node `start` to the node `end`."""

    type: str
    start: str = field(repr=False)
    end: str = field(repr=False)
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


def header_of_text(path: Path) -> tuple[str, list[str]]:
    """Returns the delimiter and the cells of the first line, including empty ones."""
    with open_bytes(path) as stream:
        opened = TableFile(stream, path.name)
        delimiter = opened.header_delimiter()
        return delimiter, next(opened.quoted_rows(delimiter))[1]


_FIELD = re.compile(r"(?P<name>[^:]*)(?::(?P<type>[A-Za-z_]+(?:\[\])?)(?:\((?P<space>[^()]*)\))?(?:\{.*\})?)?")
_APOC = ("_id", "_labels", "_start", "_end", "_type")
_GREMLIN = {"~id": "ID", "~from": "START_ID", "~to": "END_ID", "~label": "LABEL"}
"""The fields of Gremlin's CSV (as Amazon Neptune loads it) as fields of Neo4j's; a label is also a type."""
_ADMIN = frozenset({"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"})
_LABELS = ("LABEL", "_labels")


@dataclass(frozen=True, slots=True)
class _Field:
    """One column: a field of Neo4j's (`ID`, `_start`, ...) or a property.

    `space`: the id space of an id field; ids are unique only within one.
    """

    name: str
    field: str
    kind: ValueKind | None
    space: str
    is_array: bool


def is_node_header(header: Sequence[str]) -> bool:
    """Returns True if the columns are those of exported nodes or relationships (`_id` and `_labels`, `START_ID`)."""
    if {"_id", "_labels"} <= set(header) or {"_start", "_end", "_type"} <= set(header):
        return True
    wanted = {found.field for cell in header if (found := _field(cell)) is not None}
    return "ID" in wanted or {"START_ID", "END_ID"} <= wanted


def read_neo4j_csv(path: Path) -> Iterator[Node | Relationship]:
    """Yields every line as a node or a relationship. Raises LoadError."""
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
    if cell in _APOC or cell in _GREMLIN:
        return _Field("", _GREMLIN.get(cell, cell), None, "", False)
    match = _FIELD.fullmatch(cell)
    if match is None:
        return None
    name, kind, space = match["name"], match["type"] or "", match["space"] or ""
    if kind in _ADMIN:
        return _Field(name, kind, None, space, False)
    word = kind.removesuffix("[]").lower()
    return _Field(name, "", _KINDS.get(word, ValueKind.TEXT) if word else None, "", kind.endswith("[]"))


def _maker(fields: Sequence[_Field], file: str) -> Callable[[Sequence[str], int], Node | Relationship]:
    place = {each.field: at for at, each in enumerate(fields) if each.field}
    kinds = {each.name: each.kind for each in fields if not each.field and each.kind is not None}

    def cell(cells: Sequence[str], *wanted: str) -> str:
        return next((cells[place[field]] for field in wanted if field in place), "")

    def space(wanted: str) -> str:
        named = fields[place[wanted]].space if wanted in place else ""
        return f"{named}/" if named else ""

    def values(cells: Sequence[str]) -> dict[str, list[str]]:
        filled = [(each, text) for each, text in zip(fields, cells, strict=True) if text]
        found = {each.name: _values(text, each) for each, text in filled if not each.field and each.name}
        # An id column with a name is also a property.
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
        parts = text.split(";")
    elif text.startswith("[") and text.endswith("]"):
        parts = next(csv.reader([text[1:-1]], skipinitialspace=True), [])
    else:
        return [text]
    return [part.strip() for part in parts if part.strip()]


_LISTS = {"nodes": "node", "rels": "relationship", "relationships": "relationship"}


def is_apoc_json(path: Path) -> bool:
    """Returns True if the first record is a node or a relationship as APOC writes them, or holds one. Raises
    LoadError.
    """
    first = next(itertools.islice(records_of(path), 1), None)
    return first is not None and next(_parts(first[0], first[2]), None) is not None


def read_apoc_json(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Yields every node and relationship of the records; counts in `left` other values of a record. Raises LoadError.

    The rows of a query hold nodes, relationships and paths under the names that the query gave them; one that comes
    again is told once.
    """
    seen = set[tuple[str, str]]()
    for title, line, record in records_of(path):
        found = list(_parts(title, record))
        if not found:
            raise LoadError("this record is neither a node nor a relationship of an APOC export", path.name, line)
        if found[0][1] is not record:
            plain = sum(not isinstance(value, dict | list) for value in record.values())
            if plain:
                left[f"values beside the nodes of {path.name} were left out"] += plain
            found = [each for each in found if (each[0], str(each[1].get("id"))) not in seen]
            seen |= {(kind, str(part.get("id"))) for kind, part in found}
        yield from _told(found, path, line)


def _parts(title: str, record: Record) -> Iterator[tuple[str, Record]]:
    """Yields the kind and the record of what APOC wrote: the record itself, or else what it holds at any depth."""
    if (kind := _type(title, record)) is not None:
        yield kind, record
        return
    pending: list[Any] = [record]
    while pending:
        held = pending.pop()
        for child in held.values() if isinstance(held, dict) else held:
            is_told = isinstance(child, dict) and not child.keys().isdisjoint(("labels", "properties", "start"))
            kind = _type("", child) if is_told else None
            if kind is not None:
                yield kind, child
            elif isinstance(child, dict | list):
                pending.append(child)


def _told(found: Sequence[tuple[str, Record]], path: Path, line: int) -> Iterator[Node | Relationship]:
    for kind, record in found:
        values = _values_of_record(record.get("properties"))
        if kind == "node":
            labels = [label for label in record.get("labels") or () if isinstance(label, str)]
            yield Node(str(record["id"]), labels, values)
            continue
        ids = [each.get("id") for each in (record.get("start"), record.get("end")) if isinstance(each, dict)]
        relation = record.get("label") or record.get("type")
        if len(ids) < 2 or None in ids or not isinstance(relation, str):
            raise LoadError("a relationship needs a start, an end and a label", path.name, line)
        yield Relationship(relation, str(ids[0]), str(ids[1]), values)


def _type(title: str, record: Record) -> str | None:
    kind = record.get("type")
    if kind == "node" and "id" in record:
        return "node"
    if kind == "relationship" and isinstance(record.get("start"), dict):
        return "relationship"
    # With `jsonFormat: "JSON"`, the key of the list tells the kind of its records.
    listed = _LISTS.get(title)
    return listed if listed and "id" in record and ("properties" in record or "labels" in record) else None


def _values_of_record(properties: object) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for key, value in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(value, dict):
            # A point or a duration: each part becomes a property of its own.
            parts = {f"{key} {part}": [inner] for part, inner in value.items()}
        else:
            parts = {str(key): value if isinstance(value, list) else [value]}
        for name, values in parts.items():
            plain = [each for each in values if not isinstance(each, dict | list)]
            if plain or not isinstance(value, dict):
                found[name] = plain
    return found
