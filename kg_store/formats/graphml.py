"""GraphML: nodes and edges with their data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

from kg_store.errors import LoadError
from kg_store.formats.bounds import BoundedRuns
from kg_store.formats.files import open_bytes
from kg_store.formats.graph_elements import Node, Relationship
from kg_store.formats.safe_formats import tame_xml

_NODE_LABELS: Final = ("labelV", "labels", "label", "type", "kind", "class")
_EDGE_LABELS: Final = ("labelE", "label", "type", "relation", "relationship")
"""The data in which programs write the kind of a node, or of an edge; the first that a node has counts."""
_PLAIN_EDGE: Final = "linked to"


def read_graphml(path: Path) -> Iterator[Node | Relationship]:
    """Raises LoadError, which never quotes the file."""
    import networkx

    try:
        with open_bytes(path) as stream:
            safe = tame_xml(cast(IO[bytes], BoundedRuns(stream, path.name, b"<")), path.name)
            graph = networkx.read_graphml(safe, force_multigraph=True)
    except LoadError:
        raise
    except Exception:
        raise LoadError("not a GraphML file that can be read", path.name) from None
    for name, data in graph.nodes(data=True):
        key = next((key for key in _NODE_LABELS if data.get(key)), None)
        labels = [part for part in str(data.get(key, "")).strip(":").split(":") if part] if key else []
        yield Node(str(name), labels, _properties(data, key))
    for start, end, data in graph.edges(data=True):
        key = next((key for key in _EDGE_LABELS if data.get(key)), None)
        relation = str(data[key]) if key else _PLAIN_EDGE
        yield Relationship(relation, str(start), str(end), _properties(data, key, "id"))


def _properties(data: dict[str, Any], *without: str | None) -> dict[str, list[object]]:
    return {key: [value] for key, value in data.items() if key not in without and value not in ("", None)}
