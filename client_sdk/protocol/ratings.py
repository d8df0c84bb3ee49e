"""POST /ratings, and the cases that ratings leave: GET /admin/graphs/{name}/cases and what is done with them."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from client_sdk.protocol.base import Wire

RatingWord = Literal["right", "wrong"]
MAX_CORRECT = 50
MAX_CORRECT_CHARS = 200

_Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CORRECT_CHARS, strip_whitespace=True)]


class AnswerRating(Wire):
    """The rating of one answer of a conversation. The last rating of an answer wins.

    `correct`: names or values that would have been right, for an answer that is wrong; they stay in the service.
    """

    conversation: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    answer: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    rating: RatingWord
    correct: Annotated[list[_Name], Field(max_length=MAX_CORRECT)] | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _is_of_wrong(self) -> Self:
        if self.correct and self.rating == "right":
            raise ValueError("`correct` belongs to an answer that is wrong")
        return self


class AnswerRated(Wire):
    """A rating as it was taken. `learnt`: it left a case, on which later questions of who rated lean.

    `held`: not before the graph's owner approves it, since it contradicts an answer that was sure.
    """

    answer: str
    rating: RatingWord
    learnt: bool
    held: bool = False


class CaseListed(Wire):
    """A case: whose rating left it, when, the paths in relation words, how many answers leaned on it.

    `asked`: the question's words without its names; `before`: the paths of the answer that was rated wrong; `held`: it
    contradicts a sure answer; `raters`: how many persons rated the same wording so.
    """

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    asked: str = ""
    before: list[str] = Field(default_factory=list)
    paths: list[str]
    held: bool = False
    raters: int = 1


class CaseReport(Wire):
    """Counts of what the cases of a graph changed: answers that leaned on them, and how these were rated."""

    graph: str
    cases: int
    approved: int
    held: int = 0
    leaned: int
    rated_right: int
    rated_wrong: int


class CaseList(Wire):
    """The cases of a graph, oldest first."""

    report: CaseReport
    cases: list[CaseListed]


class CaseChoice(Wire):
    """Cases by their ids, or all cases of one key."""

    ids: Annotated[list[str], Field(max_length=10_000)] | None = None
    key_id: str | None = Field(default=None, max_length=64)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.ids is None) == (self.key_id is None):
            raise ValueError("give `ids` or `key_id`")
        return self


class CasesChanged(Wire):
    """The number of cases that were approved or deleted."""

    cases: int
