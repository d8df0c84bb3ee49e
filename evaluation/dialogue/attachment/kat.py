"""Figures of LLM-KAT: F1 by turn and by session, as published and with what was left out there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Literal

from evaluation.dialogue.attachment.questions import AttachmentQuestion
from evaluation.dialogue.spans import squad_f1

THRESHOLDS: Final = (0.0, 0.5, 1.0)
"""An F1 below the threshold counts as 0, as in the authors' code."""

Judged = tuple[str, ...] | None
"""The spans that a judge found: none where it says that there is no answer. None where the call failed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`f1` is 0 where the kind is not "answered"."""

    dialogue: str
    kind: Literal["answered", "impossible", "failed"]
    f1: float = field(default=0.0)


@dataclass(frozen=True, slots=True)
class KatFigures:
    """All between 0 and 1. `per_turn` and `per_session`: in the order of THRESHOLDS; questions that were judged
    impossible and failed calls are left out, as published. `with_impossible`: per turn, where those judged impossible
    count as 0.
    """

    questions: int
    per_turn: tuple[float, ...]
    per_session: tuple[float, ...]
    impossible: float
    failed: float
    with_impossible: float


def verdicts(questions: Sequence[AttachmentQuestion], judged: Sequence[Judged]) -> list[Verdict]:
    return [_verdict(question, spans) for question, spans in zip(questions, judged, strict=True)]


def kat_figures(found: Sequence[Verdict]) -> KatFigures:
    """No F1 where nothing was answered counts as 0."""
    answered = [verdict for verdict in found if verdict.kind == "answered"]
    judged = [verdict for verdict in found if verdict.kind != "failed"]
    return KatFigures(
        len(found),
        tuple(_mean([_at(verdict.f1, threshold) for verdict in answered]) for threshold in THRESHOLDS),
        tuple(_per_session(answered, threshold) for threshold in THRESHOLDS),
        _share(found, lambda verdict: verdict.kind == "impossible"),
        _share(found, lambda verdict: verdict.kind == "failed"),
        _mean([verdict.f1 for verdict in judged]),
    )


def _verdict(question: AttachmentQuestion, spans: Judged) -> Verdict:
    if spans is None:
        return Verdict(question.dialogue, "failed")
    if not spans:
        return Verdict(question.dialogue, "impossible")
    best = max(squad_f1(span, question.acceptable) for span in spans)
    return Verdict(question.dialogue, "answered", best)


def _per_session(answered: Sequence[Verdict], threshold: float) -> float:
    """The mean over sessions of their means: a short one counts as much as a long one."""
    sessions: dict[str, list[float]] = defaultdict(list)
    for verdict in answered:
        sessions[verdict.dialogue].append(_at(verdict.f1, threshold))
    return _mean([fmean(values) for values in sessions.values()])


def _at(f1: float, threshold: float) -> float:
    return f1 if f1 >= threshold else 0.0


def _share(found: Sequence[Verdict], holds: Callable[[Verdict], bool]) -> float:
    return _mean([float(holds(verdict)) for verdict in found])


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
