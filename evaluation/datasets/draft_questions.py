"""Questions of every form over the demo graph, their slots filled with names of the graph."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.datasets.questions import PlanSet, QueryPlan, Question

NAMES_EACH: Final = 2
"""So many questions are made of each that has a slot."""

_SLOT: Final = re.compile(r"\{(\w+)\}")


class _Template(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str
    sets: dict[str, list[str]]
    answer: str


def draft_questions(names: Mapping[str, list[str]], seed: int) -> list[Question]:
    """`names`: by the concept of their things. The plan gives the right answer; what that is, is not told."""
    dice = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    text = resources.files(__package__).joinpath("draft_questions.toml").read_text("utf-8")
    templates = [_Template.model_validate(each) for each in tomllib.loads(text)["question"]]
    found: dict[str, Question] = {}
    for template in templates:
        for _ in range(NAMES_EACH):
            asked = _SLOT.sub(lambda slot: dice.choice(names[slot[1]]), template.text)
            found[asked] = Question(id=asked, question=asked, answers=(), plan=_plan_of(template))
    return list(found.values())


def _plan_of(template: _Template) -> QueryPlan:
    sets = {letter: PlanSet(start=start, path=tuple(path)) for letter, (start, *path) in template.sets.items()}
    return QueryPlan(sets=sets, answer=(template.answer,), text="The answer is {1}.")
