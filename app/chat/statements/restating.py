"""States in the service's own words the facts that a piece which had to go was about.

A piece goes where its words are not known, or say what is not so. Where facts tie the things together that it speaks
of, these facts take its place: so whoever reads the reply loses no fact that the model meant to tell, and reads what
is so instead of what is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.vocabulary import relation_words
from app.llm.embedded.sentences.dialogue_text import WrittenSentence, dialogue_text
from app.llm.tasks import Evidence as ShownFact
from app.llm.tasks import ReplyInput
from app.strategies.base import FoundFact


@dataclass(frozen=True, slots=True)
class RemovedPiece:
    """`names` stand in the piece; `near` are those that it may speak of beside, as "it" or "the film", or that were
    spoken of last, the likeliest first. `words`: its other words, each in its base form. `facts` carry it: then it
    goes with the piece that it hung on.
    """

    names: Sequence[str]
    near: Sequence[str]
    words: frozenset[str]
    facts: frozenset[int] = frozenset()


def facts_meant(evidence: Evidence, piece: RemovedPiece, told: Collection[int]) -> set[int]:
    """The facts beside `told` that tie a thing of the piece to another that it speaks of: those whose relation it
    says, or all between the two where it says none of them, and none of them is told."""
    meant = set(piece.facts)
    for steps in [] if piece.facts else _ties(evidence, piece):
        said = {step.fact for step in steps if not relation_words(step.label).isdisjoint(piece.words)}
        every = {step.fact for step in steps}
        meant |= said or (every if piece.names and every.isdisjoint(told) else set())
    return meant - set(told)


def _ties(evidence: Evidence, piece: RemovedPiece) -> Iterator[list[Step]]:
    """For each thing of the piece the facts between it and others of the piece; where there are none, and where it
    names nothing, those between it and the nearest that it is tied to."""
    for name in piece.names or piece.near[:1]:
        among = [steps for other in piece.names if other != name and (steps := evidence.between(name, other))]
        beside = (steps for other in piece.near if other != name and (steps := evidence.between(name, other)))
        yield from among or islice(beside, 1)


def restated(facts: Sequence[FoundFact], places: Collection[int]) -> list[WrittenSentence]:
    """Sentences that state the facts at `places`, as far as there are words for them."""
    chosen = sorted(places)
    shown = [
        ShownFact(
            start=fact.start,
            start_concept=fact.start_concept,
            path=list(fact.path),
            end=fact.end,
            end_concept=fact.end_concept,
            size=fact.size,
        )
        for fact in (facts[place] for place in chosen)
    ]
    written = dialogue_text(ReplyInput(question="", things=[], evidence=shown)) if shown else []
    return [WrittenSentence(each.text, tuple(chosen[at] for at in each.facts)) for each in written]
