"""RetrievalQuery: a dialogue so far and the facts that may matter to it, with numbers instead of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of an utterance that stands for `entities`, numbers of the query's entities.

    `is_name`: False for common words that also name something; they are read as words.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    is_name: bool = True


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn. Its mentions do not overlap; the text of those that are names makes no difference."""

    speaker: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityProfile:
    """An entity without its name: the words of its relations in both directions."""

    outgoing: tuple[str, ...]
    incoming: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """`head` and `tail` are numbers of the query's entities; `relation` is the relation's words."""

    head: int
    relation: str
    tail: int


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """`history`: oldest first, at least one utterance. `facts`: the candidates, in any order."""

    history: tuple[Utterance, ...]
    entities: Sequence[EntityProfile]
    facts: Sequence[Fact]
