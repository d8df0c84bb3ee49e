"""Means with intervals, the papers' figures beside ours, and the pictures of the dialogue runs."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAMPLES: Final = 1_000
NOT_MEASURED: Final = "not measured"
_STYLE: Final = {"svg.fonttype": "none", "svg.hashsalt": "arog", "font.size": 9, "text.parse_math": False}

PublishedTable = Literal["retrieval", "llm_kat", "impossible", "pairwise", "replies", "modified"]


class Estimate(NamedTuple):
    """A mean, and the bounds of its 95 % interval; all 0 where nothing was measured."""

    mean: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        """Times 100, as a table shows it."""
        return f"{100 * self.mean:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def estimate(values: Sequence[float], dialogues: Sequence[str], seed: int = 0) -> Estimate:
    """The mean of `values`, one for each of `dialogues`, with the percentile interval of the bootstrap. Whole
    dialogues are drawn again: turns of one dialogue are no independent samples."""
    from scipy.stats import bootstrap

    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    groups: dict[str, list[float]] = defaultdict(list)
    for value, dialogue in zip(values, dialogues, strict=True):
        groups[dialogue].append(value)
    sums, counts = (np.array([of(groups[name]) for name in sorted(groups)]) for of in (sum, len))
    mean = float(sums.sum() / counts.sum())
    if len(groups) == 1:
        return Estimate(mean, mean, mean, len(values))
    low, high = bootstrap(
        (sums, counts),
        lambda drawn, lengths, axis: drawn.sum(axis=axis) / lengths.sum(axis=axis),
        paired=True,
        n_resamples=SAMPLES,
        method="percentile",
        rng=seed,
    ).confidence_interval
    return Estimate(mean, float(low), float(high), len(values))


def percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


@cache
def published(table: PublishedTable) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a paper's table as text, as printed there (times 100)."""
    found = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))[table]
    rows = [[cell if isinstance(cell, str) else f"{cell:.1f}" for cell in row] for row in found["rows"]]
    return found["head"], rows


def published_rows(table: PublishedTable, *columns: str) -> list[list[str]]:
    """The rows with those of `columns` that the table has, and blanks for the rest."""
    head, rows = published(table)
    return [[row[head.index(column)] if column in head else "" for column in columns] for row in rows]


class PricedF1(NamedTuple):
    """One model on one set; `cost`: money for a thousand replies, None where no price is known."""

    model: str
    set_name: str
    f1: Estimate
    cost: float | None


def f1_by_price(points: Sequence[PricedF1]) -> bytes:
    """An SVG: attachment over the price, a line for each set; models without a price stand at 0."""

    def draw(axes: Axes) -> None:
        for name in dict.fromkeys(point.set_name for point in points):
            those = [point for point in points if point.set_name == name]
            means, lows, highs = (100 * np.array([point.f1[at] for point in those]) for at in range(3))
            costs = [point.cost or 0.0 for point in those]
            axes.errorbar(costs, means, yerr=[means - lows, highs - means], fmt="o", capsize=3, label=name)
        for model in dict.fromkeys(point.model for point in points):
            # Once for each model, beside the best of its sets.
            best = max((point for point in points if point.model == model), key=lambda point: point.f1.mean)
            at = (best.cost or 0.0, 100 * best.f1.mean)
            axes.annotate(model, at, textcoords="offset points", xytext=(6, 4))
        axes.margins(x=0.15)
        axes.set_xlabel("money for a thousand replies")
        axes.set_ylabel("LLM-KAT F1 per turn, impossible as 0")
        axes.legend()

    return _svg((7.0, 4.5), draw)


def mrr_by_ranking(rows: Sequence[tuple[str, str, float]]) -> bytes:
    """An SVG: a bar for each set, way of ranking and its MRR, set by set, the best on top."""
    ordered = sorted(rows, key=lambda row: (row[0], row[2]))
    sources = sorted({source for source, _, _ in ordered})

    def draw(axes: Axes) -> None:
        colours = [f"C{sources.index(source)}" for source, _, _ in ordered]
        bars = axes.barh(range(len(ordered)), [100 * mrr for _, _, mrr in ordered], color=colours)
        axes.bar_label(bars, fmt="%.1f", padding=2)
        axes.margins(x=0.1)
        axes.set_yticks(range(len(ordered)), [f"{source}: {name}" for source, name, _ in ordered])
        axes.set_xlabel("MRR, times 100")

    return _svg((7.0, 1.0 + 0.28 * len(ordered)), draw)


def _svg(size: tuple[float, float], draw: Callable[[Axes], None]) -> bytes:
    """The same bytes for the same figures."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    drawn = BytesIO()
    metadata: Any = {"Date": None}
    with matplotlib.rc_context(_STYLE):
        figure.savefig(drawn, format="svg", metadata=metadata)
    return drawn.getvalue()
