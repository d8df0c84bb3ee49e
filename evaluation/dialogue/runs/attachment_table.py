"""Tables of LLM-KAT: ours with the papers' beside them, and the bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.dialogue.measures.bootstrap import Estimate
from evaluation.dialogue.runs.attachment_run import KatRow
from evaluation.dialogue.runs.published import percent, published_rows
from evaluation.tables.measures import Measure, share

MIN_F1: Final = 0.95
MIN_F1_IN_FULL: Final = 0.90
MIN_FLAGGED: Final = 0.95
NOT_MEASURED: Final = "not measured"
_HEAD: Final = (
    "replies",
    "prompt",
    "set",
    "judge reads",
    "judge",
    "questions",
    "F1 per turn",
    "F1 >= 0.5",
    "F1 = 1",
    "F1 per session",
    "impossible",
    "failed",
    "F1, impossible as 0",
    "naturalness, coherence (UniEval)",
)


def kat_markdown(rows: Sequence[KatRow]) -> str:
    """Figures times 100, 95 % intervals by dialogue in brackets."""
    ours = [_cells(row) for row in rows]
    published = [
        [f"published: {model}", prompt, name, "turn", "DeepSeek-R1-32B", "", per_turn, "", "", per_session, *[""] * 4]
        for model, prompt, name, per_turn, per_session in published_rows(
            "llm_kat", "model", "prompt", "set", "F1 per turn", "F1 per session"
        )
    ]
    return markdown_table(_HEAD, [*ours, *published])


def impossible_markdown(found: Mapping[str, tuple[int, float]]) -> str:
    """The control: the right name in a sentence that does not tell the relation."""
    ours = [[name, str(count), *percent([share_of, 1 - share_of])] for name, (count, share_of) in found.items()]
    published = [
        [f"published: {judge}", "20000", *figures]
        for judge, *figures in published_rows("impossible", "judge", "flagged", "false positives")
    ]
    return markdown_table(("judge", "questions", "flagged", "false positives"), [*ours, *published])


def kat_measures(row: KatRow | None, control: tuple[int, float] | None) -> list[Measure]:
    """The bounds, for the embedded reasoner's replies over gold triples and the trained extractor.

    What is not measured is missed.
    """
    questions = row.figures.questions if row else 0
    return [
        share("LLM-KAT F1 per turn, gold triples", row.per_turn.mean if row else 0.0, questions, MIN_F1),
        share("the same, impossible as 0", row.in_full.mean if row else 0.0, questions, MIN_F1_IN_FULL),
        share("impossible control flagged, held-out carriers", *_control(control), MIN_FLAGGED),
    ]


def _control(control: tuple[int, float] | None) -> tuple[float, int]:
    return (control[1], control[0]) if control else (0.0, 0)


def _cells(row: KatRow) -> list[str]:
    figures = row.figures
    return [
        row.writer,
        row.style,
        row.variant.title,
        row.context,
        row.judge,
        str(figures.questions),
        with_interval(row.per_turn),
        *percent([*figures.per_turn[1:], figures.per_session[0], figures.impossible, figures.failed]),
        with_interval(row.in_full),
        NOT_MEASURED,
    ]


def with_interval(found: Estimate) -> str:
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"
