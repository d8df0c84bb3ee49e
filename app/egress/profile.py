"""Profiles of what a prompt may show (open, kind, strict), and the errors of showing too much."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """The rule of what prompts tell of a thing beside its kind.

    OPEN: its own relations and sizes, as the paper's method shows them. KIND: what all of its kind have in common.
    STRICT: that, and not the question's text either.
    """

    OPEN = "open"
    KIND = "kind"
    STRICT = "strict"

    @property
    def is_open(self) -> bool:
        return self is Profile.OPEN


class BelowAnonymityThresholdError(Exception):
    """A prompt was not sent: of what it would have shown of a thing, too few entities of the graph fit."""


class StrategyNotOfferedError(Exception):
    """The profile of the service tells less than the strategy needs to tell."""
