"""The `sets` strategy: what hangs on one head by one relation is one set, and one call makes one round."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.llm.embedder import Embedder
from app.llm.reasoner import PathTriple, StepInput, StepReply, Task
from app.strategies.base import Draft, Finding, FoundFact, Inquiry
from app.strategies.concept_path import Vocabulary, parse_path
from app.strategies.retrieval import (
    Place,
    WayOn,
    arrive,
    show_candidates,
    show_dialogue,
    show_evidence,
    show_things,
)
from app.strategies.sets.prompts import STEP
from app.strategies.sets.ways import WaysOn
from app.strategies.starting import starting_places


@dataclass(slots=True)
class _Progress:
    """What the rounds have gathered.

    `things` are shown beside the evidence; `places` is everywhere that one can go on from, `frontier` the newest of
    them; `walked` keeps one way from being offered twice.
    """

    things: dict[str, Place]
    frontier: list[Place]
    places: dict[str, Place]
    facts: list[FoundFact] = field(default_factory=list)
    path: list[PathTriple] = field(default_factory=list)
    walked: set[tuple[str, object]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


class SetsStrategy:
    """Fewer calls than the paper's method: at most one a round, and one to answer after the last."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def find(self, inquiry: Inquiry) -> Finding:
        start = starting_places(inquiry, self._embedder)
        things = {place.pseudonym: place for place in (*start.frontier, *start.kinds)}
        progress = _Progress(things, list(start.frontier), {place.pseudonym: place for place in start.frontier})
        if not start.frontier:
            return Finding(None, (), (), 0, ("Nothing in the question was found in the graph.",))
        for number in range(1, inquiry.limits.depth + 2):
            inquiry.on_round(number)
            ways = self._ways(inquiry, progress, number)
            reply, by_number = await self._ask(inquiry, progress, ways, number)
            if reply.action == "answer" and reply.answer:
                return _found(progress, Draft(tuple(reply.answer), reply.text), number)
            if reply.action != "follow" or not _follow(inquiry, progress, reply.choices, by_number):
                break
        return _found(progress, None, number)

    def _ways(self, inquiry: Inquiry, progress: _Progress, number: int) -> list[WayOn]:
        if number > inquiry.limits.depth:
            return []
        # Ways of earlier places stay on offer, so that a wrong turn or a second topic loses nothing.
        newest = {place.pseudonym for place in progress.frontier}
        earlier = [place for word, place in progress.places.items() if word not in newest]
        offered = WaysOn(inquiry, self._embedder).of(progress.frontier, earlier)
        if offered.cut:
            progress.notes.append(f"Round {number}: {offered.cut} ways on, ranked last, were not offered.")
        return [way for way in offered.ways if (way.start.pseudonym, way.path) not in progress.walked]

    async def _ask(
        self, inquiry: Inquiry, progress: _Progress, ways: list[WayOn], number: int
    ) -> tuple[StepReply, dict[int, WayOn]]:
        candidates, by_number = show_candidates(inquiry, ways)
        step = StepInput(
            question=inquiry.dialogue.question,
            dialogue=show_dialogue(inquiry),
            path=progress.path,
            things=show_things(progress.things.values()),
            evidence=show_evidence(inquiry, progress.facts),
            candidates=candidates,
            round=number,
            last_round=number > inquiry.limits.depth,
            width=inquiry.limits.width,
        )
        reply = (await inquiry.reasoner.ask(Task(STEP, step))).value
        if not progress.path:
            progress.path = parse_path(reply.path, Vocabulary.of(inquiry.graph.schema, list(progress.things)))
        return reply, by_number


def _follow(inquiry: Inquiry, progress: _Progress, choices: list[int], by_number: dict[int, WayOn]) -> bool:
    """Walks the chosen ways; false when none of them was on offer or led anywhere."""
    chosen = [by_number[number] for number in dict.fromkeys(choices) if number in by_number]
    reached = []
    for way in chosen[: inquiry.limits.width]:
        progress.walked.add((way.start.pseudonym, way.path))
        arrival = arrive(inquiry, way)
        if arrival is not None:
            place, fact = arrival
            reached.append(place)
            if fact not in progress.facts:
                progress.facts.append(fact)
    progress.frontier = [place for place in reached if place.pseudonym not in progress.places]
    progress.places |= {place.pseudonym: place for place in reached}
    return bool(reached)


def _found(progress: _Progress, draft: Draft | None, rounds: int) -> Finding:
    return Finding(draft, tuple(progress.things), tuple(progress.facts), rounds, tuple(progress.notes))
