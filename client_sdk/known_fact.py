"""A fact of the evidence as the asker sees it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One fact of the evidence, names restored where the capsule holds them, else in pseudonyms.

    `head` and `tail` show at most five names of a set; `head_names` and `tail_names` hold all that came. `cited`
    facts lead to the answer. The pseudonyms tell apart what has the same name.
    """

    head: str = field(repr=False)
    head_concept: str
    path: tuple[str, ...]
    tail: str = field(repr=False)
    tail_concept: str
    size: str
    head_names: tuple[str, ...] = field(default=(), repr=False)
    tail_names: tuple[str, ...] = field(default=(), repr=False)
    cited: bool = False
    head_pseudonym: str = ""
    tail_pseudonym: str = ""

    @property
    def head_key(self) -> str:
        """What the head is told apart by."""
        return self.head_pseudonym or self.head

    @property
    def tail_key(self) -> str:
        return self.tail_pseudonym or self.tail

    def __str__(self) -> str:
        """`head (concept), relation > relation, tail (concept)`."""
        path = " > ".join(self.path)
        return f"{self.head} ({self.head_concept}), {path}, {self.tail} ({self.tail_concept})"
