"""Disclosure: profiles of what prompts may show, the measure of a prompt, and what is done where it shows too much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, product
from typing import Final, Literal

from app.egress.budgets import Reveals
from app.llm.reasoner import Reasoner, Reply, ReplyUnusableError, Retry
from app.llm.tasks import Candidate, Evidence, PathTriple, ReplyT, Size, Task, TaskModel, Thing
from kg_store.anonymity.generalisation import wider_kinds
from kg_store.anonymity.matching_entities import EntityDescription, PathCardinality, how_many_fit
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Hop, Path, Schema, cached_by_version

MAX_READINGS: Final = 64
"""Of one path, where relations share their words. Fewer readings never make the number greater."""

BUCKETS: Final[dict[Size, tuple[int, int | None]]] = {"1": (1, 1), "2-5": (2, 5), "6-20": (6, 20), "more": (21, None)}

Labels = tuple[str, ...]


@dataclass(slots=True)
class DisclosedEntity:
    """A task's words on one entity: its concept, where paths from it lead (`reaches`, with the bucket of how many
    there are), which single steps it is offered to go, and what the concept path of a strict prompt sets out on."""

    concept: str = ""
    reaches: set[tuple[Labels, Size]] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    asked: set[Labels] = field(default_factory=set)


class DisclosureMeter:
    """Promise: an entity that fits what a task's input shows of a thing is counted, in the graph that the asker's role
    sees, and none that does not fit: not of the shown concept, or without an end to a path that is shown as followed.

    Condition: whoever reads the prompt takes it that such a path leads somewhere. Limit: what the words of the
    question tell, what earlier prompts of the conversation told, and, where the profile is open, that two things are
    joined and which ways of two steps there are, is not counted.
    """

    def __init__(self, graph: BlindGraph, profile: Profile) -> None:
        self._graph, self._profile = graph, profile

    def fewest(self, given: TaskModel) -> int | None:
        """The least number of entities that fit one of the shown things; None where no entity is shown."""
        return min(map(self._fitting, things_shown(given).values()), default=None)

    def _fitting(self, shown: DisclosedEntity) -> int:
        schema = self._graph.schema
        leads = frozenset(readings(schema, path) for path, _ in shown.reaches)
        if self._profile is Profile.STRICT:
            leads |= {readings(schema, path) for path in shown.asked}
        said = EntityDescription(shown.concept, leads)
        if not self._profile.is_open:
            return how_many_fit(self._graph, said)
        said = EntityDescription(shown.concept, leads, frozenset(_sized(schema, shown.reaches)))
        if not shown.offered:
            return how_many_fit(self._graph, said)
        steps = frozenset(step for label in shown.offered for (step,) in readings(schema, (label,)))
        exactly = how_many_fit(self._graph, EntityDescription(said.concept, said.leads, said.sizes, steps))
        # A list that was cut is nobody's whole list.
        return exactly or how_many_fit(self._graph, said)


def facts_shown(given: TaskModel) -> frozenset[str]:
    """The facts that a task's evidence reveals, each once: a thing or set, and the path that leads on from it."""
    evidence: Sequence[Evidence] = getattr(given, "evidence", ())
    return frozenset(" > ".join((fact.start, *fact.path)) for fact in evidence)


def things_shown(given: TaskModel) -> dict[str, DisclosedEntity]:
    """The single entities that a task's input shows, by pseudonym."""
    things: Sequence[Thing] = getattr(given, "things", ())
    evidence: Sequence[Evidence] = getattr(given, "evidence", ())
    candidates: Sequence[Candidate] = getattr(given, "candidates", ())
    shown: dict[str, DisclosedEntity] = {}

    def see(word: str, concept: str = "") -> DisclosedEntity:
        thing = shown.setdefault(word, DisclosedEntity())
        thing.concept = thing.concept or concept
        return thing

    for each in things:
        if is_entity(each.name):
            see(each.name, each.concept)
    for fact in evidence:
        for word, concept in ((fact.start, fact.start_concept), (fact.end, fact.end_concept)):
            if is_entity(word):
                see(word, concept)
    before = {fact.end: (fact.start, tuple(fact.path)) for fact in evidence if not is_entity(fact.end)}
    for fact in evidence:
        root, path = _from_root(fact.start, tuple(fact.path), before)
        if is_entity(root):
            see(root).reaches.add((path, "1" if not fact.end.startswith("S") else fact.size))
    for way in candidates:
        if is_entity(way.start) and len(way.path) == 1:
            see(way.start).offered.add(way.path[0])
    for word, path in _asked_paths(getattr(given, "path", ())):
        if is_entity(word):
            see(word).asked.add(path)
    for thing in shown.values():
        # What was walked is not offered again.
        thing.offered |= {path[0] for path, _ in thing.reaches if len(path) == 1} if thing.offered else set()
    return shown


def is_entity(pseudonym: str) -> bool:
    """True of one that stands for an entity; values, sets and kinds begin with other letters."""
    return pseudonym.startswith("E")


def readings(schema: Schema, path: Labels) -> frozenset[Path]:
    """The paths that read so; none where the schema has no such words."""
    hops = _hops(schema)
    steps = [product(*(hops.get(label, ()) for label in step.split("|"))) for step in path]
    return frozenset(islice(product(*steps), MAX_READINGS))


