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
    """A request was not sent, since it might have taken more tokens than were left."""


class QuestionBudgetUsedUpError(BudgetUsedUpError):
    """Strategies end with what they have; the next question has a budget of its own."""


class TenantBudgetUsedUpError(BudgetUsedUpError):
    """`renews_in_s`: whole seconds until the next day begins, in UTC."""

    def __init__(self, renews_in_s: int) -> None:
        super().__init__(f"renews in {renews_in_s} s")
        self.renews_in_s = renews_in_s


class ConversationRevealsUsedUpError(BudgetUsedUpError):
    """Another conversation has a budget of its own."""


class TenantRevealsUsedUpError(BudgetUsedUpError):
    """`renews_in_s` as for tokens."""

    def __init__(self, renews_in_s: int) -> None:
        super().__init__(f"renews in {renews_in_s} s")
        self.renews_in_s = renews_in_s


class Reveals(Protocol):
    """The facts that a conversation's prompts have shown, as one question sees them."""

    def take(self, shown: frozenset[str]) -> None:
        """Counts those of `shown` that were not shown before. May wait for the database. Raises
        ConversationRevealsUsedUpError or TenantRevealsUsedUpError, and then nothing was counted."""
        ...


class Account(Protocol):
    """The tokens of a tenant's day, as one question sees them. Both calls may wait for the database."""

    @property
    def is_limited(self) -> bool: ...

    def reserve(self, tokens: int, spent: int) -> None:
        """Counts `tokens` beforehand, beside the `spent` ones of the calls so far. Raises TenantBudgetUsedUpError, and
        then nothing was counted."""
        ...

    def settle(self, spent: int) -> None:
        """Counts what all calls took in the end; what was reserved beyond it is free again."""
        ...
