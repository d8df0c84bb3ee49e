"""The list of the sentences that a person told of a graph, and of those the number that are deleted."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import Field

from client_sdk.protocol.chat import Capsule, Wire

MEMORY_PAGE: Final = 50
"""The most sentences of one reply to GET /memory."""
MAX_FACT_ID_CHARS: Final = 32


class MemoryFact(Wire):
    """A sentence that the asker told, in pseudonyms of this reply, and when.

    `form`: `fact` if it was read as a relation of the graph, `words` if it is only kept as it was said.
    `conversation`: the one in which it was told; that may be kept no longer.
    """

    id: str
    made_at: datetime
    text: str = Field(repr=False)
    form: Literal["fact", "words"]
    conversation: str = ""


class MemoryPage(Wire):
    """A page of what the asker told of a graph, the newest first, of `total` sentences that they may still see.

    The capsule opens for this page only (docs/api.md).
    """

    id: str
    graph: str
    facts: list[MemoryFact]
    total: int
    offset: int = 0
    capsule: Capsule | None = None


class MemoryForgotten(Wire):
    """The number of sentences that were deleted."""

    facts: int
