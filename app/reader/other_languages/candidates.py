"""Lists the readings of a question that the types of the schema allow: walks from what it names, lists and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.llm.tasks import SchemaStep, StepInput, Thing
from kg_store.text.labels import reversed_label

MEASURES: Final = ("date", "number")
"""The types of values that a question compares with."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reading that the types of the schema allow.

    `steps`: each step in words. `starts`: the kinds of what the question names; `ends`: the kinds that the reading
    leads to. `value`: the type of the values that it leads to instead. `turns`: it has a step that joins things of one
    kind, forwards ("forth") or backwards ("back").
    """

    expression: str
    steps: tuple[str, ...]
    starts: frozenset[str]
    ends: frozenset[str]
    value: str = ""
    turns: str = ""

    @property
    def is_count(self) -> bool:
        return self.expression.startswith("count(")


def measures_in(given: StepInput) -> list[str]:
    """Returns the numbers and dates that the question holds."""
    return [thing.name for thing in given.things if thing.name in given.question and thing.concept in MEASURES]


def label_words(shown: str) -> list[str]:
    """Returns the words of each relation of a step, without its direction."""
    return [part.lstrip("^") for part in shown.split("|")]


def candidates(given: StepInput, operator: str) -> Iterator[Candidate]:
    """Yields each reading, and, if it leads to things, their number too; none if something named has no step.

    `operator`: the comparison with the value that the question holds, if it holds one.
    """
    measured = measures_in(given)
    named = [thing for thing in given.things if thing.name in given.question and thing.name not in measured]
    if not all(given.own.get(thing.name) for thing in named) or len(named) > 2 or len(measured) > 1:
        return
    for found in _compared(given, _sets(given, named), operator, measured[0]) if measured else _sets(given, named):
        yield found
        if found.value in ("", "text"):
            text = f"count({found.expression})"
            yield Candidate(text, found.steps, found.starts, found.ends, turns=found.turns)


def _sets(given: StepInput, named: Sequence[Thing]) -> Iterator[Candidate]:
    if not named:
        for kind in given.kinds:
            yield Candidate(kind.name, (), frozenset(), frozenset({kind.concept}))
    elif len(named) == 1:
        yield from _walks(given, named[0])
    else:
        yield from _shared(*(list(_steps_from(given, each)) for each in named))


def _steps_from(given: StepInput, thing: Thing) -> Iterator[Candidate]:
    """Yields what each step of a thing, or of a text value, leads to."""
    kinds = frozenset(thing.concept.split(", "))
    is_text = kinds == {"text"}
    for step in _texts_backwards(given.steps) if is_text else given.steps:
        if step.label in given.own[thing.name] and (is_text or step.kind in kinds):
            yield _walked(thing.name, step, Candidate("", (), kinds, frozenset()))


def _walks(given: StepInput, thing: Thing) -> Iterator[Candidate]:
    """Yields what one step or two lead to from a thing."""
    for first in {each.expression: each for each in _steps_from(given, thing)}.values():
        yield first
        ends = {} if first.value else {step.label: step for step in given.steps if step.kind in first.ends}
        for step in ends.values():
            if not first.expression.endswith(f'"{reversed_label(step.label)}")'):
                yield _walked(first.expression, step, first)


def _walked(text: str, step: SchemaStep, before: Candidate) -> Candidate:
    ends = frozenset(step.concept.split(", "))
    way = "back" if step.label.startswith("^") else "forth"
    turns = before.turns or (way if step.kind in ends else "")
    expression = f'reach({text}, "{step.label}")'
    return Candidate(expression, (*before.steps, step.shown), before.starts, ends, step.value, turns)


def _texts_backwards(steps: Sequence[SchemaStep]) -> Iterator[SchemaStep]:
    for step in steps:
        if step.value == "text" and not step.label.startswith("^"):
            yield SchemaStep("text", reversed_label(step.label), reversed_label(step.shown), step.kind)


def _shared(first: Sequence[Candidate], second: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yields what two things lead to together, where both steps lead to things of the same kinds."""
    for one in first:
        for other in second:
            if one.ends == other.ends and not one.value and not other.value:
                text = f"intersect({one.expression}, {other.expression})"
                yield Candidate(text, one.steps + other.steps, one.starts | other.starts, one.ends)


def _compared(given: StepInput, sets: Iterator[Candidate], operator: str, value: str) -> Iterator[Candidate]:
    """Yields the members of each set with a greater or smaller value, by each relation that leads to such values."""
    for base in sets:
        for step in given.steps if not base.value and len(base.steps) < 2 else ():
            if step.kind in base.ends and step.value in MEASURES:
                text = f'filter({base.expression}, "{step.label}", {operator}, {value})'
                yield Candidate(text, (*base.steps, step.shown), base.starts, base.ends, turns=base.turns)
