"""Case: the vector of a question and the relation paths that answered it; and what it is made of until it is rated."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
LabelPath = tuple[str, ...]
"""A path as the labels of its steps: `^directed by`, `a|b` through a mediator."""

Rating = Literal["right", "wrong"]
MAX_RATABLE = 20
"""Answers of one conversation that can still be rated."""


@dataclass(frozen=True, slots=True)
class CaseContent:
    """All that a case teaches. No text and no entity: a vector of `model`, and labels of relations. `is_whole`: the
    one path is all of the answer, and nothing of it was counted, compared or left out."""

    model: str
    vector: Vector = field(repr=False)
    paths: tuple[LabelPath, ...] = field(repr=False)
    is_whole: bool = False

    def is_shown_by(self, labels: Collection[str]) -> bool:
        """True where every relation of its paths is one of `labels`, those of a role's view."""
        return all(part in labels for path in self.paths for step in path for part in parts_of(step))


@dataclass(frozen=True, slots=True)
class Case:
    """A case as it is kept. `used`: how many answers leaned on it; `approved_at`: None while it is its key's alone."""

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    content: CaseContent


@dataclass(frozen=True, slots=True)
class RatableAnswer:
    """An answer of a conversation as long as it can be rated. `topics`: pseudonyms of what its question names;
    `leaned`: it went along a path of a case; `rating`: the last one, empty for none."""

    content: CaseContent
    topics: tuple[str, ...] = ()
    leaned: bool = False
    rating: Rating | Literal[""] = ""

    def to_json(self) -> dict[str, Any]:
        rest = {"topics": list(self.topics), "leaned": self.leaned, "rating": self.rating}
        return {**content_to_json(self.content), **rest}

    @staticmethod
    def from_json(data: dict[str, Any]) -> RatableAnswer:
        return RatableAnswer(content_from_json(data), tuple(data["topics"]), data["leaned"], data["rating"])


def content_to_json(content: CaseContent) -> dict[str, Any]:
    """Half precision: cosines stay the same to three digits."""
    packed = base64.b64encode(content.vector.astype("<f2").tobytes()).decode()
    return {
        "model": content.model,
        "vector": packed,
        "paths": [list(path) for path in content.paths],
        "whole": content.is_whole,
    }


def content_from_json(data: dict[str, Any]) -> CaseContent:
    """Reads what `content_to_json` gave."""
    vector = np.frombuffer(base64.b64decode(data["vector"]), dtype="<f2").astype(np.float32)
    return CaseContent(data["model"], vector, tuple(tuple(path) for path in data["paths"]), data["whole"])


def parts_of(step: str) -> Sequence[str]:
    """The relations that a step's label names."""
    return [part.removeprefix("^") for part in step.split("|")]
