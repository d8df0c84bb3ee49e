"""Graphs in files: neo4j-admin's CSV, APOC's CSV and JSON, GraphML, family trees and address books, as nodes and
relationships.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.address_books import read_cards
from kg_store.formats.apoc_exports import is_apoc_json, read_apoc_json
from kg_store.formats.family_trees import read_gedcom
from kg_store.formats.graph_elements import Node, Relationship, header_of_text
from kg_store.formats.graphml import read_graphml
from kg_store.formats.neo4j_tables import is_node_header, read_neo4j_csv

_READERS: Final[Mapping[str, Callable[[Path, Counter[str]], Iterator[Node | Relationship]]]] = {
    ".graphml": lambda path, _left: read_graphml(path),
    ".ged": read_gedcom,
    ".vcf": read_cards,
    ".ics": read_cards,
}
GRAPH_ENDINGS: Final = tuple(_READERS)
_JSON: Final = (".json", ".jsonl", ".ndjson")


def is_property_graph(path: Path) -> bool:
    """True of a file that holds a graph by its ending, or whose first line or record is that of an export. Broken
    files are none.
    """
    ending = _ending(path)
    try:
        if ending in _JSON:
            return is_apoc_json(path)
        if ending not in (".csv", ".tsv", ".txt"):
            return ending in _READERS
        return is_node_header(header_of_text(path)[1])
    except (LoadError, StopIteration):
        return False


def read_property_graph(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Every node and relationship of a file; counts in `left`, by reason, what is left out.

    Raises LoadError with the line, and never quotes it.
    """
    ending = _ending(path)
    if ending in _READERS:
        return _READERS[ending](path, left)
    return read_apoc_json(path) if ending in _JSON else read_neo4j_csv(path)


def _ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()
