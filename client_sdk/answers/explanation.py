"""The path to an answer as lines: `Rose -> treated by (doctor) -> Dr X; lives in (city) -> Y`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from client_sdk.protocol import ChatAnswer, Fact, Names
from client_sdk.protocol.answers import chains
from client_sdk.restore import restore

MAX_RUNS = 3


def reasons(evidence: Sequence[Fact], table: Mapping[str, Names]) -> tuple[str, ...]:
    """One line for each run of cited facts in which one begins where the one before ends; names of `table`."""
    return tuple(_line(run, table) for run in chains(fact for fact in evidence if fact.cited))


def in_short(answer: ChatAnswer, table: Mapping[str, Names]) -> str:
    """One line that says how the answer was reached; several things are told by their number."""
    counted = {
        word: names if names.total == 1 else Names(names=[f"{names.total:,} of them"], total=1)
        for word, names in table.items()
    }
    if answer.worked_out:
        return " ".join(restore(each, counted) for each in answer.worked_out)
    return "; ".join(reasons(answer.evidence, counted)[:MAX_RUNS])


def _line(run: Sequence[Fact], table: Mapping[str, Names]) -> str:
    steps = "; ".join(_step(fact, table) for fact in run)
    return f"{restore(run[0].head, table)} {steps}"


def _step(fact: Fact, table: Mapping[str, Names]) -> str:
    """An arrow that points as the relation does: what is walked backwards points back."""
    tail = restore(fact.tail, table)
    words = " > ".join(restore(step.replace("|", " / ").replace("^", ""), table) for step in fact.path)
    arrow = "<-" if all(step.startswith("^") for step in fact.path) else "->"
    return f"{arrow} {words} ({fact.tail_concept}) {arrow} {tail}"
