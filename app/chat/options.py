"""Options of one chat service: what prompts may show and cost, and what reads the question besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from app.accounts.quotas import UNLIMITED, Budgets
from app.egress.disclosure import IN_THE_HOUSE, Disclosure, Profile
from app.privacy.name_recogniser import Recogniser

DEFAULT_STRATEGY: Final = "sets"
OPEN_ALONE: Final = frozenset({"arog"})
"""Strategies whose prompts tell of each thing what it has and what it lacks."""

RemarkOn = Callable[[str], str | None]
"""Gives what the asker should know of a question's wording, in words of our own; it gets no linked names."""


def no_remark(_question: str) -> str | None:
    """For services that read every language."""
    return None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Fixed while a service runs. `currency` is that of the reasoner's prices."""

    remark_on: RemarkOn = no_remark
    currency: str = ""
    budgets: Budgets = UNLIMITED
    recogniser: Recogniser | None = field(default=None, repr=False)
    profile: Profile = Profile.OPEN
    disclosure: Disclosure = IN_THE_HOUSE

    def offers(self, strategy: str) -> bool:
        """True where the profile tells as much as the strategy needs to tell."""
        return self.profile.is_open or strategy not in OPEN_ALONE

    def offered(self, strategies: Iterable[str]) -> list[str]:
        """Those of `strategies` that are offered, the default one first."""
        return sorted(filter(self.offers, strategies), key=lambda name: name != DEFAULT_STRATEGY)
