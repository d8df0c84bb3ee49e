"""Cases: how a question was worded and the relation paths that answered it, and what is kept until it is rated."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
LabelPath = tuple[str, ...]
"""A path as the labels of its steps: `^directed by`, `a|b` through a mediator."""

Rating = Literal["right", "wrong"]
MAX_RATABLE = 20
"""The number of answers of one conversation that can still be rated. Chosen by hand."""
MAX_CORRECTED_CONFIDENCE = 0.5
"""The highest confidence of an answer on a way that a person gave as a correction: nobody has measured how often such
corrections are right, so it is said to be no surer than a coin. Chosen by hand.
"""


@dataclass(frozen=True, slots=True)
class CaseContent:
    """Everything that a case teaches: a vector of `model` and labels of relations, and no entity.

    `is_whole`: a single path is the whole answer, and nothing was counted, compared or excluded. `asked`: the words of
    the question without its names, for the owner who approves it; `before`: the paths of the answer that was rated
    wrong; `person`: who rated it, among those who share a key. `most`: the highest confidence (0 to 1) of an answer
    that follows this case before an owner approved it. `is_held`: it contradicts an answer that was sure, so it counts
    for nobody before an owner approves it.
    """

    model: str
    vector: Vector = field(repr=False)
    paths: tuple[LabelPath, ...] = field(repr=False)
    is_whole: bool = False
    asked: str = field(default="", repr=False)
    before: tuple[LabelPath, ...] = field(default=(), repr=False)
    person: str = field(default="", repr=False)
    most: float = 1.0
    is_held: bool = False

    def is_shown_by(self, labels: Collection[str]) -> bool:
        """True if every relation of its paths is one of `labels`, those of a role's view."""
        return _are_shown(self.paths, labels)

    def without_others(self, labels: Collection[str]) -> CaseContent:
        """The same, with paths of the answer before only if all their relations are among `labels`."""
        return self if _are_shown(self.before, labels) else replace(self, before=())


@dataclass(frozen=True, slots=True)
class Case:
    """A stored case. `used`: the number of answers that used it; `approved_at`: None while only who rated uses it."""

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    content: CaseContent

    @property
    def most(self) -> float:
        """The highest confidence of an answer that follows it."""
        return self.content.most if self.approved_at is None else 1.0

    def counts_for(self, key_id: str, person: str) -> bool:
        """True for everybody once an owner approved it, and until then for who rated, unless it is held back."""
        own = self.key_id == key_id and self.content.person == person and not self.content.is_held
        return own or self.approved_at is not None


@dataclass(frozen=True, slots=True)
class RatableAnswer:
    """An answer of a conversation that can still be rated.

    `topics`: pseudonyms of what its question names; `leaned`: it used a path of a case; `rating`: the last one, empty
    for none; `confidence`: 0 to 1, and 0 where nothing was answered or measured.
    """

    content: CaseContent
    topics: tuple[str, ...] = ()
    leaned: bool = False
    rating: Rating | Literal[""] = ""
    confidence: float = 0.0

    def rated_right(self) -> CaseContent:
        """The case that this answer leaves: no surer than the answer was, and unsure where nothing measured it."""
        return replace(self.content, most=self.confidence or MAX_CORRECTED_CONFIDENCE)

    def to_json(self) -> dict[str, Any]:
        rest = {"topics": list(self.topics), "leaned": self.leaned, "rating": self.rating, "sure": self.confidence}
        return {**content_to_json(self.content), **rest}

    @staticmethod
    def from_json(data: dict[str, Any]) -> RatableAnswer:
        content, topics = content_from_json(data), tuple(data["topics"])
        return RatableAnswer(content, topics, data["leaned"], data["rating"], data.get("sure", 0.0))


def content_to_json(content: CaseContent) -> dict[str, Any]:
    """Returns the content as JSON values; the vector has half precision, which keeps cosines to three digits."""
    packed = base64.b64encode(content.vector.astype("<f2").tobytes()).decode()
    return {
        "model": content.model,
        "vector": packed,
        "paths": [list(path) for path in content.paths],
        "whole": content.is_whole,
        "asked": content.asked,
        "before": [list(path) for path in content.before],
        "person": content.person,
        "most": content.most,
        "held": content.is_held,
    }


def content_from_json(data: dict[str, Any]) -> CaseContent:
    """Reads what `content_to_json` wrote, also before a case told who rated and how it was worded."""
    vector = np.frombuffer(base64.b64decode(data["vector"]), dtype="<f2").astype(np.float32)
    return CaseContent(
        model=data["model"],
        vector=vector,
        paths=tuple(map(tuple, data["paths"])),
        is_whole=data["whole"],
        asked=data.get("asked", ""),
        before=tuple(map(tuple, data.get("before", ()))),
        person=data.get("person", ""),
        most=data.get("most", MAX_CORRECTED_CONFIDENCE),
        is_held=data.get("held", False),
    )


def parts_of(step: str) -> Sequence[str]:
    """The relations that a step's label names."""
    return [part.removeprefix("^") for part in step.split("|")]


def _are_shown(paths: Collection[LabelPath], labels: Collection[str]) -> bool:
    return all(part in labels for path in paths for step in path for part in parts_of(step))
