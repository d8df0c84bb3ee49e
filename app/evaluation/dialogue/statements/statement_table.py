"""The tables of falsehoods let through and of true clauses that are lost, in process and served."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from app.evaluation.dialogue.statements.statement_run import BOUNDS, StatementFigures
from app.evaluation.tables.measures import Measure

if TYPE_CHECKING:
    from app.evaluation.dialogue.statements.served_replies import ServedFigures

_NAMES: Final = {
    "contradicted": "contradicted clauses that stayed",
    "unsupported": "unsupported clauses that stayed",
    "true": "true clauses that were lost",
}


def measures(figures: StatementFigures) -> list[Measure]:
    stated = figures.carried / figures.stated if figures.stated else 0.0
    return [
        *_bounds(figures),
        _restated(figures),
        Measure(name="stated pieces that facts carry", questions=figures.stated, reached=f"{stated:.3f}"),
        _time("time of a check, median ms", figures),
    ]


def served_measures(figures: ServedFigures) -> list[Measure]:
    """As in process, and what only the service tells: what it was sent, and what it says of its own replies."""
    asked, told = len(figures.clauses.times), figures.attachments
    return [
        *_bounds(figures.clauses),
        _restated(figures.clauses),
        Measure(name="replies whose facts were not all in a prompt", questions=asked, reached=str(figures.incomplete)),
        Measure(name="attachment as told, mean", questions=len(told), reached=f"{fmean(told) if told else 0.0:.3f}"),
        Measure(
            name="names that reached the endpoint",
            questions=figures.requests,
            bound="0",
            reached=str(figures.leaks),
            passed=figures.requests > 0 and figures.leaks == 0,
        ),
        _time("time of a turn, median ms", figures.clauses),
    ]


def _bounds(figures: StatementFigures) -> list[Measure]:
    return [
        Measure(
            name=name,
            questions=figures.clauses[truth],
            bound=f"<= {BOUNDS[truth]:.2f}",
            reached=f"{figures.amiss[truth]} ({figures.share(truth):.3f})",
            passed=figures.clauses[truth] > 0 and figures.share(truth) <= BOUNDS[truth],
        )
        for truth, name in _NAMES.items()
    ]


def _restated(figures: StatementFigures) -> Measure:
    share = figures.restated / figures.clauses["true"] if figures.clauses["true"] else 0.0
    return Measure(
        name="true clauses told in the service's own words",
        questions=figures.clauses["true"],
        reached=f"{figures.restated} ({share:.3f})",
    )


def _time(name: str, figures: StatementFigures) -> Measure:
    return Measure(name=name, questions=len(figures.times), reached=f"{figures.milliseconds:.1f}")
