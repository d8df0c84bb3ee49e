"""Compare the concepts that graphs get without types with hand-written labels.

A label lists, for one thing of a graph, nouns that are right for its concept and nouns that are wrong. Graphs are
loaded without the types that they declare.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import mean
from evaluation.datasets.questions import QuestionsError, read_lines
from evaluation.tables.measures import Measure, share
from kg_store.errors import LoadError
from kg_store.graph.schema import with_concepts
from kg_store.loading.load import LoadedGraph, load_graph, placeholder_schema
from kg_store.loading.sorted_triples import SortedTriples, sort_triples
from kg_store.proposals.propose import propose
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph
from kg_store.sources.reader import read_sources
from kg_store.sources.term_numbers import TermNumbers, collect
from kg_store.storage.master_key import mids_of
from kg_store.terms import Schema
from kg_store.version_builder import NameConcepts

TABLE_ENDING: Final = ".csv"
# Any key will do, since the graphs are public and nothing loaded is kept.
_KEY: Final = bytes(32)

GraphFiles = Mapping[str, Sequence[Path]]


@dataclass(frozen=True, slots=True)
class UntypedGraph:
    """A graph that was loaded without its types, so that the service had to name the concepts of its things.

    `signature_of` maps a thing's name or IRI to the number of its signature (the set of relations around it), which
    decides its concept.
    """

    schema: Schema
    signature_of: Mapping[str, int]

    def concept_of(self, node: str) -> str | None:
        """Returns the concept of a thing given by name or IRI; None if the graph has no such thing."""
        return self.schema.concepts[self.signature_of[node]] if node in self.signature_of else None


def read_graph_files(file: Path, data: Path, names: Collection[str]) -> GraphFiles:
    """Returns the files of each graph in `names`, as a JSON object of names and lists of files gives them.

    Files are looked for beside `file`, then in `data`. If a graph has tables beside another file, the tables are
    skipped, since they hold the same data. Raises QuestionsError.
    """
    try:
        listed = {str(name): [str(each) for each in files] for name, files in json.loads(file.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        raise QuestionsError(f"{file.name} is no JSON object of graphs and their files") from None
    if not listed.keys() >= {*names}:
        raise QuestionsError(f"{file.name} lacks {len({*names} - listed.keys())} graphs that labels are of")
    found = {name: [_found(each, file.parent, data) for each in listed[name]] for name in names}
    return {name: [each for each in files if each.suffix != TABLE_ENDING] or files for name, files in found.items()}


def load_untyped(files: Sequence[Path], nodes: Collection[str], name_concepts: NameConcepts) -> UntypedGraph:
    """Loads a graph as the service does, by the proposed policy with all relations shown. Raises QuestionsError."""
    try:
        are_tables = all(file.suffix == TABLE_ENDING for file in files)
        triples = (triple for file in files for triple in _triples_of(file))
        raw = without_types(collect([list(triples)], TermNumbers()) if are_tables else read_sources(files))
        policy = propose(raw).model_copy(update={"show_relations": "all"})
        loaded = load_graph(raw, policy, _KEY)
    except (LoadError, OSError) as problem:
        raise QuestionsError(f"{files[0].name}: {problem}") from None
    schema = placeholder_schema(loaded)
    return UntypedGraph(
        with_concepts(schema, name_concepts(schema)), _signatures(sort_triples(raw, policy), loaded, frozenset(nodes))
    )


def without_types(raw: RawGraph) -> RawGraph:
    """Returns the graph without the triples that state a class."""
    types = [at for at in np.unique(raw.predicates).tolist() if raw.text(at).endswith(("#type", "/prop/direct/P31"))]
    kept = ~np.isin(raw.predicates, types)
    return replace(raw, subjects=raw.subjects[kept], predicates=raw.predicates[kept], objects=raw.objects[kept])


def _signatures(triples: SortedTriples, loaded: LoadedGraph, nodes: Collection[str]) -> dict[str, int]:
    """Returns the number of the signature (the set of relations around it) for each of `nodes` that the graph holds.

    If a thing and a value have the same text, the thing counts.
    """
    raw, adjacency = triples.raw, loaded.adjacency
    wanted = [at for at in np.flatnonzero(triples.nodes).tolist() if raw.text(at) in nodes]
    found: dict[str, int] = {}
    for at in sorted(wanted, key=lambda at: raw.terms[at][0] == '"'):
        mid = mids_of(_KEY, [raw.terms[at]])[0]
        place = int(np.searchsorted(adjacency.mids, mid))
        if place < len(adjacency.mids) and adjacency.mids[place] == mid:
            found.setdefault(raw.text(at), int(adjacency.signatures[place]))
    return found


def _triples_of(table: Path) -> Iterator[tuple[str, str, str]]:
    """Yields a table as triples: the first column names the row, and every other column is a relation."""
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


Verdict = Literal["right", "wrong", "not judged", "no concept"]
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "wrong", "not judged", "no concept")

MIN_RIGHT: Final = 0.90
SETS: Final = Path(__file__).parents[1] / "concepts" / "sets"
LABELS: Final = (SETS / "seen.jsonl", SETS / "shut.jsonl.gz")
"""The shut part is compressed, so that a search in the files does not show it by chance."""


class ConceptLabel(BaseModel):
    """A label of one thing, `node`, which stands for all things with the same relations around them."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    graph: str
    node: str
    accept: frozenset[str]
    reject: frozenset[str]

    def judge(self, concept: str | None) -> Verdict:
        """Judges a concept, which may be several joined by commas, the surest first.

        It is right if the first is accepted, wrong if any is rejected, and else not judged.
        """
        if not concept:
            return "no concept"
        first, *further = (part.strip().lower() for part in concept.split(","))
        if first in self.accept:
            return "right"
        return "wrong" if not self.reject.isdisjoint((first, *further)) else "not judged"


