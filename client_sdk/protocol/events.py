"""POST /chat as a stream: the data of each event."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from client_sdk.protocol.answers import ErrorBody, Fact
from client_sdk.protocol.base import Wire

StageName = Literal["linking", "finding", "round", "concluding", "suggesting", "sealing"]


class StageEvent(Wire):
    """`stage`: what begins now; `number` says which round."""

    name: str = Field(description=", ".join(get_args(StageName)))
    number: int | None = None


class TextEvent(Wire):
    """`text`: the next piece of the grounded answer's text, in pseudonyms; a piece may end anywhere.

    Its names come with the whole answer, which is the last event: they open for that text alone.
    """

    text: str


class EvidenceEvent(Wire):
    """`evidence`: the facts of the answer."""

    evidence: list[Fact]


class ErrorEvent(ErrorBody):
    """`error`: what an unstreamed reply would have held, and the status that it would have had. It ends a stream."""

    status: int
