"""Reads labelled statements back as `AROG_REPLY_WORDS=model` does, and counts what stays and what goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from app.chat.question_run import ReadBack
from app.chat.replies import stays
from app.privacy.pseudonym_format import words_in
from app.strategies.base import FoundFact
from evaluation.dialogue.statements.labelled_replies import Clause, LabelledReply
from evaluation.tables.measures import Measure

MOST_FALSE: Final = 0.03
_NAMES: Final = {
    "contradicted": "contradicted statements that stay",
    "unsupported": "unsupported statements that stay",
    "true": "true statements that are not told",
}


@dataclass(slots=True)
class StatementFigures:
    """`amiss`: statements that stay and are false, or are not told and true, by kind. `restated`: true ones that do
    not read back, but whose facts the service tells in its own words."""

    clauses: Counter[str] = field(default_factory=Counter)
    amiss: Counter[str] = field(default_factory=Counter)
    restated: int = 0

    @property
    def false_share(self) -> float:
        asked = self.clauses["contradicted"] + self.clauses["unsupported"]
        return (self.amiss["contradicted"] + self.amiss["unsupported"]) / asked if asked else 0.0


def measure(replies: Sequence[LabelledReply], read_back: ReadBack) -> StatementFigures:
    """Each statement cites the facts whose two ends it names, as a model would that means well."""
    figures = StatementFigures()
    for reply in replies:
        for clause in reply.clauses:
            cited = facts_cited(clause, reply.facts)
            is_there = bool(cited) and stays(clause.text, cited, read_back)
            figures.clauses[clause.truth] += 1
            if clause.truth == "true":
                figures.restated += not is_there and bool(cited)
                figures.amiss["true"] += not cited
            elif clause.truth in ("contradicted", "unsupported"):
                figures.amiss[clause.truth] += is_there
    return figures


def facts_cited(clause: Clause, facts: Sequence[FoundFact]) -> list[FoundFact]:
    """The facts both ends of which `clause` names."""
    named = {word.word for word in words_in(clause.text)}
    return [fact for fact in facts if {fact.start, fact.end} <= named]


def measures(figures: StatementFigures) -> list[Measure]:
    lines = [
        Measure(
            name=name,
            questions=figures.clauses[truth],
            reached=f"{figures.amiss[truth]} ({figures.amiss[truth] / max(1, figures.clauses[truth]):.3f})",
        )
        for truth, name in _NAMES.items()
    ]
    asked, true = figures.clauses["contradicted"] + figures.clauses["unsupported"], figures.clauses["true"]
    share = figures.false_share
    return [
        *lines,
        Measure(
            name="false statements that stay",
            questions=asked,
            bound=f"at most {MOST_FALSE}",
            reached=f"{share:.3f}",
            passed=asked > 0 and share <= MOST_FALSE,
        ),
        Measure(
            name="true statements in the service's own words",
            questions=true,
            reached=f"{figures.restated} ({figures.restated / max(1, true):.3f})",
        ),
    ]
