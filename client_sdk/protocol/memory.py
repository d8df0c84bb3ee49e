"""The list of the sentences that a person told of a graph, and of those the number that are deleted."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from client_sdk.protocol.chat import Capsule, Wire

MEMORY_PAGE: Final = 50
"""The most sentences of one reply to GET /memory."""
MAX_FACT_ID_CHARS: Final = 32
MAX_OFFERS_CHOSEN: Final = 1_000
OfferWord = Literal["", "offered", "refused", "taken"]
FactId = Annotated[str, Field(max_length=MAX_FACT_ID_CHARS)]


class MemoryFact(Wire):
    """A sentence that the asker told, in pseudonyms of this reply, and when.

    `form`: `fact` if it was read as a relation of the graph, `words` if it is only kept as it was said.
    `conversation`: the one in which it was told; that may be kept no longer. `offer`: what became of it if the asker
    offered it to the graph's owner.
    """

    id: str
    made_at: datetime
    text: str = Field(repr=False)
    form: Literal["fact", "words"]
    conversation: str = ""
    offer: OfferWord = ""


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


class OfferListed(Wire):
    """A sentence that somebody offers to the graph's owner, in pseudonyms of this reply.

    `key_id`, `person`: who offers it. `relation`: the label of the graph's relation from `subject` to `object`, which
    are pseudonyms; all three are empty for a sentence that no relation of the graph says.
    """

    id: str
    key_id: str
    person: str = ""
    made_at: datetime
    text: str = Field(repr=False)
    relation: str = ""
    subject: str = ""
    object: str = ""


class OfferList(Wire):
    """The sentences that people offer to a graph's owner, the newest first. Its capsule opens for this list only."""

    id: str
    graph: str
    offers: list[OfferListed]
    capsule: Capsule | None = None


class OfferChoice(Wire):
    """Offers by their ids, and what the owner does with them.

    `taken` says that the owner put them into the graph's own files; the service does not.
    """

    ids: Annotated[list[FactId], Field(min_length=1, max_length=MAX_OFFERS_CHOSEN)]
    outcome: Literal["taken", "refused"]


class OffersChanged(Wire):
    """The number of sentences that were offered, withdrawn, taken or refused."""

    facts: int
