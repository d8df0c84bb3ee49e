"""The Reasoner: the interface of a model that is asked typed tasks, and the results of asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from app.llm.in_house import ReadingScores
from app.llm.tasks import CallOptions, ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call; `by_endpoint`: the endpoint counted them.

    `retries`: requests that failed before it; `cost`: in the currency of the settings, None without a price.
    `odd_counts`: 1 if the endpoint's count was implausible, so they were counted here.
    """

    prompt: int = 0
    completion: int = 0
    by_endpoint: bool = False
    retries: int = 0
    cost: float | None = None
    odd_counts: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[ReplyT]):
    """A parsed reply. It is data: nothing in it is trusted, evaluated or restored without checks.

    `words`: the reply as the model wrote it, if that differs from `value`. `scores` of the reading, and `asks_back`,
    questions in pseudonyms that may have been meant, are set by the reasoner inside the service only; no model's reply
    is parsed into them.
    """

    value: ReplyT
    tokens: Tokens = field(default_factory=Tokens)
    words: str | None = field(default=None, repr=False)
    scores: ReadingScores | None = None
    asks_back: tuple[str, ...] = ()

    @property
    def is_of_model(self) -> bool:
        """True if a model gave the reply and not the reasoner inside the service."""
        return self.words is not None


@dataclass(frozen=True, slots=True)
class Retry:
    """There is no usable reply; asking the same task again with the options `manner` may bring one.

    That is a request like any other, which is checked and recorded. `tokens`: those of the failed call, if it had a
    reply; `words`: that reply, for the ledger only.
    """

    manner: CallOptions
    tokens: Tokens | None = None
    words: str | None = field(default=None, repr=False)


class Reasoner(Protocol):
    """A language model, or something in place of one. Wiring only hands out reasoners that are behind the guard."""

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        """Returns the fixed segments that every request of `kind` shares; they are registered with the guard in
        advance.
        """
        ...

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        """Returns the bytes that asking `task` would send, without sending anything."""
        ...

    @property
    def longest_reply(self) -> int:
        """The tokens of the longest reply; 0 if asking costs nothing."""
        ...

    @property
    def is_capable(self) -> bool:
        """False of a model that has shown that it can only choose from lists."""
        ...

    def tokens_in(self, egress: Egress) -> int:
        """Returns the number of tokens that a model reads of `egress`, counted here; 0 if asking costs nothing."""
        ...

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        """Sends exactly `egress` and parses the reply. Raises ReasonerError if asking again will not help."""
        ...


class TaskRunner(Protocol):
    """A reasoner as strategies get it: each call passes through `app.egress.guarded_reasoner`."""

    @property
    def is_model(self) -> bool:
        """False if the reasoner inside the service does all tasks."""
        ...

    @property
    def is_capable(self) -> bool:
        """True if the model has shown that it can write answers; False if it can only choose from lists."""
        ...

    def fits(self, *tasks: Task[Any]) -> bool:
        """True if asking all of `tasks`, with the longest possible replies, stays within the
        question's token budget.
        """
        ...

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply. Raises ReasonerError, and BudgetUsedUpError (before sending) if the budget might be
        exceeded.
        """
        ...


class ReasonerError(Exception):
    """The reasoner could not give a usable reply. The text holds ids, counts and codes, never words of the reply.

    `tokens`: those of the failed call, if it had a reply; `words`: that reply, for the ledger only. `status`: the
    endpoint's, if it gave one.
    """

    tokens: Tokens | None = None
    words: str | None = None
    status: int | None = None


class ReasonerUnavailableError(ReasonerError):
    """There was no reply, or not in time; asking again later may help.

    `reason` says why no connection was made, if none was. It holds no address, because the asker sees it.
    """

    reason: str = ""


class ReasonerRefusedError(ReasonerError):
    """The endpoint refused the request (key, model or quota); asking again will not help."""


class ReplyUnusableError(ReasonerError):
    """The reply is empty, cut off, or does not fit the schema."""
