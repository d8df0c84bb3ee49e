"""The table of retrieval: every way of ranking beside SURGE's published figures, and the bounds of the learned one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.dialogue.ranking import CUTS, RankingFigures
from evaluation.dialogue.retrieval_run import LEARNED, METAQA, OPENDIALKG, PLAIN, RetrievalRow
from evaluation.tables.measures import Measure

MIN_MRR: Final = 38.0
MIN_HITS: Final = {1: 27.0, 3: 44.0}
MIN_GAIN: Final = 1.24
MIN_TRANSFER: Final = 1.0
MAX_BEHIND_NAMES: Final = 1.0

# Kang et al., arXiv:2305.18846, figure 8: on all of the graph, on other turns.
_PUBLISHED: Final = (
    ("SURGE, published: random", (8.67, 3.11, 7.89, 10.86, 17.84, 66.22)),
    ("SURGE, published: BM25", (7.76, 2.61, 6.72, 9.89, 16.67, 61.21)),
    ("SURGE, published: bi-encoder, trained", (20.89, 11.99, 23.79, 30.34, 39.26, 67.26)),
    ("SURGE, published: poly-encoder, trained", (21.47, 12.13, 24.12, 31.51, 41.43, 68.03)),
    ("SURGE, published: contrastive", (25.98, 16.67, 28.50, 35.72, 46.11, 74.31)),
)


def measures(rows: Sequence[RetrievalRow]) -> list[Measure]:
    """The bounds, all of the learned retriever that sees pseudonyms alone."""
    found = {(row.source, row.name): row.figures for row in rows}
    learned = found[OPENDIALKG, LEARNED]
    names = 100 * (found[OPENDIALKG, PLAIN].mrr - learned.mrr)
    gain = learned.mrr / _best_encoder(rows, OPENDIALKG)
    elsewhere = found[METAQA, LEARNED]
    transfer = elsewhere.mrr / _best_encoder(rows, METAQA)
    return [
        _at_least("retrieval, MRR", learned.turns, 100 * learned.mrr, MIN_MRR),
        *(_at_least(f"retrieval, Hits@{cut}", learned.turns, _hits(learned, cut), MIN_HITS[cut]) for cut in MIN_HITS),
        _times("MRR, times that of the best untrained bi-encoder", learned.turns, gain, MIN_GAIN),
        Measure(
            name="MRR that names would add",
            questions=learned.turns,
            bound=f"at most {MAX_BEHIND_NAMES:g} point",
            reached=f"{names:+.1f}",
            passed=names <= MAX_BEHIND_NAMES,
        ),
        _times("the same weights on another graph, likewise", elsewhere.turns, transfer, MIN_TRANSFER),
    ]


def markdown(rows: Sequence[RetrievalRow]) -> str:
    """Figures times 100."""
    ours = [(row.source, row.name, row.figures.turns, *_cells(_all(row.figures))) for row in rows]
    published = [(OPENDIALKG, name, "", *_cells(figures)) for name, figures in _PUBLISHED]
    return markdown_table(("set", "ranking", "turns", "MRR", *(f"Hits@{cut}" for cut in CUTS)), [*ours, *published])


def _best_encoder(rows: Sequence[RetrievalRow], source: str) -> float:
    return max(row.figures.mrr for row in rows if row.is_untrained_encoder and row.source == source)


def _times(name: str, turns: int, reached: float, bound: float) -> Measure:
    return Measure(name=name, questions=turns, bound=f"{bound:g}", reached=f"{reached:.2f}", passed=reached >= bound)


def _at_least(name: str, turns: int, reached: float, bound: float) -> Measure:
    return Measure(name=name, questions=turns, bound=f"{bound:g}", reached=f"{reached:.1f}", passed=reached >= bound)


def _hits(figures: RankingFigures, cut: int) -> float:
    return 100 * figures.hits[CUTS.index(cut)]


def _all(figures: RankingFigures) -> tuple[float, ...]:
    return tuple(100 * each for each in (figures.mrr, *figures.hits))


def _cells(figures: Sequence[float]) -> list[str]:
    return [f"{each:.1f}" for each in figures]
