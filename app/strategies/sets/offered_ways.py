"""Chooses which candidates of a hub are offered if it has too many: the nearest, or some by a trained retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from app.retriever.features import EntityProfile, Fact, RetrievalQuery
from app.retriever.retriever import Retriever
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath
from app.strategies.retriever_input import relation_words, utterances_of

RETRIEVED: Final = 6
"""One in this many places goes to the retriever, which ranks dialogue well and plain questions worse than likeness
does.

Chosen on the sets in docs/results.md, "Dialogue" (relations of a hub).
"""


class WaySelector(Protocol):
    """Chooses which candidates are offered if there are too many."""

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:
        """Returns at most `most` positions in `ranked` (nearest first), in the order of offering."""
        ...


class NearestWays:
    """Takes the nearest; for services without a trained retriever."""

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:  # noqa: ARG002
        return list(range(min(most, len(ranked))))


class RetrievedWays:
    """Takes the nearest, but gives one place in `share`, the last ones, to steps that `app.retriever` ranks first.

    Promise: it reads relation words and the dialogue with every pseudonym hidden. Beyond the steps in `ranked`,
    nothing that a thing has makes a difference.
    """

    def __init__(self, retriever: Retriever, share: int = RETRIEVED) -> None:
        self._retriever, self._share = retriever, share

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:
        nearest = range(min(most, len(ranked)))
        if len(ranked) <= most:
            return list(nearest)
        kept = most - most // self._share
        retrieved = [at for at in self._ranked(inquiry, ranked) if at >= kept]
        return list(dict.fromkeys([*nearest[:kept], *retrieved[: most - kept], *nearest]))[:most]

    def _ranked(self, inquiry: StrategyInput, ways: Sequence[CandidatePath]) -> list[int]:
        """Positions of the single steps from what the dialogue names, best first."""
        said = {topic.pseudonym for topic in inquiry.dialogue.topics}
        steps = [at for at, way in enumerate(ways) if len(way.path) == 1 and way.start.pseudonym in said]
        scores = self._retriever.scores(_query(inquiry, [ways[at] for at in steps]))
        return [steps[at] for at in np.argsort(-scores, kind="stable")]


def _query(inquiry: StrategyInput, ways: Sequence[CandidatePath]) -> RetrievalQuery:
    """A retriever query with one fact a step, each to a thing of which nothing else is known."""
    starts = list(dict.fromkeys(way.start.pseudonym for way in ways))
    told = [
        (starts.index(way.start.pseudonym), relation_words(inquiry.graph.schema, way.path[0]), way.path[0][0].inverse)
        for way in ways
    ]
    hubs = [
        EntityProfile(*(tuple(sorted({words for at, words, inverse in told if at == hub and inverse is against}))
                        for against in (False, True)))
        for hub in range(len(starts))
    ]  # fmt: skip
    ends = [EntityProfile((words,), ()) if inverse else EntityProfile((), (words,)) for _, words, inverse in told]
    facts = [
        Fact(end, words, hub) if inverse else Fact(hub, words, end)
        for end, (hub, words, inverse) in enumerate(told, start=len(hubs))
    ]
    history = utterances_of(inquiry.dialogue, {word: (at,) for at, word in enumerate(starts)})
    return RetrievalQuery(history, [*hubs, *ends], facts)