def _from_root(start: str, path: Labels, before: dict[str, tuple[str, Labels]]) -> tuple[str, Labels]:
    """The single thing that a set hangs on, and the whole path from there; the set where that is not shown."""
    passed = set[str]()
    while start in before and start not in passed:
        passed.add(start)
        start, first = before[start]
        path = (*first, *path)
    return start, path


def _asked_paths(triples: Iterable[PathTriple]) -> Iterator[tuple[str, Labels]]:
    """Each chain of a concept path that sets out from a pseudonym."""
    root, path, here = "", Labels(), ""
    for triple in triples:
        if triple.head != here or is_entity(triple.head):
            if root:
                yield root, path
            root, path = (triple.head, ()) if is_entity(triple.head) else ("", ())
        path, here = (*path, triple.relation), triple.tail
    if root:
        yield root, path


def _sized(schema: Schema, reaches: Iterable[tuple[Labels, Size]]) -> Iterator[PathCardinality]:
    """Where words have several readings, sizes say nothing that could be counted."""
    for path, size in reaches:
        found = readings(schema, path)
        if size in BUCKETS and len(found) == 1:
            yield PathCardinality(next(iter(found)), *BUCKETS[size])


@cached_by_version
def _hops(schema: Schema) -> dict[str, list[Hop]]:
    found: dict[str, list[Hop]] = {}
    for relation in schema.relations:
        for hop in (Hop(relation.id), Hop(relation.id, True)):
            found.setdefault(schema.label(hop), []).append(hop)
    return found


class Profile(StrEnum):
    """The rule of what prompts tell of a thing beside its kind.

    OPEN: its own relations and sizes, as the paper's method shows them. KIND: what all of its kind have in common.
    STRICT: that, and not the question's text either.
    """

    OPEN = "open"
    KIND = "kind"
    STRICT = "strict"

    @property
    def is_open(self) -> bool:
        return self is Profile.OPEN


class BelowAnonymityThresholdError(Exception):
    """A prompt was not sent: of what it would have shown of a thing, too few entities of the graph fit."""


class StrategyNotOfferedError(Exception):
    """The profile of the service tells less than the strategy needs to tell."""


Policy = Literal["tell", "generalise", "refuse"]
"""The fate of a prompt that fewer than k entities fit. `tell`: it is sent. `generalise`: things of small kinds are
shown as of wider ones, and where that does not do, the reasoner in the house takes the step. `refuse`: the question
ends."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The rule for all questions of a service. `meters` false: nothing leaves the house, so nothing is counted.

    `in_house` is a reasoner that sends nothing; without one `generalise` ends questions as `refuse` does.
    """

    meters: bool = True
    k: int = 1
    policy: Policy = "tell"
    in_house: Reasoner | None = field(default=None, repr=False)

    def of_question(self, graph: BlindGraph, profile: Profile, reveals: Reveals | None = None) -> QuestionDisclosure:
        """The rule for one question about `graph`, as the role of whoever asks sees it."""
        wider = wider_kinds(graph.schema, self.k) if self.policy == "generalise" else {}
        return QuestionDisclosure(self, DisclosureMeter(graph, profile) if self.meters else None, wider, reveals)


NO_EGRESS = Disclosure(meters=False)


@dataclass(slots=True)
class QuestionDisclosure:
    """Measures each prompt of one question.

    Promise: with any policy but `tell`, `measured` gives back no task that fewer than k entities fit. Condition and
    limit are those of the meter. `wider`: what things of small kinds are to be shown as. `fewest`: the least number of
    the tasks that were given back; `kept`: how many were not. `reveals` counts what those show.
    """

    rule: Disclosure = NO_EGRESS
    meter: DisclosureMeter | None = None
    wider: Mapping[str, str] = field(default_factory=dict)
    reveals: Reveals | None = None
    fewest: int | None = None
    kept: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Tells the asker of the steps that no model was asked for."""
        if not self.kept or self.rule.policy != "generalise":
            return ()
        steps = "1 step was" if self.kept == 1 else f"{self.kept} steps were"
        few = f"fewer than {self.rule.k} things of the graph match what a model would have been shown"
        return (f"{steps} taken inside the service: {few}.",)

    def measured(self, task: Task[ReplyT]) -> Task[ReplyT] | None:
        """`task` with the number of entities that fit it; None where the house has to take the step.

        Raises BelowAnonymityThresholdError, and what `reveals` raises; may wait for the database.
        """
        if self.meter is None:
            return task
        fitting = self.meter.fewest(task.input)
        if fitting is not None and fitting < self.rule.k and self.rule.policy != "tell":
            self.kept += 1
            if self.rule.in_house is None or self.rule.policy == "refuse":
                raise BelowAnonymityThresholdError
            return None
        if self.reveals is not None:
            self.reveals.take(facts_shown(task.input))
        if fitting is not None:
            self.fewest = fitting if self.fewest is None else min(self.fewest, fitting)
        return replace(task, manner=replace(task.manner, anonymity=fitting))

    async def in_house(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """The reply of the reasoner that sends nothing. Raises BelowAnonymityThresholdError, ReasonerError."""
        reasoner = self.rule.in_house
        if reasoner is None:
            raise BelowAnonymityThresholdError
        task = replace(task, input=task.in_house or task.input)
        reply = await reasoner.reply_to(task, reasoner.egress_of(task))
        if isinstance(reply, Retry):
            raise ReplyUnusableError("the reasoner inside the service gave no reply")
        return reply
