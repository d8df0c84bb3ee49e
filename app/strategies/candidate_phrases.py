"""Puts candidates into plain words for models that choose from a list: `the patients that Eq7f2k treats`.

Promise: a phrase holds fixed wordings of the service, relation labels, concepts and pseudonyms; a phrase that the
guard would stop is left out. Limit: if relation words do not certainly make good English, the path is shown instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.tasks import Candidate
from app.strategies.base import StrategyInput


def phrases_of(inquiry: StrategyInput, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """One for each candidate, in their order; empty where there is none."""
    return tuple(_allowed(inquiry, inquiry.language.word_candidate(way)) for way in candidates)


def _allowed(inquiry: StrategyInput, phrase: str) -> str:
    return phrase if phrase and inquiry.may_leave(phrase) else ""
