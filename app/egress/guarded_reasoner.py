"""GuardedReasoner: afford, clear, record, ask. The only way by which a strategy reaches a reasoner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from app.egress.budgets import Account, QuestionBudgetUsedUpError
from app.egress.guard import BlockedError, Guard, digest_of
from app.egress.ledger.ledger import Ledger, LedgerEntry, LedgerReply
from app.egress.wire_pseudonyms import PseudonymSubstitution
from app.llm.reasoner import Reasoner, ReasonerError, Reply, Tokens
from app.llm.tasks import ReplyT, Task
from app.privacy.safe_text import Egress


@dataclass(frozen=True, slots=True)
class RequestContext:
    """On whose behalf a question is asked; ids only."""

    tenant: str
    caller: str
    answer: str
    conversation: str


@dataclass(slots=True)
class UsageTotals:
    """What the calls of one question have cost so far."""

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
        # One call without a price, and nobody knows what the question cost.
        self.cost = None if self.cost is None or tokens.cost is None else self.cost + tokens.cost


@dataclass(slots=True)
class GuardedReasoner:
    """A reasoner for one question. Leaving its `async with` records what was replied, in one go.

    Promise: no byte reaches `inner` that the guard has not cleared and the ledger has not recorded.
    Condition: `veil` gives the pseudonyms of this conversation. Limit: what the guard does not promise.
    `most_tokens` is what the question may take, None for no limit; `account` is its tenant's, None where asking
    costs nothing.
    """

    inner: Reasoner
    guard: Guard
    ledger: Ledger
    errand: RequestContext
    veil: Callable[[], PseudonymSubstitution]
    most_tokens: int | None = None
    account: Account | None = None
    spent: UsageTotals = field(default_factory=UsageTotals)
    heard: list[LedgerReply] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises LedgerUnavailable. Replies are kept of a question that failed, too: those are looked for."""
        if self.heard or self.account is not None:
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            if self.heard:
                self.ledger.record_replies(self.heard)
        finally:
            if self.account is not None:
                self.account.settle(self.spent.tokens)

    def fits(self, *tasks: Task[Any]) -> bool:
        if self.most_tokens is None:
            return True
        # A word that is sent for another is as long, so bytes can be counted without it.
        if self._surely_fit([self.inner.egress_of(task) for task in tasks]):
            return True
        return self._fit([self.inner.egress_of(self._mine(task)) for task in tasks])

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Raises BlockedError, LedgerUnavailable or BudgetUsedUp, and then nothing was sent; ReasonerError.

        A repair, or another endpoint, is a request of its own: cleared, recorded, sent.
        """
        task = self._mine(task)
        while True:
            try:
                return self.veil().taken_off(await self._once(task))
            except ReasonerError as error:
                if error.tokens is not None:
                    self.spent.add(error.tokens)
                if error.again is None:
                    raise
                self.spent.retries += 1
                task = error.again

    async def _once(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        began = time.perf_counter()
        egress = self.inner.egress_of(task)
        await self._afford(egress)
        entry = await self._clear(task, egress)
        sent = time.perf_counter()
        self.spent.guard_s += sent - began
        try:
            reply = await self.inner.reply_to(task, egress)
        except ReasonerError as error:
            if error.words is not None:
                self.heard.append(LedgerReply(entry, "unusable", error.words))
            raise
        except asyncio.CancelledError:
            # The caller went away; the endpoint may have read the prompt all the same.
            self.spent.prompt_tokens += self.inner.tokens_in(egress)
            raise
        finally:
            self.spent.reasoner_s += time.perf_counter() - sent
        self.spent.add(reply.tokens)
        words = reply.value.model_dump_json() if reply.words is None else reply.words
        self.heard.append(LedgerReply(entry, "used", words))
        return reply

    async def _afford(self, egress: Egress) -> None:
        """Raises QuestionBudgetUsedUpError, or TenantBudgetUsedUp; else what the call takes at most is reserved."""
        if not self._fit([egress]):
            raise QuestionBudgetUsedUpError(f"of {self.most_tokens} tokens {self.spent.tokens} are spent")
        if self.account is not None and self.account.is_limited:
            most = self.inner.tokens_in(egress) + self.inner.longest_reply
            await asyncio.to_thread(self.account.reserve, most, self.spent.tokens)

    def _fit(self, requests: Sequence[Egress]) -> bool:
        if self.most_tokens is None or self._surely_fit(requests):
            return True
        return sum(self.inner.tokens_in(egress) for egress in requests) <= self._left_for(requests)

    def _surely_fit(self, requests: Sequence[Egress]) -> bool:
        """No token is shorter than a byte, so most requests need not be counted."""
        return sum(len(egress.body) for egress in requests) <= self._left_for(requests)

    def _left_for(self, requests: Sequence[Egress]) -> int:
        return (self.most_tokens or 0) - self.spent.tokens - len(requests) * self.inner.longest_reply

    def _mine(self, task: Task[ReplyT]) -> Task[ReplyT]:
        return replace(self.veil().put_on(task), manner=replace(task.manner, tenant=self.errand.tenant))

    async def _clear(self, task: Task[ReplyT], egress: Egress) -> LedgerEntry:
        try:
            digest = self.guard.clear(egress, self.veil().sendable)
        except BlockedError as blocked:
            entry = self._entry(task, egress, digest_of(egress), hits=blocked.hits, blocked=True)
            await asyncio.to_thread(self.ledger.record, entry)
            raise
        entry = self._entry(task, egress, digest)
        await asyncio.to_thread(self.ledger.record, entry)
        return entry

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
