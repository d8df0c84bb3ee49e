"""The parts of a sentence that was read: terms that stand for things, claims about them, and what can be taken out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ClaimKind = Literal["verb", "noun", "is", "of", "attr", "kind", "compare", "same", "count"]
Span = tuple[int, int]
"""Places of the first token and behind the last one."""


@dataclass(slots=True, eq=False)
class Term:
    """A noun phrase. It names things (`names`), stands for one (`pronoun`), or describes some (`nouns` and the rest).

    `nouns`: its words in the singular, the head last; `attrs`: pseudonyms before the head; `holder`: whose it is ("E1's
    director"); `mods`: what is said of it, with itself as the subject; `alias`: what it was said to be; `count` with
    `bound` (=, >=).
    """

    span: Span
    names: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    is_either: bool = False
    pronoun: str = ""
    nouns: tuple[str, ...] = ()
    attrs: tuple[str, ...] = ()
    holder: Term | None = None
    mods: list[Part] = field(default_factory=list)
    alias: Term | None = None
    count: int | None = None
    bound: str = "="
    article: str = ""
    is_plural: bool = False

    @property
    def head(self) -> str:
        return self.nouns[-1] if self.nouns else ""

    @property
    def is_bare(self) -> bool:
        """True of a kind of thing of which nothing else is said: "the film", "a person"."""
        return not (self.names or self.pronoun or self.holder or self.mods or self.attrs or self.count is not None)

    @property
    def is_back(self) -> bool:
        """True of what stands for something spoken of before: "it", "the film"."""
        return bool(self.pronoun) or (self.is_bare and self.article in ("the", "this", "that") and not self.alias)


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A statement of two terms, or of one. `words`: base forms that its verb or noun may be; `others`: claims any of
    which makes this one true."""

    kind: ClaimKind
    subject: Term
    words: tuple[str, ...] = ()
    object: Term | None = None
    prep: str = ""
    is_passive: bool = False
    is_negated: bool = False
    others: tuple[Claim, ...] = ()


@dataclass(slots=True, eq=False)
class Item:
    """One of several that stand in a row, with its claims; taken out alone."""

    span: Span
    claims: list[Claim] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Part:
    """A clause, or a piece of one that can be taken out whole with the tokens of `span`.

    `row`: the items of a list in it; `parts`: pieces that can be taken out alone; `siblings`: it is one of several
    clauses or predicates in a row, joined by the marks between them.
    """

    span: Span
    claims: list[Claim] = field(default_factory=list)
    rows: list[list[Item]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    chains: list[list[Part]] = field(default_factory=list)
