"""Cases: the vector of a question with the relation paths that answered it, and what is kept until it is rated."""

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
"""The number of answers of one conversation that can still be rated. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class CaseContent:
    """Everything that a case teaches: a vector of `model` and labels of relations, no text and no entity.

    `is_whole`: a single path is the whole answer, and nothing was counted, compared or excluded.
    """

    model: str
    vector: Vector = field(repr=False)
    paths: tuple[LabelPath, ...] = field(repr=False)
    is_whole: bool = False

    def is_shown_by(self, labels: Collection[str]) -> bool:
        """True if every relation of its paths is one of `labels`, those of a role's view."""
        return all(part in labels for path in self.paths for step in path for part in parts_of(step))


@dataclass(frozen=True, slots=True)
class Case:
    """A stored case. `used`: the number of answers that used it; `approved_at`: None while only its
    own key uses it.
    """

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    content: CaseContent


@dataclass(frozen=True, slots=True)
class RatableAnswer:
    """An answer of a conversation that can still be rated.

    `topics`: pseudonyms of what its question names; `leaned`: it used a path of a case; `rating`: the last one, empty
    for none.
    """

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
    """Returns the content as JSON values; the vector has half precision, which keeps cosines to three digits."""
    packed = base64.b64encode(content.vector.astype("<f2").tobytes()).decode()
    return {
        "model": content.model,
        "vector": packed,
        "paths": [list(path) for path in content.paths],
        "whole": content.is_whole,
    }


def content_from_json(data: dict[str, Any]) -> CaseContent:
    """Reads what `content_to_json` wrote."""
    vector = np.frombuffer(base64.b64decode(data["vector"]), dtype="<f2").astype(np.float32)
    return CaseContent(data["model"], vector, tuple(tuple(path) for path in data["paths"]), data["whole"])


def parts_of(step: str) -> Sequence[str]:
    """The relations that a step's label names."""
    return [part.removeprefix("^") for part in step.split("|")]
