"""Short functions that build the parts of a task's input."""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.tasks import Candidate, Evidence, Size, StepInput, Thing, Turn


def thing(name: str, concept: str, size: Size = "1") -> Thing:
    return Thing(name=name, concept=concept, size=size)


def way(number: int, start: str, *path: str, to: str) -> Candidate:
    return Candidate(number=number, start=start, path=list(path), concept=to)


def fact(start: str, *path: str, end: str, to: str, size: Size = "2-5", of: str = "person") -> Evidence:
    return Evidence(start=start, start_concept=of, path=list(path), end=end, end_concept=to, size=size)


def step(
    question: str, things: Sequence[Thing], candidates: Sequence[Candidate] = (), evidence: Sequence[Evidence] = (),
    *, last: bool = False, width: int = 3, told: Sequence[str] = (),
) -> StepInput:  # fmt: skip
    """Returns the input of a step; `told` are the turns before, the user's first."""
    roles = ("user", "assistant")
    turns = [Turn(role=roles[at % 2], text=text) for at, text in enumerate(told)]  # type: ignore[arg-type]
    return StepInput(
        question=question, dialogue=turns, path=[], things=list(things), evidence=list(evidence),
        candidates=list(candidates), round=1, last_round=last, width=width,
    )  # fmt: skip
