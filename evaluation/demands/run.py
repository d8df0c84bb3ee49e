"""Runs `arog eval demands`: the facts that demands bring to a dialogue, against the bounds and the peers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from evaluation.bench.question_sets import Show
from evaluation.demands.dialogues import draw, read_dialogues, read_facts
from evaluation.demands.matching import HardMatcher
from evaluation.demands.retrieval import (
    COUNTS,
    SETS_DRAWN,
    T_RAG,
    WHOLE,
    FactRetrieval,
    RetrievalFigures,
    measure_retrieval,
    sets_that_differ,
)
from evaluation.tables.measures import Measure, at_most

MIN_RATIO: Final = 1.2
MAX_PROCESSOR_MS: Final = 15.0


def run_retrieval(data: Path, pairs: int, seed: int, embedder: Embedder, show: Show) -> tuple[list[Measure], str]:
    """Returns the bounds on retrieval and a table of the methods. Raises QuestionsError."""
    show("reading", 0, 1)
    facts = read_facts(data)
    test = draw(read_dialogues(data), pairs, seed).test
    retrieval = FactRetrieval(facts, embedder)
    figures = measure_retrieval(retrieval, HardMatcher(facts), test, show)
    show("comparing sets", 0, 1)
    differ = sets_that_differ(retrieval.graph.facts, seed)
    return retrieval_measures(figures, differ), retrieval_table(figures)


def retrieval_measures(figures: RetrievalFigures, differ: int) -> list[Measure]:
    """Returns the lines with bounds. `differ`: how many drawn demands had other sets than their definition."""
    whole, peer = figures.recall(WHOLE), figures.recall(T_RAG)
    best_part = max(figures.recall(name) for name in figures.found if name not in (WHOLE, T_RAG))
    pairs = len(figures.joining)
    return [
        at_most("fact sets that differ from their definition", SETS_DRAWN, differ, 0),
        Measure(
            name=f"recall among 20 facts against {T_RAG}'s",
            questions=pairs,
            bound=f"{MIN_RATIO} x",
            reached=f"{whole / peer if peer else 0:.2f} x",
            passed=pairs > 0 and whole >= MIN_RATIO * peer,
        ),
        Measure(
            name="best recall without a part, below the whole",
            questions=pairs,
            bound=f"below {whole:.3f}",
            reached=f"{best_part:.3f}",
            passed=pairs > 0 and best_part < whole,
        ),
        at_most(
            "processor time of retrieval, ms, median",
            figures.pairs,
            float(np.median(figures.processor_ms)),
            MAX_PROCESSOR_MS,
            "{:.1f}",
        ),
    ]


def retrieval_table(figures: RetrievalFigures) -> str:
    """Returns the recall of each method with 95 % intervals, and how often no fact was foreseen."""
    rows = []
    for name in sorted(figures.found, key=figures.recall, reverse=True):
        low, high = figures.interval(name)
        least, most = figures.interval(name, over=T_RAG)
        rows.append([name, f"{figures.recall(name):.3f}", f"{low:.3f} to {high:.3f}", f"{least:.2f} to {most:.2f}"])
    head = ["method", "recall among 20", "95 % interval", f"ratio to {T_RAG}, 95 %"]
    slow = float(np.percentile(figures.processor_ms, 95)) if figures.processor_ms else 0.0
    curve = [[name, *(f"{each:.3f}" for each in found)] for name, found in figures.curve.items()]
    return (
        f"{markdown_table(head, rows)}\n"
        f"{markdown_table(['recall among', *map(str, COUNTS)], curve)}\n"
        f"{int(figures.joining.sum())} facts join history and true reply in {len(figures.joining)} of {figures.pairs} "
        f"dialogues. Of the facts that join a reply of another dialogue, {figures.swapped_recall:.3f} were selected. "
        f"The foreseen set was empty in {figures.empty_foreseen:.1%}. Processor time at p95: {slow:.1f} ms.\n"
    )
