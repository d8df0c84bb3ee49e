"""Endpoints that answer rightly and lie beside it, or write a wrong expression: from files written by somebody who has
not seen the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.llm.endpoint.answer_trees import tree_of
from app.llm.endpoint.input_lines import read_step
from app.llm.tasks import StepInput, TaskModel, TaskName
from evaluation.datasets.topic_positions import surfaces_of, topic_among
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.errors import ExpressionError

SETS: Final = Path(__file__).with_name("sets")
NOBODY: Final = "Exq9z8"
"""A stand-in that is in no graph."""
_STAND_IN: Final = re.compile(r"\b[EVS][a-z0-9]{5}\b")
_PART: Final = re.compile(r"([\w$]+)|\[(\d+)\]")
_NAMED: Final = re.compile(r"<<([^<>]+)>>|<([^<>]+)>")


@dataclass(frozen=True, slots=True)
class Lie:
    """Something put into one field of a reply; `marker` would be seen where it is shown."""

    kind: str
    task: TaskName
    field: str
    lie: Any
    marker: str


@dataclass(frozen=True, slots=True)
class WrongExpression:
    """An expression that does not answer its question; `<Name>` stands for a thing, `<<kind>>` for all of a kind."""

    question: str
    wrong_kind: str
    expression: str


def read_lies() -> list[Lie]:
    return [Lie(**json.loads(line)) for line in (SETS / "lies.jsonl").read_text("utf-8").splitlines()]


def read_wrong_expressions() -> list[WrongExpression]:
    lines = (SETS / "wrong_expressions.jsonl").read_text("utf-8").splitlines()
    read = [{key: json.loads(line)[key] for key in ("question", "wrong_kind", "expression")} for line in lines]
    return [WrongExpression(**each) for each in read]


class LyingEndpoint(ScriptedEndpoint):
    """Answers by the plan, with `lie` in its field; None: it is honest."""

    lie: Lie | None = None

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        honest = super().written(task, block, reply)
        if self.lie is None or self.lie.task != task:
            return honest
        told = _filled(self.lie.lie, block)
        if self.lie.field == "$raw":
            return told if isinstance(told, str) else json.dumps(told)
        return json.dumps(_with(json.loads(honest), list(_parts(self.lie.field)), told))


class ConfusedEndpoint(ScriptedEndpoint):
    """Writes `wrong` for whatever it is asked; it heeds no schema."""

    wrong: WrongExpression | None = None
    said = False
    """True once it could write it in the words of the prompt."""

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        if task != "step" or self.wrong is None or "choices" in json.loads(block):
            return super().written(task, block, reply)
        self.said = False
        words = _expression(self.wrong, read_step(block))
        if words is None:
            return json.dumps({"answer": ["none"]})
        self.said = True
        return json.dumps({"answer": words})


def _expression(wrong: WrongExpression, given: StepInput) -> list[str] | None:
    """The words of the expression; None where the prompt does not show what it names."""
    things = {thing.name: thing.concept for thing in given.things}
    kinds = {name: concept for name, concept in things.items() if name[0] == "S"}
    surfaces = surfaces_of(wrong.question, given.question, set(things))

    def stand_in(found: re.Match[str]) -> str:
        if found[1]:
            return next((name for name, kind in kinds.items() if found[1] in kind.split(", ")), "?")
        return topic_among(surfaces, found[2]) or "?"

    text = _NAMED.sub(stand_in, wrong.expression)
    for way in sorted(given.candidates, key=lambda each: -len(each.path)):
        text = text.replace(_walked(way.start, way.path), f"way({way.number})")
    try:
        return None if "?" in text else tree_of(text)
    except ExpressionError:
        return None


def _walked(start: str, path: list[str]) -> str:
    for step in path:
        start = f'reach({start}, "{step}")'
    return start


def _filled(lie: Any, block: str) -> Any:
    """`lie` with stand-ins of the prompt in the place of `{E}`, `{V}`, `{S}` and `{X}`."""
    if isinstance(lie, list):
        return [_filled(each, block) for each in lie]
    if isinstance(lie, dict):
        return {_filled(key, block): _filled(each, block) for key, each in lie.items()}
    if not isinstance(lie, str):
        return lie
    shown = _STAND_IN.findall(block)
    for letter in "EVS":
        lie = lie.replace(f"{{{letter}}}", next((word for word in shown if word[0] == letter), NOBODY))
    return lie.replace("{X}", NOBODY)


def _parts(field: str) -> Iterator[str | int]:
    for name, number in _PART.findall(field):
        yield int(number) if number else name


def _with(value: Any, place: list[str | int], told: Any) -> Any:
    """`value` with `told` at `place`; what is not there yet is made."""
    if not place:
        return told
    first, *rest = place
    if isinstance(first, str):
        before = value if isinstance(value, dict) else {}
        return before | {first: _with(before.get(first), rest, told)}
    listed = list(value) if isinstance(value, list) else []
    listed += [listed[-1] if listed else None] * (first + 1 - len(listed))
    listed[first] = _with(listed[first], rest, told)
    return listed
