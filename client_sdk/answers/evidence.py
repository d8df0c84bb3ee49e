"""The parts of an answer as the asker sees them: entities, sentences, and facts of the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from client_sdk.protocol import ItemKind, Names
from client_sdk.restore import shown


@dataclass(frozen=True, slots=True)
class RestoredFact:
    """One fact of the evidence, with names restored if the capsule has them.

    `public`: the public graph that it is of, with source and licence; empty if it is of the asked graph.

    Without a name it shows a count (`19 not named`), without a key pseudonyms. `head` and `tail` show at most five
    names of a set; `head_names` and `tail_names` have all that were sent. `cited` facts lead to the answer. The
    pseudonyms tell apart things with the same name.
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
    public: str = ""

    @property
    def head_key(self) -> str:
        """The key that tells heads with the same name apart."""
        return self.head_pseudonym or self.head

    @property
    def tail_key(self) -> str:
        return self.tail_pseudonym or self.tail

    def __str__(self) -> str:
        """Returns `head (concept), relation > relation, tail (concept)`, for a public fact with `, from` its graph."""
        head, tail = _with_concept(self.head, self.head_concept), _with_concept(self.tail, self.tail_concept)
        return f"{head}, {' > '.join(self.path)}, {tail}{f', from {self.public}' if self.public else ''}"


def _with_concept(name: str, concept: str) -> str:
    return f"{name} ({concept})" if concept else name


@dataclass(frozen=True, slots=True)
class RestoredSentence:
    """One sentence of a reply in dialogue, and the facts of the evidence that support it; none if it states no fact.

    `restated`: it replaces a statement of the model that the graph does not hold.
    """

    text: str = field(repr=False)
    facts: tuple[RestoredFact, ...] = ()
    restated: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Entity:
    """One part of the answer: an entity, a value, a number, or a set of them.

    `total` counts all members; `names` may be fewer (see the option `names`). Sets that are `ordered` keep their
    order.
    """

    names: tuple[str, ...] = field(repr=False)
    concept: str
    kind: ItemKind
    pseudonym: str
    total: int
    ordered: bool = False

    @property
    def name(self) -> str:
        """The names as words: `A`, `A and B`, or `A, B and 12 more`; the pseudonym if no name was sent."""
        return shown(Names(names=list(self.names), total=self.total)) if self.names else self.pseudonym


def amendments(removed: int, sentences: Sequence[RestoredSentence]) -> Iterator[str]:
    """Yields sentences on statements that were removed because the graph does not hold them, and on restated ones."""
    restated = sum(sentence.restated for sentence in sentences)
    if restated == 1:
        yield "1 sentence was written anew from the graph: the model's own could not be confirmed."
    elif restated:
        yield f"{restated} sentences were written anew from the graph: the model's own could not be confirmed."
    if removed == 1:
        yield "1 statement was removed: the graph does not hold it."
    elif removed:
        yield f"{removed} statements were removed: the graph does not hold them."


MIN_SURE: Final = 0.7
"""The least confidence at which an answer is shown without a caution."""


def is_unsure(confidence: float | None) -> bool:
    """True if the confidence is below MIN_SURE; false if it was not measured."""
    return confidence is not None and confidence < MIN_SURE


def confidence_words(confidence: float | None) -> str:
    """Returns `confidence 0.93` or `not sure: confidence 0.55`; "" if the confidence was not measured."""
    if confidence is None:
        return ""
    return f"{'not sure: ' if is_unsure(confidence) else ''}confidence {confidence:.2f}"
