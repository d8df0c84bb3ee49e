"""Budgets of what calls cost and show: the errors that end a question over its budget, and the accounts of its tenant.

BudgetUsedUpError
├── QuestionBudgetUsedUpError        the next call might take one question over its tokens
├── TenantBudgetUsedUpError          the next call might take the tenant over its tokens of the day
├── ConversationRevealsUsedUpError   the next prompt would show more facts than one conversation may
└── TenantRevealsUsedUpError         the next prompt would show more facts than the tenant may in a day
"""

from __future__ import annotations

from typing import Protocol


class BudgetUsedUpError(Exception):
    """A request was not sent because it might have used more tokens than were left."""


class QuestionBudgetUsedUpError(BudgetUsedUpError):
    """The question's budget is used up. Strategies end with what they have; the next question has a new budget."""


class _RenewedDailyError(BudgetUsedUpError):
    """`renews_in_s`: whole seconds until the next day begins in UTC."""

    def __init__(self, renews_in_s: int) -> None:
        super().__init__(f"renews in {renews_in_s} s")
        self.renews_in_s = renews_in_s


class TenantBudgetUsedUpError(_RenewedDailyError):
    """The tenant's budget of today is used up."""


class ConversationRevealsUsedUpError(BudgetUsedUpError):
    """The conversation has shown as many facts as it may; a new conversation has a new budget."""


class TenantRevealsUsedUpError(_RenewedDailyError):
    """The tenant has shown as many facts as it may today."""


class Reveals(Protocol):
    """The facts that a conversation's prompts have shown, as one question sees them."""

    def take(self, shown: frozenset[str]) -> None:
        """Counts those of `shown` that were not shown before; may wait for the database.

        Raises ConversationRevealsUsedUpError or TenantRevealsUsedUpError, and counts nothing then.
        """
        ...


class Account(Protocol):
    """The tokens that a tenant has used today, as one question sees them. Both methods may wait for the database."""

    @property
    def is_limited(self) -> bool: ...

    def reserve(self, tokens: int, spent: int) -> None:
        """Reserves `tokens`, beside the `spent` ones of the calls so far.

        Raises TenantBudgetUsedUpError, and reserves nothing then.
        """
        ...

    def settle(self, spent: int) -> None:
        """Counts what all calls used in the end, and releases the rest of what was reserved."""
        ...
