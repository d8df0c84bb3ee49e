"""GET /graphs/{name}/suggestions, GET /graphs/{name}/outline and POST /graphs/{name}/browse."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, Capsule


class GraphSuggestions(Wire):
    """Questions that were made of the graph's relation words and answered inside the service; none where none were."""

    questions: list[str]


class ConceptCount(Wire):
    """A concept and the number of things of it."""

    concept: str
    things: int


class GraphOutline(Wire):
    """The concepts of a graph, the most frequent first, and the words of its relations."""

    graph: str
    concepts: list[ConceptCount]
    relations: list[str]


class BrowseRequest(Wire):
    """A look at a graph: the things of a concept, those of a name, or one thing by its pseudonym in a conversation.

    It is a body and no address, for addresses are written to logs. `conversation` is an answer's, or that of an
    earlier reply; without it a new one is begun.
    """

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    conversation: str | None = Field(default=None, max_length=64)
    concept: str | None = Field(default=None, max_length=200)
    search: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(default=None, repr=False)
    thing: str | None = Field(default=None, max_length=32)
    offset: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(each is not None for each in (self.concept, self.search, self.thing)) != 1:
            raise ValueError("give one of concept, search and thing")
        return self


class ExcerptThing(Wire):
    """One thing or value; its name is in the capsule, under the pseudonym."""

    pseudonym: str
    concept: str
    is_value: bool = False


class ExcerptFact(Wire):
    """A relation of the thing and what it leads to, the first of `total`; `inverse`: it leads here from them."""

    relation: str
    inverse: bool
    ends: list[ExcerptThing]
    total: int


class GraphExcerpt(Wire):
    """A page of things, or one thing with its facts; the capsule opens for this excerpt alone (docs/api.md)."""

    id: str
    graph: str
    conversation: str
    total: int
    things: list[ExcerptThing]
    facts: list[ExcerptFact]
    capsule: Capsule | None = None
