"""Puts candidates into plain words for models that choose from a list: `the patients that Eq7f2k treats`.

Promise: a phrase holds fixed wordings of the service, relation labels, concepts and pseudonyms; a phrase that the
guard would stop is left out. Limit: if relation words do not certainly make good English, the path is shown instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.tasks import Candidate
from app.reader.sentences.described_things import candidate_phrase
from app.strategies.base import StrategyInput


def phrases_of(inquiry: StrategyInput, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Returns a phrase for each candidate, in order; empty if there is none."""
    return tuple(_allowed(inquiry, candidate_phrase(way)) for way in candidates)


def _allowed(inquiry: StrategyInput, phrase: str) -> str:
    return phrase if phrase and inquiry.may_leave(phrase) else ""
