"""The privacy report of a graph: what prompts tell of an entity, in figures, and what the guard can't hold back."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from client_sdk.protocol.base import Wire


class ProfileRisk(Wire):
    """The risk that prompts of one kind pose to entities, against whoever knows the whole graph.

    `expected`: the mean of 1 / (entities that fit what a prompt shows). `few`: the share of prompts that fewer than
    k entities fit. `smallest`: the fewest that fit one.
    """

    profile: str
    prompts: int
    expected: float
    few: float
    smallest: int


class PrivacySummary(Wire):
    """Measures of a graph's privacy, taken at its load: counts and sentences of ours, no word of the graph."""

    k: int
    profiles: list[ProfileRisk]
    warnings: list[str]


class SetSizes(Wire):
    """Counts the entities of a concept (null: of the graph) with an anonymity set of at least `bounds[i]`, and less
    than the next bound."""

    concept: str | None
    entities: int
    one_hop: list[int]
    two_hops: list[int]


class RelationUse(Wire):
    """Counts of one relation: things that have it, things or distinct values it leads to; and how those are shown."""

    relation: str
    subjects: int
    objects: int
    value_kind: str | None = None
    shown_as: str | None = None


class NameGaps(Wire):
    """Names that the guard lets pass. `too_short` counts things with a name of punctuation alone, `unguarded` those
    of whose names it can hold back none."""

    names: int
    values: int
    like_own_words: list[str] = Field(repr=False)
    like_frequent_words: list[str] = Field(repr=False)
    of_one_character: list[str] = Field(repr=False)
    too_short: int
    unguarded: int


class LexiconReport(Wire):
    """The common words that may leave in a question: how many English ones there are by their source, how many were
    taken out since they are names, and those that are a part of a name of the tenant's graphs all the same."""

    words: int
    sources: dict[str, int]
    taken_out: int
    in_names: list[str] = Field(repr=False)


class MaskedWord(Wire):
    """A relation or class that shows no words, because nobody has decided on it and its words may be a cell of the
    sources: its IRI or cell, what it would be called, and why. For the graph's owner alone."""

    kind: Literal["relation", "class"]
    term: str = Field(repr=False)
    word: str = Field(repr=False)
    reason: str


class GraphReport(PrivacySummary):
    """GET /admin/graphs/{name}/report: for the graph's owner. Its only names are those that are public words, and what
    `masked` holds."""

    graph: str
    version: str
    loaded_at: datetime
    triples: int
    entities: int
    relations: int
    hidden_relations: int
    bounds: list[int]
    whole: SetSizes
    concepts: list[SetSizes]
    rare_relations: list[RelationUse]
    value_relations: list[RelationUse]
    names: NameGaps
    lexicon: LexiconReport
    masked: list[MaskedWord] = Field(default_factory=list, repr=False)
