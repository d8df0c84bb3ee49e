"""The share of questions about hubs whose right step is offered, by who chooses the steps."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.reader.english import EnglishReader
from app.retriever.retriever import Retriever
from app.retriever.weights import read_weights
from app.settings import Settings
from app.strategies.sets.candidate_paths import MAX_OFFERED, CandidateFinder
from app.strategies.sets.offered_ways import RETRIEVED, NearestWays, RetrievedWays, WaySelector
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import QuestionSets, Show
from evaluation.dialogue.hubs.hub_questions import HubQuestion, opendialkg_questions, webqsp_questions
from evaluation.dialogue.opendialkg import FOLDER, read_graph
from evaluation.dialogue.training_set import read_set
from kg_store.graph.traversal import steps_from


@dataclass(frozen=True, slots=True)
class HubRow:
    """`steps`: the median number of steps of a question's hub. `gained`, `lost`: questions whose right step is offered
    here and not by likeness alone, and the other way round."""

    source: str
    chosen_by: str
    questions: int
    steps: int
    offered: float
    gained: int
    lost: int


async def run_hubs(data: Path, weights: Path, settings: Settings, show: Show) -> list[HubRow]:
    """Raises QuestionsError, NetworkWeightsError."""
    embedder = Embedder(settings.embedder, settings.cache_dir)
    retriever = Retriever(read_weights(weights, settings.embedder), embedder)
    selectors: dict[str, WaySelector] = {
        "likeness": NearestWays(),
        f"likeness, one place in {RETRIEVED} by the retriever": RetrievedWays(retriever),
        "likeness, one place in 2 by the retriever": RetrievedWays(retriever, share=2),
        "the retriever": RetrievedWays(retriever, share=1),
    }
    with tempfile.TemporaryDirectory(prefix="arog-hubs-") as folder:
        async with Bench("embedded") as bench:
            found = {"WebQSP": webqsp_questions(QuestionSets(bench, data, Path(folder), show), MAX_OFFERED)}
            show("reading", 0, 1)
            turns, relations = read_set(data, embedder).test, read_graph(data / FOLDER).relations
            found["OpenDialKG"] = opendialkg_questions(bench, turns, relations, Path(folder))
            return [
                row for name, questions in found.items() for row in _rows(name, questions, selectors, embedder, show)
            ]


def hubs_table(rows: Sequence[HubRow]) -> str:
    cells = [
        (
            row.source, row.chosen_by, str(row.questions), str(row.steps), f"{row.offered:.3f}",
            str(row.gained), str(row.lost),
        )
        for row in rows
    ]  # fmt: skip
    heads = ("set", "60 steps chosen by", "questions", "steps of the hub", "right one offered", "gained", "lost")
    return markdown_table(heads, cells)


def _rows(
    source: str,
    questions: Sequence[HubQuestion],
    selectors: Mapping[str, WaySelector],
    embedder: Embedder,
    show: Show,
) -> Iterator[HubRow]:
    """The first of `selectors` is what the others are compared with."""
    steps = sorted(len(steps_from(each.inquiry.graph, each.place.mids)) for each in questions)
    found = {name: np.zeros(len(questions), bool) for name in selectors}
    reader = EnglishReader(embedder)
    for at, question in enumerate(questions):
        show(source, at, len(questions))
        for name, selector in selectors.items():
            ways = CandidateFinder(replace(question.inquiry, language=reader), selector).of([question.place], []).ways
            found[name][at] = any(len(way.path) == 1 and way.path[0] in question.gold for way in ways)
    first = next(iter(found.values()))
    for name, offered in found.items():
        gained, lost = int((offered & ~first).sum()), int((first & ~offered).sum())
        yield HubRow(source, name, len(questions), steps[len(steps) // 2], float(offered.mean()), gained, lost)
