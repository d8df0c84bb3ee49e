"""Defines GuardedReasoner, the only way of strategies to a model: it measures, budgets, checks, records and sends.

InHouseRunner has the same interface for the embedded reasoner. PseudonymSubstitution replaces pseudonyms and masks by
other words before a task leaves, and restores them in its reply.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, ParamSpec, Self, TypeVar

from app.egress.budgets import Account, QuestionBudgetUsedUpError
from app.egress.disclosure import QuestionDisclosure, ask_in_house
from app.egress.guard import BORDER, BlockedError, Guard, digest_of
from app.egress.ledger.ledger import LedgerEntry, LedgerReply, ReplyOutcome, RequestLog
from app.llm.in_house import OfferedReading
from app.llm.reasoner import Reasoner, ReasonerError, Reply, Retry, Tokens
from app.llm.tasks import ReplyT, Task, TaskModel
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import Egress, Segment
from kg_store.terms import Schema

_RUN = re.compile(r"[0-9A-Za-z]+")
_ModelT = TypeVar("_ModelT", bound=TaskModel)


@dataclass(frozen=True, slots=True)
class PseudonymSubstitution:
    """Replaces the service's pseudonyms and masks by other words in what is sent.

    `words`: for each word its own replacement. `issued`: all pseudonyms of the conversation. Promise: a word with a
    replacement never leaves. Limit: the facts shown for two words may reveal that they stand for the same thing.
    """

    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    issued: frozenset[str] = frozenset()

    @property
    def sendable(self) -> frozenset[str]:
        """The words that a request may hold."""
        return frozenset(self.words.values()) | (self.issued - self.words.keys())

    def substitute_in(self, task: Task[ReplyT]) -> Task[ReplyT]:
        return replace(task, input=_renamed(task.input, self.words)) if self.words else task

    def restore_in(self, reply: Reply[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply with the service's own words put back in what the service reads.

        The field `words` keeps the reply as the model wrote it, for the ledger.
        """
        if not self.words:
            return reply
        back = {word: own for own, word in self.words.items()}
        asks_back = tuple(OfferedReading(*_in(each, back)) for each in reply.asks_back)
        return replace(reply, value=_renamed(reply.value, back), asks_back=asks_back)


WirePseudonyms = Callable[[], PseudonymSubstitution]
"""Returns the substitution for one question with all pseudonyms issued so far; every step may issue more."""


def pseudonyms_of_answer(table: PseudonymTable, schema: Schema, answer_id: str) -> WirePseudonyms:
    """Returns a function that makes the PseudonymSubstitution for the prompts of one answer.

    Each call includes the pseudonyms that the conversation's `table` has issued by then.
    """
    return lambda: PseudonymSubstitution(table.wire_pseudonyms(schema, answer_id), table.issued)


def _renamed(model: _ModelT, words: Mapping[str, str]) -> _ModelT:
    """Returns a copy of `model` with words replaced in all fields, also in those that are excluded from its dump."""
    house = {name: getattr(model, name) for name, field in type(model).model_fields.items() if field.exclude}
    return type(model).model_validate(_in(model.model_dump() | house, words))


