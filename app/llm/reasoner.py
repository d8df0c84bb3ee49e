"""The Reasoner: the interface of a model that is asked typed tasks, and what comes of asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from app.llm.in_house import ReadingScores
from app.llm.tasks import CallOptions, ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call; `by_endpoint` is true when the endpoint counted the tokens itself.

    `retries` are requests that failed before it; `cost` is in the currency of the settings, None without a price.
    `odd_counts` is 1 where the endpoint's own count could not be right, so that it was counted here.
    """

    prompt: int = 0
    completion: int = 0
    by_endpoint: bool = False
    retries: int = 0
    cost: float | None = None
    odd_counts: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[ReplyT]):
    """A parsed reply. It is data: nothing in it is trusted, evaluated or restored unchecked.

    `words` is the reply as the model gave it, where that is not `value` itself. `scores` of the reading that it
    follows, and `asks_back`, questions over pseudonyms that may have been meant: none but the reasoner in the service
    sets them, for no reply is parsed into them.
    """

    value: ReplyT
    tokens: Tokens = field(default_factory=Tokens)
    words: str | None = field(default=None, repr=False)
    scores: ReadingScores | None = None
    asks_back: tuple[str, ...] = ()

    @property
    def is_of_model(self) -> bool:
        """True where a model gave it, and not the reasoner inside the service."""
        return self.words is not None


@dataclass(frozen=True, slots=True)
class Retry:
    """No usable reply, and the manner in which asking the same task again may bring one.

    That is a request like any other, to be cleared and recorded. `tokens` is what the failed call took, where there
    was a reply; `words` is that reply, for the ledger alone.
    """

    manner: CallOptions
    tokens: Tokens | None = None
    words: str | None = field(default=None, repr=False)


class Reasoner(Protocol):
    """A model, or what stands in for one. Wiring hands out none that is not behind the guard."""

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        """The segments that every egress of `kind` shares: our own words, to be registered before any question."""
        ...

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        """The bytes that asking `task` would send. Pure: nothing is sent."""
        ...

    @property
    def longest_reply(self) -> int:
        """Tokens of the longest reply; 0 where asking costs nothing."""
        ...

    @property
    def is_capable(self) -> bool:
        """False of a model that was seen to choose from lists alone."""
        ...

    def tokens_in(self, egress: Egress) -> int:
        """Tokens of what a model reads of `egress`, counted here; 0 where asking costs nothing."""
        ...

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        """Sends exactly `egress` and parses the reply. Raises ReasonerError where asking again will not help."""
        ...


class TaskRunner(Protocol):
    """A reasoner as strategies are given it: each call has passed `app.egress.guarded_reasoner`."""

    @property
    def is_model(self) -> bool:
        """False where the reasoner inside the service takes all steps."""
        ...

    @property
    def is_capable(self) -> bool:
        """True where the model was seen to write answers of its own; false where it chooses from lists alone."""
        ...

    def fits(self, *tasks: Task[Any]) -> bool:
        """True where asking all of `tasks` stays within what the question may still take, longest replies included."""
        ...

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Raises ReasonerError, and BudgetUsedUpError where it might take more than is left: it is not sent then."""
        ...


class ReasonerError(Exception):
    """The reasoner could not give a usable reply. Text: ids, counts, codes; never the reply's words.

    `tokens` is what the failed call took, where there was a reply; `words` is that reply, for the ledger alone.
    `status` is the endpoint's, where it gave one.
    """

    tokens: Tokens | None = None
    words: str | None = None
    status: int | None = None


class ReasonerUnavailableError(ReasonerError):
    """Nothing answered, or not in time; asking again later may help.

    `reason` says why no connection came about, where none did. It holds no address: askers are told it.
    """

    reason: str = ""


class ReasonerRefusedError(ReasonerError):
    """The endpoint refused the request (key, model or quota); asking again will not help."""


class ReplyUnusableError(ReasonerError):
    """The reply is empty, cut off, or does not fit the schema."""
