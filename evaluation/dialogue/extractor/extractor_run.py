"""Asks an extractor the pairs of each part, and fills the table: its F1, what it flags as impossible, its bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from app.graphs.markdown_table import markdown_table
from evaluation.checks.metrics import mean
from evaluation.dialogue.extractor.pair_sets import CONTROL, SYNTHETIC
from evaluation.dialogue.spans import squad_f1, squad_words
from evaluation.tables.measures import Measure, share
from evaluation.training.extractor import LabelledQuestion

MIN_F1: Final = 0.88
MIN_FLAGGED: Final = 0.95
_AT_ONCE: Final = 500
_NAME = re.compile(r"[A-Z0-9]\w*(?:[ '.&:-]+(?:of |the |and |in |de )?[A-Z0-9]\w*)*")

Show = Callable[[str, int, int], None]
Questions = Sequence[LabelledQuestion]


class Answers(Protocol):
    """Answers questions from their contexts alone: the spans of each, none where it is impossible."""

    def answers_to(self, batch: Sequence[LabelledQuestion]) -> list[tuple[str, ...]]: ...


class OtherNames:
    """Matches strings alone: every word with a capital or a digit that is not of the known end is an answer."""

    def answers_to(self, batch: Sequence[LabelledQuestion]) -> list[tuple[str, ...]]:
        return [self._names(question) for question in batch]

    def _names(self, question: LabelledQuestion) -> tuple[str, ...]:
        known = set(squad_words(question.known))
        found = dict.fromkeys(match.group() for match in _NAME.finditer(question.context))
        return tuple(name for name in found if not known & set(squad_words(name)))


@dataclass(frozen=True, slots=True)
class PartFigures:
    """`f1`: over all pairs, as SQuAD 2 has it: an impossible one counts 1 where it is flagged and 0 else. `answered`:
    over those that have an answer. `flagged`: the share of the impossible ones; None where there are none."""

    pairs: int
    f1: float
    answered: float | None
    flagged: float | None


@dataclass(frozen=True, slots=True)
class ExtractorRow:
    part: str
    learned: PartFigures
    strings: PartFigures


def run_extractor(extractor: Answers, parts: Mapping[str, Questions], show: Show) -> list[ExtractorRow]:
    rows = []
    for part, questions in parts.items():
        found: list[tuple[str, ...]] = []
        for start in range(0, len(questions), _AT_ONCE):
            found += extractor.answers_to(questions[start : start + _AT_ONCE])
            show(part, len(found), len(questions))
        rows.append(
            ExtractorRow(part, figures(questions, found), figures(questions, OtherNames().answers_to(questions)))
        )
    return rows


def figures(questions: Questions, found: Sequence[tuple[str, ...]]) -> PartFigures:
    """Of several spans the best counts, as it does where several answers are acceptable."""
    answered, flagged = [], []
    for question, spans in zip(questions, found, strict=True):
        if question.spans:
            answered.append(max((squad_f1(span, question.answers) for span in spans), default=0.0))
        else:
            flagged.append(float(not spans))
    return PartFigures(
        len(questions),
        mean([*answered, *flagged]),
        mean(answered) if answered else None,
        mean(flagged) if flagged else None,
    )


def measures(rows: Sequence[ExtractorRow]) -> list[Measure]:
    """The bounds: on all held-out pairs that are made from graphs, and on the control."""
    made = [row.learned for row in rows if row.part in SYNTHETIC]
    pairs = sum(each.pairs for each in made)
    f1 = sum(each.f1 * each.pairs for each in made) / max(pairs, 1)
    control = next((row.learned for row in rows if row.part == CONTROL), None)
    flagged = control.flagged if control and control.flagged is not None else 0.0
    return [
        share("extractor on held-out pairs, F1", f1, pairs, MIN_F1),
        share("impossible control flagged, held-out carriers", flagged, control.pairs if control else 0, MIN_FLAGGED),
    ]


def markdown(rows: Sequence[ExtractorRow]) -> str:
    head = ("pairs of", "pairs", "F1", "with an answer", "flagged", "names: F1", "names: flagged")
    return markdown_table(
        head,
        [
            (
                row.part,
                row.learned.pairs,
                _cell(row.learned.f1),
                _cell(row.learned.answered),
                _cell(row.learned.flagged),
                _cell(row.strings.f1),
                _cell(row.strings.flagged),
            )
            for row in rows
        ],
    )


def _cell(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