@dataclass(frozen=True, slots=True)
class Judged:
    """One label with the concept that the service gave. `shut`: the label is from a file that nobody looks at."""

    label: ConceptLabel
    concept: str | None
    shut: bool

    @property
    def verdict(self) -> Verdict:
        return self.label.judge(self.concept)


async def run_concepts(
    labels: Sequence[Path], graphs: Path, data: Path, name_concepts: NameConcepts, show: Show
) -> list[Judged]:
    """Loads every graph that has a label, one after the other, and judges its concepts. Raises QuestionsError."""
    # Labels of shut files are marked, because their concepts must not be printed.
    read = [(label, file.name.startswith("shut")) for file in labels for _, label in read_lines(file, ConceptLabel)]
    names = list(dict.fromkeys(label.graph for label, _ in read))
    files = read_graph_files(graphs, data, names)
    found: list[Judged] = []
    for done, name in enumerate(names):
        show(f"concepts of {name}", done, len(names))
        asked = [(label, shut) for label, shut in read if label.graph == name]
        graph = load_untyped(files[name], {label.node for label, _ in asked}, name_concepts)
        found += [Judged(label, graph.concept_of(label.node), shut) for label, shut in asked]
    return found


def measures(judged: Sequence[Judged]) -> list[Measure]:
    """Returns the share of labels that is right, and its mean over graphs; a label that is not judged is not right."""
    shares = [_right(each) for each in _by_graph(judged).values()]
    return [
        share("concepts of graphs without types that are right", _right(judged), len(judged), MIN_RIGHT),
        share("the mean over graphs", mean(shares), len(judged)),
    ]


def by_graph(judged: Sequence[Judged]) -> str:
    """Returns a Markdown table of verdicts by graph, then of all, and of seen and shut labels."""
    groups = {**_by_graph(judged), "all": list(judged)}
    for title, shut in (("seen labels", False), ("labels that nobody looks at", True)):
        groups[title] = [each for each in judged if each.shut == shut]
    rows = []
    for name, group in groups.items():
        counts = Counter(each.verdict for each in group)
        if group:
            rows.append((name, len(group), *(counts[verdict] for verdict in VERDICTS), f"{_right(group):.3f}"))
    return markdown_table(("graph", "n", *VERDICTS, "share right"), rows)


def not_right(judged: Sequence[Judged]) -> str:
    """Returns a Markdown table of the seen concepts that were not right; shut ones are left out."""
    rows = [
        (each.verdict, each.label.graph, each.label.node, each.concept or "")
        for each in judged
        if not each.shut and each.verdict != "right"
    ]
    return markdown_table(("verdict", "graph", "thing", "concept"), rows) if rows else ""


def _by_graph(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = {}
    for each in judged:
        groups.setdefault(each.label.graph, []).append(each)
    return groups


def _right(judged: Sequence[Judged]) -> float:
    return mean([float(each.verdict == "right") for each in judged])
