"""Where the things of an evidence picture stand: in columns, each one step further from where the search set out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from client_sdk.answers.evidence import RestoredFact


@dataclass(slots=True)
class Thing:
    """One entity, value or set of the picture. `column` and `row` count from 0."""

    name: str = field(repr=False)
    concept: str
    is_set: bool
    column: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class Arrow:
    """All facts that lead from one thing to another. `backward`: the relation itself points from `tail` to `head`."""

    head: str
    tail: str
    labels: tuple[str, ...]
    backward: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """`things` by pseudonym; two of the same name are two. `rows` of each column."""

    things: dict[str, Thing]
    arrows: tuple[Arrow, ...]
    rows: tuple[int, ...]


def lay_out(facts: Sequence[RestoredFact]) -> Layout:
    """One thing for each pseudonym, one arrow for each pair, in the facts' order."""
    things: dict[str, Thing] = {}
    for fact in facts:
        things.setdefault(fact.head_key, Thing(fact.head, fact.head_concept, len(fact.head_names) > 1))
        things.setdefault(fact.tail_key, Thing(fact.tail, fact.tail_concept, fact.size != "1"))
    arrows = tuple(_arrows(facts))
    for key, column in _columns(things, arrows).items():
        things[key].column = column
    rows = [0] * (1 + max((thing.column for thing in things.values()), default=0))
    for thing in things.values():
        thing.row, rows[thing.column] = rows[thing.column], rows[thing.column] + 1
    return Layout(things, arrows, tuple(rows))


def _arrows(facts: Iterable[RestoredFact]) -> Iterable[Arrow]:
    between: dict[tuple[str, str], dict[str, bool]] = {}
    for fact in facts:
        label = " > ".join(step.replace("|", " / ").replace("^", "") for step in fact.path)
        backward = bool(fact.path) and all(step.startswith("^") for step in fact.path)
        between.setdefault((fact.head_key, fact.tail_key), {})[label] = backward
    for (head, tail), labels in between.items():
        yield Arrow(head, tail, tuple(labels), all(labels.values()))


def _columns(things: Iterable[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """Steps from the nearest thing to which no arrow leads; in a ring, from the first one."""
    tails = {arrow.tail for arrow in arrows}
    columns: dict[str, int] = {}
    for start in [*(key for key in things if key not in tails), *things]:
        if start in columns:
            continue
        columns[start], waiting = 0, [start]
        while waiting:
            here = waiting.pop(0)
            for arrow in arrows:
                if arrow.head == here and arrow.tail not in columns:
                    columns[arrow.tail] = columns[here] + 1
                    waiting.append(arrow.tail)
    return columns
