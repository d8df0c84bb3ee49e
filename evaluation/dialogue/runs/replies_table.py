"""Tables of replies: SURGE's, with ours beside them, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.dialogue.measures.bootstrap import Estimate
from evaluation.dialogue.runs.attachment_table import NOT_MEASURED, with_interval
from evaluation.dialogue.runs.published import percent, published, published_rows
from evaluation.dialogue.runs.replies_run import ModifiedRow, ReplyRow
from evaluation.tables.measures import Measure, share

MIN_STRING_MATCH: Final = 0.58


def replies_markdown(rows: Sequence[ReplyRow]) -> str:
    """Figures times 100, 95 % intervals by dialogue in brackets; length in words."""
    head, _ = published("replies")
    ours = [_cells(row) for row in rows]
    beside = [
        [f"published: {name}", "", *figures, "", NOT_MEASURED] for name, *figures in published_rows("replies", *head)
    ]
    return markdown_table(("replies", "questions", *head[1:], "length", "human"), [*ours, *beside])


def modified_markdown(rows: Sequence[ModifiedRow]) -> str:
    ours = [[row.writer, with_interval(row.unigram_f1), with_interval(row.knowledge_f1)] for row in rows]
    head, _ = published("modified")
    beside = [[f"published: {name}", *figures] for name, *figures in published_rows("modified", *head)]
    return markdown_table(head, [*ours, *beside])


def replies_measures(row: ReplyRow | None) -> list[Measure]:
    """The bound, for the embedded reasoner's replies from the facts that the retriever ranks first; missed where it is
    not measured."""
    reached = row.figures.string_match.mean if row else 0.0
    name = "string match of any acceptable answer"
    return [share(f"{name}, {row.given}" if row else name, reached, row.questions if row else 0, MIN_STRING_MATCH)]


def _cells(row: ReplyRow) -> list[str]:
    figures = row.figures
    means = (figures.string_match, figures.knowledge_f1, figures.entity_f1, figures.unigram_f1)
    return [
        f"{row.writer}, {row.given}",
        str(row.questions),
        _or_not(figures.kqa_exact),
        _or_not(figures.kqa_f1),
        *map(with_interval, means),
        *percent([*figures.bleu, *figures.rouge, *figures.distinct]),
        f"{figures.length:.1f}",
        NOT_MEASURED,
    ]


def _or_not(found: Estimate | None) -> str:
    return with_interval(found) if found else NOT_MEASURED
