"""Pictures of the dialogue runs: F1 by model against its price, F1 by set, and MRR by ablation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

from evaluation.dialogue.measures.bootstrap import Estimate
from evaluation.dialogue.retrieval_run import RetrievalRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: Final = {"svg.fonttype": "none", "svg.hashsalt": "arog", "font.size": 9, "text.parse_math": False}


@dataclass(frozen=True, slots=True)
class PricedF1:
    """One model on one set; `cost`: money for a thousand replies, None where no price is known."""

    model: str
    set_name: str
    f1: Estimate
    cost: float | None


def f1_by_price(points: Sequence[PricedF1]) -> bytes:
    """An SVG: attachment over the price, a line for each set; models without a price stand at 0."""
    figure = _figure((7.0, 4.5))
    axes = figure.add_subplot()
    for name in dict.fromkeys(point.set_name for point in points):
        those = [point for point in points if point.set_name == name]
        means = [100 * point.f1.mean for point in those]
        reach = [
            [100 * (point.f1.mean - point.f1.low) for point in those],
            [100 * (point.f1.high - point.f1.mean) for point in those],
        ]
        axes.errorbar([point.cost or 0.0 for point in those], means, yerr=reach, fmt="o", capsize=3, label=name)
    for model in dict.fromkeys(point.model for point in points):
        # Once for each model, beside the best of its sets.
        best = max((point for point in points if point.model == model), key=lambda point: point.f1.mean)
        at = (best.cost or 0.0, 100 * best.f1.mean)
        axes.annotate(model, at, textcoords="offset points", xytext=(6, 4))
    axes.margins(x=0.15)
    axes.set_xlabel("money for a thousand replies")
    axes.set_ylabel("LLM-KAT F1 per turn, impossible as 0")
    axes.legend()
    return _svg(figure)


def mrr_by_ranking(rows: Sequence[RetrievalRow]) -> bytes:
    """An SVG: a bar for each way of ranking, set by set, the best on top."""
    ordered = sorted(rows, key=lambda row: (row.source, row.figures.mrr))
    figure = _figure((7.0, 1.0 + 0.28 * len(ordered)))
    axes = figure.add_subplot()
    labels = [f"{row.source}: {row.name}" for row in ordered]
    sources = sorted({row.source for row in ordered})
    bars = axes.barh(
        range(len(ordered)),
        [100 * row.figures.mrr for row in ordered],
        color=[f"C{sources.index(row.source)}" for row in ordered],
    )
    axes.bar_label(bars, fmt="%.1f", padding=2)
    axes.margins(x=0.1)
    axes.set_yticks(range(len(ordered)), labels)
    axes.set_xlabel("MRR, times 100")
    return _svg(figure)


def _figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _svg(figure: Figure) -> bytes:
    """The same bytes for the same figures."""
    import matplotlib

    drawn = BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
