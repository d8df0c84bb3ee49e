"""The input of a step as lines of text, which take a third of the tokens of JSON objects.

    thing      `Eq7f2k: person, 2-5`
    evidence   `Eq7f2k > treated by > lives in > Sa1b2c: city, 2-5`
    candidate  `way(2): Eq7f2k > ^treated by: patient`

A size is left out if it is not shown. `read_step` is for stand-ins of a model, and for tests.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast, get_args

from app.llm.tasks import Candidate, Evidence, Size, StepInput, Thing

_TIGHT: Final = (",", ":")
_ON: Final = " > "
_IS: Final = ": "
_WAY: Final = re.compile(r"way\((\d+)\): ")
_SIZES: Final = tuple(size for size in get_args(Size) if size)


def step_text(given: StepInput) -> str:
    """Returns the input as JSON with things, evidence and candidates as lines, without fields that
    hold their default.
    """
    shown = given.model_dump(exclude_defaults=True, exclude={"things", "evidence", "candidates"})
    lines = {
        "things": [f"{thing.name}{_IS}{_sized(thing.concept, thing.size)}" for thing in given.things],
        "evidence": [_fact_line(fact) for fact in given.evidence],
        "candidates": [_way_line(way) for way in given.candidates],
    }
    ordered = {name: lines.get(name, shown.get(name)) for name in type(given).model_fields}
    return json.dumps(
        {name: each for name, each in ordered.items() if each or name == "question"},
        ensure_ascii=False,
        separators=_TIGHT,
    )


def read_step(text: str) -> StepInput:
    """Returns the input that `step_text` wrote. Raises ValueError."""
    shown: dict[str, Any] = json.loads(text)
    read = {"things": _thing, "evidence": _fact, "candidates": _way}
    return StepInput.model_validate(
        shown | {name: [make(line) for line in shown.get(name, ())] for name, make in read.items()}
    )


def _sized(concept: str, size: str) -> str:
    return f"{concept}, {size}" if size else concept


def _fact_line(fact: Evidence) -> str:
    start = f"{fact.start} ({fact.start_concept})" if fact.start_concept else fact.start
    return f"{_ON.join([start, *fact.path, fact.end])}{_IS}{_sized(fact.end_concept, fact.size)}"


def _way_line(way: Candidate) -> str:
    return f"way({way.number}){_IS}{_ON.join([way.start, *way.path])}{_IS}{way.concept}"


def _thing(line: str) -> Thing:
    name, _, concept = line.partition(_IS)
    concept, size = _parted(concept)
    return Thing(name=name, concept=concept, size=size)


def _fact(line: str) -> Evidence:
    walked, _, concept = line.rpartition(_IS)
    start, *path, end = walked.split(_ON)
    start, _, kind = start.partition(" (")
    concept, size = _parted(concept)
    return Evidence(
        start=start, start_concept=kind.removesuffix(")"), path=path, end=end, end_concept=concept, size=size
    )


def _way(line: str) -> Candidate:
    found = _WAY.match(line)
    if found is None:
        raise ValueError("a candidate begins with its number")
    walked, _, concept = line[found.end() :].rpartition(_IS)
    start, *path = walked.split(_ON)
    return Candidate(number=int(found[1]), start=start, path=path, concept=concept)


def _parted(concept: str) -> tuple[str, Size]:
    kind, comma, size = concept.rpartition(", ")
    return (kind, cast(Size, size)) if comma and size in _SIZES else (concept, "")
