"""PublicFacts: the facts of a public graph, by the phrases that people read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

Triple = tuple[str, str, str]
"""Head, relation and tail, each in words."""


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """The facts of a public graph, each once."""

    triples: tuple[Triple, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Self:
        return cls(tuple(dict.fromkeys(triples)))
