"""Concepts against hand-written labels: of one thing of a graph, the nouns that are right for its concept, and nouns
that are wrong. The figures by graph and in all, and the concepts that were not right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import mean
from evaluation.concepts.untyped_graphs import load_untyped, read_graph_files
from evaluation.datasets.questions import read_lines
from evaluation.tables.measures import Measure, share
from kg_store.version_builder import NameConcepts

Verdict = Literal["right", "wrong", "not judged", "no concept"]
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "wrong", "not judged", "no concept")

MIN_RIGHT: Final = 0.90
SETS: Final = Path(__file__).parent / "sets"
LABELS: Final = (SETS / "seen.jsonl", SETS / "shut.jsonl.gz")
"""The shut part is packed, so that nobody who searches the files reads it by chance."""


class ConceptLabel(BaseModel):
    """`node` stands for all things with the same relations around them."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    graph: str
    node: str
    accept: frozenset[str]
    reject: frozenset[str]

    def judge(self, concept: str | None) -> Verdict:
        """`concept` may join several by commas, the surest first: right where the first is, or where all are."""
        if not concept:
            return "no concept"
        first, *further = (part.strip().lower() for part in concept.split(","))
        if first in self.accept:
            return "right"
        return "wrong" if not self.reject.isdisjoint((first, *further)) else "not judged"


@dataclass(frozen=True, slots=True)
class Judged:
    """One label and the concept that the service gave."""

    label: ConceptLabel
    concept: str | None
    shut: bool

    @property
    def verdict(self) -> Verdict:
        return self.label.judge(self.concept)


async def run_concepts(
    labels: Sequence[Path], graphs: Path, data: Path, name_concepts: NameConcepts, show: Show
) -> list[Judged]:
    """Loads every graph that a label is of, one after the other. Raises QuestionsError."""
    # No concept of a file whose lines nobody looks at is printed.
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
    """The share that is right of all, and the mean of the graphs' shares; what is not judged is not right."""
    shares = [_right(each) for each in _by_graph(judged).values()]
    return [
        share("concepts of graphs without types that are right", _right(judged), len(judged), MIN_RIGHT),
        share("the mean over graphs", mean(shares), len(judged)),
    ]


def by_graph(judged: Sequence[Judged]) -> str:
    """A Markdown table of all verdicts; the two parts of the labels stand below the graphs."""
    groups = {**_by_graph(judged), "all": list(judged)}
    for title, shut in (("seen labels", False), ("labels that nobody looks at", True)):
        groups[title] = [each for each in judged if each.shut == shut]
    head = ("graph", "n", *VERDICTS, "share right")
    return markdown_table(head, (_row(name, group) for name, group in groups.items() if group))


def not_right(judged: Sequence[Judged]) -> str:
    """A Markdown table of the seen concepts that were not right; none of those that nobody looks at."""
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


def _row(name: str, judged: Sequence[Judged]) -> tuple[str, ...]:
    counts = Counter(each.verdict for each in judged)
    return (name, str(len(judged)), *(str(counts[verdict]) for verdict in VERDICTS), f"{_right(judged):.3f}")


def _right(judged: Sequence[Judged]) -> float:
    return mean([float(each.verdict == "right") for each in judged])
