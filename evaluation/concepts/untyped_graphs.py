"""Graphs loaded without the types that they declare: each thing's concept, as the service gives it."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from evaluation.datasets.questions import QuestionsError
from kg_store.errors import LoadError
from kg_store.graph.schema import with_concepts
from kg_store.loading.load import LoadedGraph, load_graph, placeholder_schema
from kg_store.loading.sorted_triples import SortedTriples, sort_triples
from kg_store.proposals.propose import propose
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph, collect
from kg_store.sources.reader import read_sources
from kg_store.storage.master_key import mids_of
from kg_store.terms import Schema
from kg_store.version_builder import NameConcepts

TABLE_ENDING: Final = ".csv"
# The graphs are public, and nothing of a load is kept: any key will do.
_KEY: Final = bytes(32)

GraphFiles = Mapping[str, Sequence[Path]]


@dataclass(frozen=True, slots=True)
class UntypedGraph:
    """A graph whose concepts are named. `signature_of`: the position of a thing's signature, by its name or IRI."""

    schema: Schema
    signature_of: Mapping[str, int]

    def concept_of(self, node: str) -> str | None:
        """None where the graph has no such thing: a name is not one."""
        return self.schema.concepts[self.signature_of[node]] if node in self.signature_of else None


def read_graph_files(file: Path, data: Path, names: Collection[str]) -> GraphFiles:
    """The files of each of the graphs `names`, by a JSON object of names and lists of files, in `data` or beside it.
    Where tables stand beside another file, they hold the same again. Raises QuestionsError."""
    try:
        listed = {str(name): [str(each) for each in files] for name, files in json.loads(file.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        raise QuestionsError(f"{file.name} is no JSON object of graphs and their files") from None
    if not listed.keys() >= {*names}:
        raise QuestionsError(f"{file.name} lacks {len({*names} - listed.keys())} graphs that labels are of")
    return {name: _untwice([_found(each, file.parent, data) for each in listed[name]]) for name in names}


def load_untyped(files: Sequence[Path], nodes: Collection[str], name_concepts: NameConcepts) -> UntypedGraph:
    """Loads as the service does, with the proposed policy, all relations shown. Raises QuestionsError."""
    try:
        raw = without_types(_raw_of(files))
        policy = propose(raw).model_copy(update={"show_relations": "all"})
        loaded = load_graph(raw, policy, _KEY)
    except (LoadError, OSError) as problem:
        raise QuestionsError(f"{files[0].name}: {problem}") from None
    schema = placeholder_schema(loaded)
    return UntypedGraph(
        with_concepts(schema, name_concepts(schema)), _signatures(sort_triples(raw, policy), loaded, frozenset(nodes))
    )


def without_types(raw: RawGraph) -> RawGraph:
    """The same without the triples that tell a class."""
    types = [at for at in np.unique(raw.predicates).tolist() if raw.text(at).endswith(("#type", "/prop/direct/P31"))]
    kept = ~np.isin(raw.predicates, types)
    return replace(raw, subjects=raw.subjects[kept], predicates=raw.predicates[kept], objects=raw.objects[kept])


def _signatures(triples: SortedTriples, loaded: LoadedGraph, nodes: Collection[str]) -> dict[str, int]:
    """Of each of `nodes` that is in the graph; a thing sooner than a value of the same text."""
    raw, adjacency = triples.raw, loaded.adjacency
    wanted = [at for at in np.flatnonzero(triples.nodes).tolist() if raw.text(at) in nodes]
    found: dict[str, int] = {}
    for at in sorted(wanted, key=lambda at: raw.terms[at][0] == '"'):
        mid = mids_of(_KEY, [raw.terms[at]])[0]
        place = int(np.searchsorted(adjacency.mids, mid))
        if place < len(adjacency.mids) and adjacency.mids[place] == mid:
            found.setdefault(raw.text(at), int(adjacency.signatures[place]))
    return found


def _raw_of(files: Sequence[Path]) -> RawGraph:
    if any(file.suffix != TABLE_ENDING for file in files):
        return read_sources(files)
    return collect(triple for file in files for triple in _triples_of(file))


def _triples_of(table: Path) -> Iterator[tuple[str, str, str]]:
    """A table as a plain export of triples: the first column names the row, each other one is a relation."""
    with table.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            (_, key), *cells = row.items()
            for column, cell in cells:
                if cell:
                    yield TEXT_MARK + key, TEXT_MARK + column.lower(), TEXT_MARK + cell


def _found(name: str, *folders: Path) -> Path:
    places = [folder / name for folder in folders]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise QuestionsError(f"{Path(name).name} of the graphs is not there: --data names the folder of public sets")
    return found


def _untwice(files: list[Path]) -> list[Path]:
    return [file for file in files if file.suffix != TABLE_ENDING] or files
