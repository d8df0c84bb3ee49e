"""Disclosure: profiles of what prompts may show, how much one shows, and what happens if it is too much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, product
from typing import Final, Literal

from app.egress.budgets import Reveals
from app.llm.reasoner import Reasoner, Reply, ReplyUnusableError, Retry
from app.llm.tasks import Candidate, Evidence, PathTriple, ReplyT, Size, Task, TaskModel, Thing
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.matching_entities import EntityDescription, PathCardinality, how_many_fit, wider_kinds
from kg_store.terms import Hop, Path, Schema, cached_by_version

MAX_READINGS: Final = 64
"""The greatest number of readings of one path whose words several relations share. Fewer readings never raise the
count.
"""

BUCKETS: Final[dict[Size, tuple[int, int | None]]] = {"1": (1, 1), "2-5": (2, 5), "6-20": (6, 20), "more": (21, None)}

Labels = tuple[str, ...]


@dataclass(slots=True)
class DisclosedEntity:
    """All that a task shows about one entity.

    `concept`; `reaches`: the paths from it that lead somewhere, with the size class of their ends; the single steps it
    is `offered`; and the concept paths of a strict prompt that start from it.
    """

    concept: str = ""
    reaches: set[tuple[Labels, Size]] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    asked: set[Labels] = field(default_factory=set)


class DisclosureMeter:
    """Measures how many entities match what a prompt shows.

    Promise: it counts the entities that match what a task's input shows of a thing, in the graph as the asker's role
    sees it: those of the shown concept for which every path shown as followed has an end. Condition: the reader of the
    prompt assumes that such a path leads somewhere. Limit: it does not count what the question's words or earlier
    prompts reveal, nor, in the open profile, that two things are joined and which two-step candidates exist.
    """

    def __init__(self, graph: BlindGraph, profile: Profile) -> None:
        self._graph, self._profile = graph, profile

    def fewest(self, given: TaskModel) -> int | None:
        """Returns the least number of entities that match one of the shown things; None if no entity is shown."""
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
    """Returns the facts that a task's evidence reveals: a thing or set, and the path that leads on from it."""
    evidence: Sequence[Evidence] = getattr(given, "evidence", ())
    return frozenset(" > ".join((fact.start, *fact.path)) for fact in evidence)


def things_shown(given: TaskModel) -> dict[str, DisclosedEntity]:
    """Returns the single entities that a task's input shows, by pseudonym."""
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
    """True of the pseudonym of an entity; those of values, sets and kinds begin with other letters."""
    return pseudonym.startswith("E")


def readings(schema: Schema, path: Labels) -> frozenset[Path]:
    """Returns the paths with these labels; empty if the schema has no such labels."""
    hops = _hops(schema)
    steps = [product(*(hops.get(label, ()) for label in step.split("|"))) for step in path]
    return frozenset(islice(product(*steps), MAX_READINGS))


def _from_root(start: str, path: Labels, before: dict[str, tuple[str, Labels]]) -> tuple[str, Labels]:
    """The single thing from which a set was reached and the whole path from there; the set itself if that is not
    shown.
    """
    passed = set[str]()
    while start in before and start not in passed:
        passed.add(start)
        start, first = before[start]
        path = (*first, *path)
    return start, path


def _asked_paths(triples: Iterable[PathTriple]) -> Iterator[tuple[str, Labels]]:
    """Yields each chain of a concept path that starts from a pseudonym."""
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
    """Yields paths with sizes; labels with several readings are skipped, since their sizes cannot be counted."""
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
    """All that prompts may show of a thing beside its kind.

    OPEN: its own relations and sizes, as in the paper's method. KIND: what all things of its kind have in common.
    STRICT: the same, and not even the question's text.
    """

    OPEN = "open"
    KIND = "kind"
    STRICT = "strict"

    @property
    def is_open(self) -> bool:
        return self is Profile.OPEN


class BelowAnonymityThresholdError(Exception):
    """A prompt was not sent, because too few entities of the graph match what it would have shown of a thing."""


class StrategyNotOfferedError(Exception):
    """The strategy needs to show more than the service's profile allows."""


Policy = Literal["tell", "generalise", "refuse"]
"""The treatment of a prompt that fewer than k entities match. `tell`: it is sent. `generalise`: things of small kinds
are shown as of wider ones, and if that is not enough the reasoner inside the service does the step. `refuse`: the
question ends.
"""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The rule for all questions of a service. `meters` is False if nothing leaves the service, so nothing is counted.

    `in_house`: a reasoner that sends nothing; without one `generalise` ends questions as `refuse` does.
    """

    meters: bool = True
    k: int = 1
    policy: Policy = "tell"
    in_house: Reasoner | None = field(default=None, repr=False)

    def of_question(self, graph: BlindGraph, profile: Profile, reveals: Reveals | None = None) -> QuestionDisclosure:
        """Returns the rule for one question about `graph`, as the asker's role sees it."""
        wider = wider_kinds(graph.schema, self.k) if self.policy == "generalise" else {}
        return QuestionDisclosure(self, DisclosureMeter(graph, profile) if self.meters else None, wider, reveals)


NO_EGRESS = Disclosure(meters=False)


@dataclass(slots=True)
class QuestionDisclosure:
    """Measures each prompt of one question.

    Promise: with any policy but `tell`, `measured` returns no task that fewer than k entities match. Condition and
    limit are those of the meter. `wider`: the concepts that things of small kinds are shown as. `fewest`: the least
    number among the returned tasks; `kept`: number of tasks not returned. `reveals` counts the facts that those
    returned show.
    """

    rule: Disclosure = NO_EGRESS
    meter: DisclosureMeter | None = None
    wider: Mapping[str, str] = field(default_factory=dict)
    reveals: Reveals | None = None
    fewest: int | None = None
    kept: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns notes for the asker about steps for which no model was asked."""
        if not self.kept or self.rule.policy != "generalise":
            return ()
        steps = "1 step was" if self.kept == 1 else f"{self.kept} steps were"
        few = f"fewer than {self.rule.k} things of the graph match what a model would have been shown"
        return (f"{steps} taken inside the service: {few}.",)

    def measured(self, task: Task[ReplyT]) -> Task[ReplyT] | None:
        """Returns `task` with the number of entities that match it; None if the reasoner inside the service has to do
        the step.

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
        """Returns the reply of the reasoner that sends nothing. Raises BelowAnonymityThresholdError, ReasonerError."""
        if self.rule.in_house is None:
            raise BelowAnonymityThresholdError
        return await ask_in_house(self.rule.in_house, task)


async def ask_in_house(reasoner: Reasoner, task: Task[ReplyT]) -> Reply[ReplyT]:
    """Returns the reply of a reasoner that sends nothing, to a task's fuller input if there is one that no prompt may
    hold. Raises ReplyUnusableError.
    """
    task = replace(task, input=task.in_house or task.input)
    reply = await reasoner.reply_to(task, reasoner.egress_of(task))
    if isinstance(reply, Retry):
        raise ReplyUnusableError("the reasoner inside the service gave no reply")
    return reply
