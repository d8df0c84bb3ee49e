"""Defines budgets of the tokens that calls use and of the facts that prompts show: their errors and interfaces.

BudgetUsedUpError
├── QuestionBudgetUsedUpError        the next call might take one question over its tokens
├── TenantBudgetUsedUpError          the next call might take the tenant over its tokens of the day
├── ConversationRevealsUsedUpError   the next prompt would show more facts than one conversation may
└── TenantRevealsUsedUpError         the next prompt would show more facts than the tenant may in a day
"""

from __future__ import annotations

from typing import Protocol


class BudgetUsedUpError(Exception):
    """A request was not sent, because it might have used more tokens, or shown more facts, than were left."""


class QuestionBudgetUsedUpError(BudgetUsedUpError):
    """The question's tokens are used up. The strategy ends with what it has found; the next question has new ones."""


class _RenewedDailyError(BudgetUsedUpError):
    """A budget of the day is used up. `renews_in_s`: whole seconds until the next day begins in UTC."""

    def __init__(self, renews_in_s: int) -> None:
        super().__init__(f"renews in {renews_in_s} s")
        self.renews_in_s = renews_in_s


class TenantBudgetUsedUpError(_RenewedDailyError):
    """The tenant's tokens of today are used up."""


class ConversationRevealsUsedUpError(BudgetUsedUpError):
    """The prompts of the conversation have shown as many facts as they may; a new conversation has a new budget."""


class TenantRevealsUsedUpError(_RenewedDailyError):
    """The prompts of the tenant have shown as many facts as they may today."""


class Reveals(Protocol):
    """Counts the facts that the prompts of one conversation have shown."""

    def take(self, shown: frozenset[str]) -> None:
        """Counts the facts in `shown` that were not shown before; may wait for the database.

        Raises ConversationRevealsUsedUpError or TenantRevealsUsedUpError, and then counts nothing.
        """
        ...


class Account(Protocol):
    """Counts the tokens of one question against its tenant's budget for the day. Methods may wait for the database."""

    @property
    def is_limited(self) -> bool: ...

    def reserve(self, tokens: int, spent: int) -> None:
        """Reserves `tokens` for the next call; `spent`: the tokens of the question's calls so far.

        Raises TenantBudgetUsedUpError, and then reserves nothing.
        """
        ...

    def settle(self, spent: int) -> None:
        """Ends the question: counts `spent`, the tokens of all its calls, and gives back what it reserved beyond."""
        ...
