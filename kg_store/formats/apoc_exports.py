"""JSON that `apoc.export.json` writes: lines, a list, or lists of `nodes` and `rels`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kg_store.errors import LoadError
from kg_store.formats.graph_elements import Node, Relationship
from kg_store.formats.json_records import Record, records_of

_LISTS = {"nodes": "node", "rels": "relationship", "relationships": "relationship"}


def is_apoc_json(path: Path) -> bool:
    """True where the first record is a node or a relationship as APOC writes them. Raises LoadError."""
    first = next(itertools.islice(records_of(path), 1), None)
    return first is not None and _type(first[0], first[2]) is not None


def read_apoc_json(path: Path) -> Iterator[Node | Relationship]:
    """Every record as a node or a relationship. Raises LoadError."""
    for title, line, record in records_of(path):
        kind = _type(title, record)
        if kind is None:
            raise LoadError("this record is neither a node nor a relationship of an APOC export", path.name, line)
        yield _node(record) if kind == "node" else _relationship(record, path.name, line)


def _type(title: str, record: Record) -> str | None:
    kind = record.get("type")
    if kind == "node" and "id" in record:
        return "node"
    if kind == "relationship" and isinstance(record.get("start"), dict):
        return "relationship"
    # With `jsonFormat: "JSON"` the lists say what their records are.
    listed = _LISTS.get(title)
    return listed if listed and "id" in record and ("properties" in record or "labels" in record) else None


def _node(record: Record) -> Node:
    labels = [str(label) for label in record.get("labels") or () if isinstance(label, str)]
    return Node(str(record["id"]), labels, _values(record.get("properties")))


def _relationship(record: Record, file: str, line: int) -> Relationship:
    start, end = record.get("start"), record.get("end")
    kind = record.get("label") or record.get("type")
    ids = [each.get("id") for each in (start, end) if isinstance(each, dict)]
    if len(ids) < 2 or None in ids or not isinstance(kind, str):
        raise LoadError("a relationship needs a start, an end and a label", file, line)
    return Relationship(kind, str(ids[0]), str(ids[1]), _values(record.get("properties")))


def _values(properties: object) -> dict[str, list[object]]:
    if not isinstance(properties, Mapping):
        return {}
    found: dict[str, list[object]] = {}
    for key, value in properties.items():
        found.update(_of_property(str(key), value))
    return found


def _of_property(key: str, value: Any) -> dict[str, list[object]]:
    if isinstance(value, dict):
        # Points and durations: each part is a property of its own.
        return {f"{key} {part}": [inner] for part, inner in value.items() if not isinstance(inner, dict | list)}
    return {key: [each for each in value if not isinstance(each, dict | list)] if isinstance(value, list) else [value]}
