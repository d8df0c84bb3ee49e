"""Fitting: how many ways on a call may show, so that the question stays within its budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.llm.reasoner import TaskRunner
from app.llm.tasks import Task
from app.strategies.base import RetrievalResult
from app.strategies.retrieval import CandidatePath

Ways = Sequence[CandidatePath]


def as_many_as_fit(reasoner: TaskRunner, ways: Ways, width: int, task_of: Callable[[Ways], Task[Any]]) -> Ways:
    """The first of `ways` (nearest first) that `task_of` may show, `width` of which may be chosen.

    As many as leave room for one more call, to answer; where that leaves none, as many as fit alone.
    """
    # What was chosen comes back as facts, and a fact takes less than two ways on.
    answering = task_of(ways[: 2 * width])
    if reasoner.fits(task_of(ways), answering):
        return ways
    with_an_answer = _most(len(ways), lambda count: reasoner.fits(task_of(ways[:count]), answering))
    return ways[: with_an_answer or _most(len(ways), lambda count: reasoner.fits(task_of(ways[:count])))]


def cut_note(number: int, count: int) -> str:
    return (
        f"Step {number}: {count} possible paths, ranked last, were not offered: "
        "the question's budget of tokens was short."
    )


def over_budget(finding: RetrievalResult) -> RetrievalResult:
    """`finding`, ended by its budget and not by the graph."""
    where = f"in round {finding.rounds}" if finding.rounds else "before the first step"
    told = f"The question's budget of tokens was used up {where}."
    return replace(finding, notes=(*finding.notes, told), over_budget=True)


def _most(count: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to `count` that fits, 0 where none does; whatever is less than one that fits, fits."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
