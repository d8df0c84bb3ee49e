"""Exports of property graphs: neo4j-admin's CSV, and APOC's CSV and JSON, as nodes and relationships, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kg_store.errors import LoadError
from kg_store.formats.apoc_exports import is_apoc_json, read_apoc_json
from kg_store.formats.graph_elements import Node, Relationship, header_of_text
from kg_store.formats.neo4j_tables import is_node_header, read_neo4j_csv


def is_property_graph(path: Path) -> bool:
    """True of a file whose first line or record is that of an export. Broken files are none."""
    name = path.name.removesuffix(".gz").lower()
    try:
        if name.endswith((".json", ".jsonl", ".ndjson")):
            return is_apoc_json(path)
        if not name.endswith((".csv", ".tsv", ".txt")):
            return False
        return is_node_header(header_of_text(path)[1])
    except (LoadError, StopIteration):
        return False


def read_property_graph(path: Path) -> Iterator[Node | Relationship]:
    """Every node and relationship of an export. Raises LoadError with the line, and never quotes it."""
    is_json = path.name.removesuffix(".gz").lower().endswith((".json", ".jsonl", ".ndjson"))
    return read_apoc_json(path) if is_json else read_neo4j_csv(path)
