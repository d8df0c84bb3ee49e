"""Budgets: tokens for a question and a tenant's day; facts that prompts may show in a conversation and on a day."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from sqlalchemy import BigInteger, Column, Engine, Table, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.database.tables import tenant_reveals, tenant_tokens
from app.egress.budgets import ConversationRevealsUsedUpError, TenantBudgetUsedUpError, TenantRevealsUsedUpError
from client_sdk.protocol import TokenBudget

Clock = Callable[[], dt.datetime]
DIGEST_BYTES: Final = 8
"""The length in bytes of the digest of a fact that was shown, as kept in the sealed row of its conversation."""


def utc_now() -> dt.datetime:
    """Returns the current time in UTC, by which days begin and end."""
    return dt.datetime.now(dt.UTC)


class TenantTokens:
    """Counts the tokens of each tenant and day (UTC), for all replicas.

    `limit` is per tenant and day; None is no limit. Promise: permitted calls never exceed a tenant's limit, however
    many run at once. Condition: an endpoint uses no more tokens for a call than the service reserved, which counts
    them with the sentence model's tokenizer. False counts that an endpoint reports are bounded: each call adds from 0
    up to the most that `app.llm.endpoint.request_body` allows.
    """

    def __init__(self, engine: Engine, limit: int | None = None, now: Clock = utc_now) -> None:
        self._engine, self.limit, self.now = engine, limit, now

    def account(self, tenant: str) -> TenantAccount:
        """Returns the account of one question, whose tokens count for the day on which it began."""
        return TenantAccount(self, tenant, self.now().date())

    def used_today(self, tenant: str) -> int:
        """Returns the tokens that a tenant has used today; calls still running count with all that they reserved."""
        return _TOKENS.read(self._engine, tenant, self.now().date())

    def add(self, tenant: str, day: dt.date, tokens: int, limit: int | None = None) -> bool:
        """Adds `tokens`, which may be negative; returns False and adds nothing if that would exceed `limit`."""
        return _TOKENS.add(self._engine, tenant, day, tokens, limit)


class _Days:
    """A table with one number for each tenant and day."""

    def __init__(self, table: Table, number: Column[int]) -> None:
        day = (table.c.tenant == bindparam("of_tenant")) & (table.c.day == bindparam("of_day"))
        total = number + bindparam("more", type_=BigInteger)
        self._table, self._number = table, number
        self._read = select(number).where(day)
        self._add = update(table).where(day).values({number: total})
        self._add_within = self._add.where(bindparam("most", type_=BigInteger) >= total)

    def read(self, engine: Engine, tenant: str, day: dt.date) -> int:
        with engine.connect() as connection:
            return connection.execute(self._read, {"of_tenant": tenant, "of_day": day}).scalar() or 0

    def add(self, engine: Engine, tenant: str, day: dt.date, more: int, limit: int | None) -> bool:
        """Adds `more` to the number; returns False and adds nothing if that would exceed `limit`."""
        row = {"of_tenant": tenant, "of_day": day}
        with engine.begin() as connection:
            if limit is None:
                added = connection.execute(self._add, row | {"more": more})
            else:
                added = connection.execute(self._add_within, row | {"more": more, "most": limit})
            if added.rowcount:
                return True
            is_there = connection.execute(self._read, row).first() is not None
        if is_there:
            return False
        # Another replica may write the day's first row at the same moment.
        with suppress(IntegrityError), engine.begin() as connection:
            connection.execute(insert(self._table).values({"tenant": tenant, "day": day, self._number.name: 0}))
        return self.add(engine, tenant, day, more, limit)


# Built once, because SQLAlchemy takes longer to build a statement than SQLite takes to write the row.
_TOKENS: Final = _Days(tenant_tokens, tenant_tokens.c.tokens)
_REVEALS: Final = _Days(tenant_reveals, tenant_reveals.c.reveals)


class TenantAccount:
    """Counts the tokens of one question against its tenant's budget for the day. Not thread-safe."""

    def __init__(self, tokens: TenantTokens, tenant: str, day: dt.date) -> None:
        self._tokens, self._tenant, self._day = tokens, tenant, day
        self._counted = 0

    @property
    def is_limited(self) -> bool:
        return self._tokens.limit is not None

    def reserve(self, tokens: int, spent: int) -> None:
        more = spent + tokens - self._counted
        if not self._tokens.add(self._tenant, self._day, more, self._tokens.limit):
            raise TenantBudgetUsedUpError(renews_in_s(self._tokens.now()))
        self._counted += more

    def settle(self, spent: int) -> None:
        if spent != self._counted:
            self._tokens.add(self._tenant, self._day, spent - self._counted)
            self._counted = spent