def _in(value: Any, words: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _RUN.sub(lambda run: words.get(run[0], run[0]), value)
        case dict():
            return {_in(key, words): _in(each, words) for key, each in value.items()}
        case list() | tuple():
            return [_in(each, words) for each in value]
        case TaskModel():
            return _renamed(value, words)
    return value


P = ParamSpec("P")
T = TypeVar("T")


Sends = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Awaits a call to a model's endpoint in the event loop that owns its connections, and returns the result."""


async def _sends_here(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The ids that the ledger records for a question: those of tenant, API key, answer and conversation."""

    tenant: str
    caller: str
    answer: str
    conversation: str


@dataclass(slots=True)
class UsageTotals:
    """The cost of one question's model calls so far: tokens, price and seconds.

    `by_endpoint`: True if all token counts are the endpoint's own. `odd_counts`: the number of calls for which it
    reported implausible counts. `cost`: None if a call had no price.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    by_endpoint: bool = True
    retries: int = 0
    odd_counts: int = 0
    cost: float | None = 0.0
    guard_s: float = 0.0
    reasoner_s: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, tokens: Tokens) -> None:
        self.calls += 1
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        self.by_endpoint = self.by_endpoint and tokens.by_endpoint
        self.retries += tokens.retries
        self.odd_counts += tokens.odd_counts
        # If one call has no price, the cost of the question is unknown.
        self.cost = None if self.cost is None or tokens.cost is None else self.cost + tokens.cost


@dataclass(frozen=True, slots=True)
class Admitted(Generic[ReplyT]):
    """A request that passed all checks: its task in the words that are sent, its bytes, and its row in the ledger."""

    task: Task[ReplyT]
    egress: Egress
    entry: LedgerEntry


@dataclass(slots=True)
class GuardedReasoner:
    """The reasoner of one question, which checks and records every request before it is sent.

    When its `async with` block ends, all replies are recorded. Promise: every byte that reaches `inner` has passed
    `_admit`. Condition: `pseudonyms` are those of this conversation. Limit: those of the disclosure meter and of the
    guard. `most_tokens`: the token budget of the question. `account`: that of its tenant. None is no limit.
    """

    inner: Reasoner
    guard: Guard
    ledger: RequestLog
    errand: RequestContext
    pseudonyms: WirePseudonyms
    disclosure: QuestionDisclosure = field(default_factory=QuestionDisclosure)
    most_tokens: int | None = None
    account: Account | None = None
    sends: Sends = _sends_here
    spent: UsageTotals = field(default_factory=UsageTotals)
    heard: list[LedgerReply] = field(default_factory=list)
    asked: list[LedgerEntry] = field(default_factory=list)
    """Requests that the embedded reasoner answered, not recorded yet; those to a model are recorded when admitted."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        """Records the replies and counts the tokens, also if the question failed. Raises LedgerUnavailableError."""
        if self.heard or self.asked or self.account is not None:
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            if self.heard or self.asked:
                self.ledger.record_replies(self.heard, self.asked)
        finally:
            if self.account is not None:
                self.account.settle(self.spent.tokens)

    @property
    def is_model(self) -> bool:
        return self.inner.longest_reply > 0

    @property
    def is_capable(self) -> bool:
        return self.inner.is_capable

    def fits(self, *tasks: Task[Any]) -> bool:
        if self.most_tokens is None:
            return True
        # Replacements are as long as the words that they replace, so bytes can be counted before words are replaced.
        if self._surely_fit([self.inner.egress_of(task) for task in tasks]):
            return True
        return self._fit([self.inner.egress_of(self._worded(task)) for task in tasks])

    def may_leave(self, texts: Sequence[str]) -> tuple[bool, ...]:
        """Returns True for each text that the guard would let pass; nothing is sent or recorded.

        All are checked in one, with borders between them, and each by itself only if the guard objects to that.
        """
        if self._passes(BORDER.join(texts)):
            return (True,) * len(texts)
        return tuple(map(self._passes, texts)) if len(texts) > 1 else (False,) * len(texts)

    def _passes(self, text: str) -> bool:
        try:
            self.guard.clear(Egress((Segment(text.encode()),)), self.pseudonyms().issued)
        except BlockedError:
            return False
        return True

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply to a task. A second try, or one at another endpoint, passes the same checks anew.

        Raises BlockedError, LedgerUnavailableError, BudgetUsedUpError or BelowAnonymityThresholdError before the
        request is sent, and ReasonerError.
        """
        while True:
            # The checks read, count and write, so a thread makes them, and other questions need not wait.
            admitted = await _in_thread(self._admit, task)
            if admitted is None:
                return await self.disclosure.in_house(task)
            reply = await self._send(admitted)
            if isinstance(reply, Reply):
                return self.pseudonyms().restore_in(reply)
            self.spent.retries += 1
            task = replace(task, manner=reply.manner)

    def _admit(self, task: Task[ReplyT]) -> Admitted[ReplyT] | None:
        """Makes all checks before a request, in the order of docs/privacy.md: disclosure, budgets, guard, ledger.

        Returns None if the embedded reasoner has to do the step. If a check raises, nothing of the task leaves.
        """
        measured = self.disclosure.measured(task)
        if measured is None:
            return None
        began = time.perf_counter()
        worded = self._worded(measured)
        egress = self.inner.egress_of(worded)
        self._afford(egress)
        entry = self._cleared(worded, egress)
        self._record(entry)
        self.spent.guard_s += time.perf_counter() - began
        return Admitted(worded, egress, entry)

    def _afford(self, egress: Egress) -> None:
        """Reserves the greatest number of tokens that the call may use. Raises QuestionBudgetUsedUpError,
        TenantBudgetUsedUpError."""
        if not self._fit([egress]):
            raise QuestionBudgetUsedUpError(f"of {self.most_tokens} tokens {self.spent.tokens} are spent")
        if self.account is not None and self.account.is_limited:
            self.account.reserve(self.inner.tokens_in(egress) + self.inner.longest_reply, self.spent.tokens)

    def _cleared(self, task: Task[Any], egress: Egress) -> LedgerEntry:
        """Returns the ledger's row for a request that the guard accepts.

        Raises BlockedError if the guard does not, after a row with that verdict was written.
        """
        try:
            # Only replacements and pseudonyms without one are allowed, so a replaced word is blocked if it is left.
            digest = self.guard.clear(egress, self.pseudonyms().sendable)
        except BlockedError as blocked:
            self._record(self._entry(task, egress, digest_of(egress), hits=blocked.hits, blocked=True))
            raise
        return self._entry(task, egress, digest)

    def _record(self, entry: LedgerEntry) -> None:
        """Records a request to a model at once, since it is about to leave. What stays here is recorded at the end."""
        if self.is_model:
            self.ledger.record(entry)
        else:
            self.asked.append(entry)

    async def _send(self, admitted: Admitted[ReplyT]) -> Reply[ReplyT] | Retry:
        egress = admitted.egress
        reply_to = partial(self._reply_to, admitted.task, egress)
        try:
            reply = await (self.sends(reply_to) if self.is_model else reply_to())
        except ReasonerError as error:
            self._hear(admitted.entry, error.tokens, "unusable", error.words)
            raise
        except asyncio.CancelledError:
            # The caller went away, but the endpoint may have read the prompt, so its tokens count.
            self.spent.prompt_tokens += self.inner.tokens_in(egress)
            raise
        if isinstance(reply, Retry):
            self._hear(admitted.entry, reply.tokens, "unusable", reply.words)
        else:
            words = reply.value.model_dump_json() if reply.words is None else reply.words
            self._hear(admitted.entry, reply.tokens, "used", words)
        return reply

    async def _reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        sent = time.perf_counter()
        try:
            return await self.inner.reply_to(task, egress)
        finally:
            self.spent.reasoner_s += time.perf_counter() - sent

    def _hear(self, entry: LedgerEntry, tokens: Tokens | None, outcome: ReplyOutcome, words: str | None) -> None:
        if tokens is not None:
            self.spent.add(tokens)
        if words is not None:
            self.heard.append(LedgerReply(entry, outcome, words))

    def _fit(self, requests: Sequence[Egress]) -> bool:
        if self.most_tokens is None or self._surely_fit(requests):
            return True
        return sum(self.inner.tokens_in(egress) for egress in requests) <= self._left_for(requests)

    def _surely_fit(self, requests: Sequence[Egress]) -> bool:
        """Returns True if the number of bytes already proves that the requests fit the question's budget.

        A token has at least one byte, so most requests need not be tokenised.
        """
        return sum(len(egress.body) for egress in requests) <= self._left_for(requests)

    def _left_for(self, requests: Sequence[Egress]) -> int:
        return (self.most_tokens or 0) - self.spent.tokens - len(requests) * self.inner.longest_reply

    def _worded(self, task: Task[ReplyT]) -> Task[ReplyT]:
        """Returns `task` with pseudonyms and masks as they are sent, and with the tenant's id in its options."""
        manner = replace(task.manner, tenant=self.errand.tenant)
        return replace(self.pseudonyms().substitute_in(task), manner=manner)

    def _entry(
        self, task: Task[ReplyT], egress: Egress, digest: str, hits: int = 0, blocked: bool = False
    ) -> LedgerEntry:
        return LedgerEntry(
            tenant=self.errand.tenant,
            caller=self.errand.caller,
            answer=self.errand.answer,
            conversation=self.errand.conversation,
            step=task.kind.name,
            size=len(egress.body),
            digest=digest,
            verdict="blocked" if blocked else "clear",
            hits=hits,
            payload=None if blocked else egress.body,
            anonymity=None if blocked else task.manner.anonymity,
        )


async def _in_thread(call: Callable[P, T], *given: P.args, **more: P.kwargs) -> T:
    """Runs `call` in a thread, and waits for its end even if the question is cancelled.

    So nothing is written to the ledger after the question has ended.
    """
    work = asyncio.ensure_future(asyncio.to_thread(call, *given, **more))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        if not work.cancelled():
            work.exception()
        raise


@dataclass(frozen=True, slots=True)
class InHouseRunner:
    """Gives strategies the embedded reasoner by the interface of GuardedReasoner. Condition: `inner` sends nothing."""

    inner: Reasoner

    @property
    def is_model(self) -> bool:
        return False

    @property
    def is_capable(self) -> bool:
        return True

    def fits(self, *_tasks: Task[Any]) -> bool:
        return True

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply. Raises ReplyUnusableError."""
        return await ask_in_house(self.inner, task)
