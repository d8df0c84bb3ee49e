"""The table of `arog eval attach`: one row an endpoint and set, what it held to, and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.dialogue.runs.attach_run import AttachRow, PairwiseRow
from evaluation.dialogue.runs.attachment_table import with_interval
from evaluation.dialogue.runs.published import percent, published_rows

_HEAD: Final = (
    "endpoint",
    "set",
    "judge",
    "questions",
    "F1 per turn",
    "F1 per session",
    "impossible",
    "failed",
    "F1, impossible as 0",
    "calls",
    "failed calls",
    "tokens a reply",
    "cost of 1000 replies",
)


def attach_markdown(rows: Sequence[AttachRow]) -> str:
    """Figures times 100; tokens with `~` are estimated where the endpoint counts none."""
    return markdown_table(_HEAD, [_cells(row) for row in rows])


def pairwise_markdown(rows: Sequence[PairwiseRow]) -> str:
    """Shares of the verdicts times 100. `A chosen`: 50 where the side does not matter."""
    head = ("first", "second", "pairs", "first better", "second better", "both", "neither", "failed", "A chosen")
    beside = [
        [f"published: {model}, plain", "anonymised", "", plain, anonymised, tie, "", "", ""]
        for model, plain, tie, anonymised in published_rows("pairwise", "model", "plain", "tie", "anonymised")
    ]
    return markdown_table(head, [*map(_pairwise_cells, rows), *beside])


def _pairwise_cells(row: PairwiseRow) -> list[str]:
    found = row.figures
    counts = (found.first, found.second, found.both, found.neither, found.failed)
    pairs = sum(counts)
    shares = percent([count / pairs if pairs else 0.0 for count in counts])
    return [row.first, row.second, str(pairs), *shares, *percent([found.share_of_a])]


def _cells(row: AttachRow) -> list[str]:
    figures, usage = row.kat.figures, row.usage
    tokens = usage.tokens / usage.calls if usage.calls else 0.0
    cost = usage.cost_of_thousand
    return [
        row.endpoint,
        row.kat.variant.title,
        row.kat.judge,
        str(figures.questions),
        with_interval(row.kat.per_turn),
        *percent([figures.per_session[0], figures.impossible, figures.failed]),
        with_interval(row.kat.in_full),
        str(usage.calls),
        str(usage.failed),
        f"{'~' if usage.estimated else ''}{tokens:.0f}",
        "" if cost is None else f"{cost:.4g}",
    ]