class RevealBudgets:
    """Counts the facts that prompts show, each once in a conversation. A limit of None is no limit.

    Promise: permitted prompts never exceed the limit of a conversation or of a tenant's day, however many run at once.
    Limit: if a question fails after a prompt was sent, the day counts the facts, but its conversation does not.
    """

    def __init__(
        self, engine: Engine, conversation: int | None = None, tenant: int | None = None, now: Clock = utc_now
    ) -> None:
        self._engine, self.conversation, self.tenant, self._now = engine, conversation, tenant, now

    def of(self, tenant: str, shown: set[str]) -> RevealAccount:
        """Returns the account of one question.

        `shown` holds digests of the facts its conversation has shown; new ones are added.
        """
        return RevealAccount(self, tenant, self._now().date(), shown)

    def shown_today(self, tenant: str) -> int:
        return _REVEALS.read(self._engine, tenant, self._now().date())

    def add(self, tenant: str, day: dt.date, facts: int) -> None:
        """Adds facts to the tenant's day.

        Raises TenantRevealsUsedUpError and adds nothing if that would exceed the limit.
        """
        if not _REVEALS.add(self._engine, tenant, day, facts, self.tenant):
            raise TenantRevealsUsedUpError(renews_in_s(self._now()))


class RevealAccount:
    """The facts that the prompts of one question show. Not thread-safe."""

    def __init__(self, budgets: RevealBudgets, tenant: str, day: dt.date, shown: set[str]) -> None:
        self._budgets, self._tenant, self._day, self._shown = budgets, tenant, day, shown

    def take(self, shown: frozenset[str]) -> None:
        fresh = {blake2b(fact.encode(), digest_size=DIGEST_BYTES).hexdigest() for fact in shown} - self._shown
        if not fresh:
            return
        most = self._budgets.conversation
        if most is not None and len(self._shown) + len(fresh) > most:
            raise ConversationRevealsUsedUpError(f"of {most} facts {len(self._shown)} were shown")
        self._budgets.add(self._tenant, self._day, len(fresh))
        self._shown |= fresh


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of a service whose reasoner costs tokens; with the embedded reasoner all are None.

    `question`: the most tokens of one question.
    """

    question: int | None = None
    tenants: TenantTokens | None = None
    reveals: RevealBudgets | None = None


UNLIMITED = Budgets()


def read_budget(engine: Engine, budgets: Budgets, tenant: str) -> TokenBudget:
    """Returns the tokens and facts that the tenant has used today, and its limits."""
    tokens = budgets.tenants or TenantTokens(engine)
    day = tokens.now().date()
    return TokenBudget(
        day=day,
        used=tokens.used_today(tenant),
        limit=tokens.limit,
        renews_at=_midnight_after(day),
        per_question=budgets.question,
        revealed=budgets.reveals.shown_today(tenant) if budgets.reveals else 0,
        reveal_limit=budgets.reveals.tenant if budgets.reveals else None,
    )


def renews_in_s(now: dt.datetime) -> int:
    """Returns the whole seconds until the next day begins in UTC."""
    return max(1, math.ceil((_midnight_after(now.date()) - now).total_seconds()))


def _midnight_after(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
