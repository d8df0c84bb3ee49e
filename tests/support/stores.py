"""Helpers of the store's tests: a catalog in a folder of its own, small graphs, and look-ups by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, create_engine, event

from kg_store.catalog import Catalog, PrivateGraph
from kg_store.loading.load import LoadedGraph, LoadedNode, load_graph
from kg_store.sources.policy import Policy, TriplesPolicy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_sources
from kg_store.storage.master_key import MasterKey
from kg_store.storage.tables import metadata
from kg_store.storage.vault import readable_name
from kg_store.terms import Hop, Mids, Schema

MASTER = MasterKey.generate()
MID_KEY = bytes(range(7, 39))
PREFIXES = """@prefix : <http://clinic.test/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CLINIC = (
    PREFIXES
    + """
:p1 a :Patient ; rdfs:label "Zofia Quarrel"@en, "Sofie Quarrel"@de ; skos:altLabel "Zosia Q" ;
    :treatedBy :d1 ; :bornOn "1961-02-11"^^xsd:date ; :weight 71.5 ; :ssn "843-48-1389" .
:p2 a :Patient ; rdfs:label "Aurelio Vantongeren" ; :treatedBy :d1, :d2 ; :weight 80 .
:d1 a :Doctor ; rdfs:label "Ottoline Brackwater" ; :worksIn :w1 .
:d2 a :Doctor ; rdfs:label "Ptolemy Ashgrove" ; :worksIn :w1 .
:w1 a :Ward ; rdfs:label "Kestrel Wing" .
[] :of :p1 ; :seenBy :d2 ; :on "2020-03-12"^^xsd:date .
"""
)
"""A graph with entities, values and a mediator; its names stand nowhere else in the project."""


def written(folder: Path, text: str, name: str = "clinic.ttl") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def raw_of(folder: Path, text: str, name: str = "clinic.ttl") -> RawGraph:
    """Reads a graph; lines of text files are read as triples, whatever they look like."""
    return read_sources([written(folder, text, name)], triples=[TriplesPolicy()])


def loaded_of(folder: Path, text: str, policy: Policy | None = None, name: str = "clinic.ttl") -> LoadedGraph:
    return load_graph(raw_of(folder, text, name), policy or Policy(), MID_KEY)


def engine_in(folder: Path) -> Engine:
    engine = create_engine(f"sqlite:///{folder / 'arog.db'}", connect_args={"timeout": 20})

    @event.listens_for(engine, "connect")
    def _prepare(connection, _entry):  # type: ignore[no-untyped-def]
        for pragma in ("journal_mode=WAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    metadata.create_all(engine)
    return engine


def catalog_in(folder: Path, master: str = MASTER, phrases: Sequence[str] = (), versions_kept: int = 1) -> Catalog:
    folder.mkdir(exist_ok=True)
    return Catalog(folder, engine_in(folder), MasterKey.from_text(master), phrases, versions_kept)


def concepts_of(schema: Schema) -> Sequence[str]:
    return schema.concepts


def load_text(  # type: ignore[no-untyped-def]
    catalog: Catalog, text: str, folder: Path, graph: str = "clinic", tenant: str = "t1", policy: Policy | None = None
):
    return catalog.load(tenant, graph, [written(folder, text)], policy, concepts_of)


def node_named(loaded: LoadedGraph, name: str) -> LoadedNode:
    found = [node for node in loaded.nodes() if name in (*node.record.names, node.record.lexical)]
    assert len(found) == 1, f"{len(found)} nodes"
    return found[0]


def all_names(loaded: LoadedGraph) -> set[str]:
    return {name for node in loaded.nodes() for name in node.record.names}


def labels_of(schema: Schema | LoadedGraph) -> list[str]:
    return [relation.label for relation in schema.relations]


def mid_of(graph: PrivateGraph, name: str) -> int:
    return next(mid for mid, record in graph.vault.all_records() if name in (*record.names, record.lexical))


def names_of(graph: PrivateGraph, mids: Mids) -> set[str]:
    return {readable_name(record) for record in graph.vault.records(mids).values()}


def reached_names(graph: PrivateGraph, name: str, label: str, inverse: bool = False) -> set[str]:
    """Returns the names at the end of one hop from the thing of that name."""
    relation = next(each for each in graph.blind.schema.relations if each.label == label)
    start = np.array([mid_of(graph, name)], dtype=np.int64)
    tails = graph.blind.neighbours(start, Hop(relation.id, inverse)).tails
    return names_of(graph, tails)


def real_data(name: str) -> Path:
    """Returns the path of a file of the shared data; skips the test, visibly, if it is absent."""
    default = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("AROG_DATA", default)) / name
    if not path.is_file():
        pytest.skip(f"{name} is not here; set AROG_DATA")
    return path
