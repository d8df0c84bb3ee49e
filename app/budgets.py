"""Budgets of tokens: what one question may take, and what a tenant takes on one day, counted in the database."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Engine, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.llm.budget import TenantBudgetUsedUp
from app.tables import tenant_tokens

Clock = Callable[[], dt.datetime]


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True, slots=True)
class DayOfTokens:
    """What a tenant has taken on `day`, open calls at their most included. `limit` is None where there is none."""

    day: dt.date
    used: int
    limit: int | None
    renews_at: dt.datetime


class TenantTokens:
    """Counts tokens by tenant and day (UTC), for all replicas. `limit` is for each tenant and day; None: no limit.

    Promise: the calls that are let through never take a tenant over its limit, however many ask at once. Condition:
    an endpoint takes no more tokens than were reserved, which are counted by the tokenizer of the sentence model.
    """

    def __init__(self, engine: Engine, limit: int | None = None, now: Clock = _now) -> None:
        self._engine, self.limit, self.now = engine, limit, now

    def account(self, tenant: str) -> TenantAccount:
        """For one question; all of it counts for the day on which it began."""
        return TenantAccount(self, tenant, self.now().date())

    def state(self, tenant: str) -> DayOfTokens:
        day = self.now().date()
        wanted = select(tenant_tokens.c.tokens).where(tenant_tokens.c.tenant == tenant, tenant_tokens.c.day == day)
        with self._engine.connect() as connection:
            used = connection.execute(wanted).scalar()
        return DayOfTokens(day, used or 0, self.limit, _midnight_after(day))

    def renews_in_s(self) -> int:
        now = self.now()
        return max(1, math.ceil((_midnight_after(now.date()) - now).total_seconds()))

    def add(self, tenant: str, day: dt.date, tokens: int, limit: int | None = None) -> bool:
        """Adds `tokens`, which may be negative; False, and nothing is added, where that would pass `limit`."""
        row = {"of_tenant": tenant, "of_day": day}
        adding = (
            (_ADD, row | {"more": tokens}) if limit is None else (_ADD_WITHIN, row | {"more": tokens, "most": limit})
        )
        with self._engine.begin() as connection:
            if connection.execute(*adding).rowcount:
                return True
            is_there = connection.execute(_DAY, row).first() is not None
        if is_there:
            return False
        # Another replica may write the day's first row at the same moment.
        with suppress(IntegrityError), self._engine.begin() as connection:
            connection.execute(insert(tenant_tokens).values(tenant=tenant, day=day, tokens=0))
        return self.add(tenant, day, tokens, limit)


_OF_DAY: Final = (tenant_tokens.c.tenant == bindparam("of_tenant")) & (tenant_tokens.c.day == bindparam("of_day"))
_SUM: Final = tenant_tokens.c.tokens + bindparam("more", type_=BigInteger)
_DAY: Final = select(tenant_tokens.c.day).where(_OF_DAY)
_ADD: Final = update(tenant_tokens).where(_OF_DAY).values(tokens=_SUM)
_ADD_WITHIN: Final = _ADD.where(bindparam("most", type_=BigInteger) >= _SUM)


class TenantAccount:
    """One question's dealings with its tenant's day; not for several threads at once."""

    def __init__(self, tokens: TenantTokens, tenant: str, day: dt.date) -> None:
        self._tokens, self._tenant, self._day = tokens, tenant, day
        self._counted = 0

    @property
    def is_limited(self) -> bool:
        return self._tokens.limit is not None

    def reserve(self, tokens: int, spent: int) -> None:
        more = spent + tokens - self._counted
        if not self._tokens.add(self._tenant, self._day, more, self._tokens.limit):
            raise TenantBudgetUsedUp(self._tokens.renews_in_s())
        self._counted += more

    def settle(self, spent: int) -> None:
        if spent != self._counted:
            self._tokens.add(self._tenant, self._day, spent - self._counted)
            self._counted = spent


@dataclass(frozen=True, slots=True)
class Budgets:
    """Of a service whose reasoner is paid by tokens; the embedded one has none. `question`: tokens of one question."""

    question: int | None = None
    tenants: TenantTokens | None = None


UNLIMITED = Budgets()


def _midnight_after(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
