"""The interface of a writer of replies, and two that need no model: the gold reply, and all triples said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from evaluation.dialogue.grounded_turns import GroundedTurn

PromptStyle = Literal["default", "detailed"]


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """One turn to reply to, from all of its knowledge."""

    turn: GroundedTurn = field(repr=False)
    style: PromptStyle = "default"


class ReplyWriter(Protocol):
    """Writes replies from the knowledge that it is given."""

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        """One reply for each; empty where none came about."""
        ...


class GoldWriter:
    """The replies of the set: what people said who knew the triples."""

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        return [request.turn.gold_reply for request in batch]


class AllTriplesWriter:
    """Every triple of the knowledge as a sentence of its own words: as attached, and as dull, as a reply can be."""

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        return [" ".join(f"{' '.join(triple)}." for triple in request.turn.knowledge) for request in batch]
