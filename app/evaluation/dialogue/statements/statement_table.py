"""The table of falsehoods let through and of true clauses that are lost."""

from __future__ import annotations

from typing import Final

from app.evaluation.dialogue.statements.statement_run import BOUNDS, StatementFigures
from app.evaluation.tables.measures import Measure

_NAMES: Final = {
    "contradicted": "contradicted clauses that stayed",
    "unsupported": "unsupported clauses that stayed",
    "true": "true clauses that were lost",
}


def measures(figures: StatementFigures) -> list[Measure]:
    lines = [
        Measure(
            name=name,
            questions=figures.clauses[truth],
            bound=f"<= {BOUNDS[truth]:.2f}",
            reached=f"{figures.amiss[truth]} ({figures.share(truth):.3f})",
            passed=figures.clauses[truth] > 0 and figures.share(truth) <= BOUNDS[truth],
        )
        for truth, name in _NAMES.items()
    ]
    restated = figures.restated / figures.clauses["true"] if figures.clauses["true"] else 0.0
    lines.append(
        Measure(
            name="true clauses told in the service's own words",
            questions=figures.clauses["true"],
            reached=f"{figures.restated} ({restated:.3f})",
        )
    )
    stated = figures.carried / figures.stated if figures.stated else 0.0
    lines.append(Measure(name="stated pieces that facts carry", questions=figures.stated, reached=f"{stated:.3f}"))
    lines.append(
        Measure(name="time of a check, median ms", questions=len(figures.times), reached=f"{figures.milliseconds:.1f}")
    )
    return lines
