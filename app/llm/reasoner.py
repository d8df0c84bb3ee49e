"""Defines Reasoner, the interface of a model that is asked typed tasks, and the results and errors of asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from app.llm.in_house import OfferedReading, ReadingScores
from app.llm.tasks import CallOptions, ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call, and its cost.

    `by_endpoint`: the endpoint counted them. `retries`: number of requests that failed before it. `cost`: in the
    currency of the settings, None without a price. `odd_counts`: 1 if the endpoint's counts were implausible, so that
    the service counted.
    """

    prompt: int = 0
    completion: int = 0
    by_endpoint: bool = False
    retries: int = 0
    cost: float | None = None
    odd_counts: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[ReplyT]):
    """A parsed reply to a task. Nothing in it is trusted, evaluated or restored without checks.

    `words`: the reply as a model wrote it; None if the embedded reasoner gave it. Only the embedded reasoner sets
    `scores` (of its reading) and `asks_back` (readings that may have been meant).
    """

    value: ReplyT
    tokens: Tokens = field(default_factory=Tokens)
    words: str | None = field(default=None, repr=False)
    scores: ReadingScores | None = None
    asks_back: tuple[OfferedReading, ...] = ()

    @property
    def is_of_model(self) -> bool:
        """True if a model gave the reply and not the embedded reasoner."""
        return self.words is not None


@dataclass(frozen=True, slots=True)
class Retry:
    """Says that there is no usable reply yet: the same task should be asked again with the options `manner`.

    The new request is checked and recorded like any other. `tokens`: those of the failed call, if it had a reply;
    `words`: that reply, for the ledger only.
    """

    manner: CallOptions
    tokens: Tokens | None = None
    words: str | None = field(default=None, repr=False)


class Reasoner(Protocol):
    """Answers tasks: a language model behind an endpoint, or the embedded reasoner. Strategies reach it only by a
    TaskRunner."""

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        """Returns the static segments that requests of `kind` may have, to be registered with the guard in advance."""
        ...

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        """Returns the bytes that asking `task` would send, without sending anything."""
        ...

    @property
    def longest_reply(self) -> int:
        """The greatest number of tokens of a reply; 0 if asking costs nothing."""
        ...

    @property
    def is_capable(self) -> bool:
        """False if the model has shown in a probe that it can only choose from lists."""
        ...

    def tokens_in(self, egress: Egress) -> int:
        """Returns the number of tokens in `egress` as the service counts them; 0 if asking costs nothing."""
        ...

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        """Sends exactly `egress` and returns the parsed reply, or a Retry if asking again may help.

        Raises ReasonerError if it will not.
        """
        ...


class TaskRunner(Protocol):
    """The reasoner that strategies get: each call passes the checks of `app.egress.guarded_reasoner`."""

    @property
    def is_model(self) -> bool:
        """True if a model is asked, False if the embedded reasoner does all tasks."""
        ...

    @property
    def is_capable(self) -> bool:
        """True if the model has shown that it can write answers; False if it can only choose from lists."""
        ...

    def fits(self, *tasks: Task[Any]) -> bool:
        """Returns True if asking all of `tasks`, with the longest possible replies, fits the question's budget."""
        ...

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply to a task.

        Raises ReasonerError, and before anything is sent BudgetUsedUpError if the budget might be exceeded.
        """
        ...


class ReasonerError(Exception):
    """The reasoner gave no usable reply. The error's text holds ids, counts and codes, never words of the reply.

    `tokens`: those of the failed call, if it had a reply; `words`: that reply, for the ledger only. `status`: the
    endpoint's HTTP status, if it gave one.
    """

    tokens: Tokens | None = None
    words: str | None = None
    status: int | None = None


class ReasonerUnavailableError(ReasonerError):
    """There was no reply in time; asking again later may help.

    `reason`: if no connection was made, the cause. It holds no address, because the asker sees it.
    """

    reason: str = ""


class ReasonerRefusedError(ReasonerError):
    """The endpoint refused the request (key, model or quota); asking again will not help."""


class ReplyUnusableError(ReasonerError):
    """The reply is empty, cut off, or does not fit the schema."""
