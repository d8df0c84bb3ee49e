"""Defines the privacy profiles, measures how much a prompt shows of a thing, and acts if it shows too much."""

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
"""The greatest number of paths that are tried for one list of labels, as several relations may share a label.

With fewer paths, the counted number of matching entities is never greater than it should be. Chosen by hand.
"""

BUCKETS: Final[dict[Size, tuple[int, int | None]]] = {"1": (1, 1), "2-5": (2, 5), "6-20": (6, 20), "more": (21, None)}

Labels = tuple[str, ...]


@dataclass(slots=True)
class DisclosedEntity:
    """All that a prompt shows about one entity.

    `reaches`: the paths that were followed from it, each with the size class of what it leads to ("1",
    "2-5" and so on). `offered`: the single steps from it that the model may choose. `asked`: under the strict profile,
    the relations that lead away from it in the concept path, which stands for the question's text.
    """

    concept: str = ""
    reaches: set[tuple[Labels, Size]] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)
    asked: set[Labels] = field(default_factory=set)


class DisclosureMeter:
    """Measures how many entities match what a prompt shows of a thing.

    Promise: an entity matches if it is of the shown concept, and every path that the prompt shows as followed leads
    somewhere from it too. Entities are counted in the graph as the asker's role sees it. Condition: whoever reads the
    prompt takes a followed path to lead somewhere. Limit: it does not consider what the question's words or earlier
    prompts reveal. Under the open profile it does not consider either that two things are joined, or which candidates
    of two steps exist.
    """

    def __init__(self, graph: BlindGraph, profile: Profile) -> None:
        self._graph, self._profile = graph, profile

    def fewest(self, given: TaskModel) -> int | None:
        """Returns the number of entities that match the most exposed entity in `given`; None if it shows no entity.

        For example, 3 if `given` shows one entity that 40 match and another that 3 match.
        """
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
        # If the list of candidates was cut, no entity has exactly these steps; then the list is not counted.
        return exactly or how_many_fit(self._graph, said)


def facts_shown(given: TaskModel) -> frozenset[str]:
    """Returns the facts that a task's evidence reveals, each as text: a pseudonym, and the path that leads from it."""
    evidence: Sequence[Evidence] = getattr(given, "evidence", ())
    return frozenset(" > ".join((fact.start, *fact.path)) for fact in evidence)


def things_shown(given: TaskModel) -> dict[str, DisclosedEntity]:
    """Returns, by pseudonym, what a task's input shows of each single entity."""
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
        # Steps that were followed are no longer among the candidates, but the entity has them too.
        thing.offered |= {path[0] for path, _ in thing.reaches if len(path) == 1} if thing.offered else set()
    return shown


def is_entity(pseudonym: str) -> bool:
    """Returns True if the pseudonym is that of an entity; those of values, sets and kinds begin with other letters."""
    return pseudonym.startswith("E")


def readings(schema: Schema, path: Labels) -> frozenset[Path]:
    """Returns the paths that these labels may mean, at most MAX_READINGS; empty if the schema lacks a label."""
    hops = _hops(schema)
    steps = [product(*(hops.get(label, ()) for label in step.split("|"))) for step in path]
    return frozenset(islice(product(*steps), MAX_READINGS))


def _from_root(start: str, path: Labels, before: dict[str, tuple[str, Labels]]) -> tuple[str, Labels]:
    """Follows a path back to where it began: returns its first start, and the whole path from there.

    `before`: for each set that a fact reached, the start and path of that fact. For example, with
    `before = {S: (E, ("treats",))}`, `_from_root(S, ("lives in",), before)` returns `(E, ("treats", "lives in"))`.
    """
    passed = set[str]()
    while start in before and start not in passed:
        passed.add(start)
        start, first = before[start]
        path = (*first, *path)
    return start, path


def _asked_paths(triples: Iterable[PathTriple]) -> Iterator[tuple[str, Labels]]:
    """Yields each chain of triples that starts from an entity's pseudonym, as the pseudonym and its relations."""
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
    """Yields each path with the least and greatest number of things that it may lead to, by its size class.

    A path whose labels have several meanings is left out, because it is unknown which of them has the shown size.
    """
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
    """The privacy profile: all that prompts may show of a thing beside its kind.

    OPEN: its own relations and their sizes, as in the paper's method. KIND: only the relations of its kind. STRICT:
    the same, and prompts do not show the question's text either.
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
    """The requested strategy would show more in its prompts than the service's privacy profile allows."""


Policy = Literal["tell", "generalise", "refuse"]
"""The treatment of a prompt if fewer than k entities match what it shows. `tell`: it is sent. `generalise`: things of
small kinds are shown with a wider kind, and if that is not enough, the embedded reasoner does the step. `refuse`: the
question ends.
"""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The rule for all questions of a service: at least `k` entities must match a prompt, else `policy` applies.

    `policy`: "tell" sends the prompt and tells the asker the number. "generalise" shows wider kinds; where these don't
    suffice, `in_house` (the embedded reasoner, which sends nothing) does the step. "refuse" ends the question, as does
    "generalise" without `in_house`. `meters`: False if nothing leaves the service, so that nothing is counted.
    """

    meters: bool = True
    k: int = 1
    policy: Policy = "tell"
    in_house: Reasoner | None = field(default=None, repr=False)

    def of_question(self, graph: BlindGraph, profile: Profile, reveals: Reveals | None = None) -> QuestionDisclosure:
        """Returns the measurement for one question about `graph`, which is the graph as the asker's role sees it."""
        wider = wider_kinds(graph.schema, self.k) if self.policy == "generalise" else {}
        return QuestionDisclosure(self, DisclosureMeter(graph, profile) if self.meters else None, wider, reveals)


NO_EGRESS = Disclosure(meters=False)


@dataclass(slots=True)
class QuestionDisclosure:
    """Measures each prompt of one question, and holds back those that too few entities match.

    Promise: with any policy but `tell`, `measured` returns no task that fewer than k entities match. Condition and
    limit are those of DisclosureMeter. `wider`: for each small kind, the wider concept that prompts show. `fewest`:
    the least number of matching entities among the returned tasks. `kept`: the number of tasks held back. `reveals`
    counts the facts that returned tasks show. `stays_inside`: no further task is returned, because the embedded
    reasoner has read what no prompt may hold, and a prompt after that could tell of it.
    """

    rule: Disclosure = NO_EGRESS
    meter: DisclosureMeter | None = None
    wider: Mapping[str, str] = field(default_factory=dict)
    reveals: Reveals | None = None
    fewest: int | None = None
    kept: int = 0
    stays_inside: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """A note for the asker that says how many steps the embedded reasoner took in the model's place, if any."""
        if not self.kept or self.rule.policy != "generalise":
            return ()
        steps = "1 step was" if self.kept == 1 else f"{self.kept} steps were"
        few = f"fewer than {self.rule.k} things of the graph match what a model would have been shown"
        return (f"{steps} taken inside the service: {few}.",)

    def measured(self, task: Task[ReplyT]) -> Task[ReplyT] | None:
        """Returns `task` with the number of entities that match it; None if the embedded reasoner has to do the step.

        Raises BelowAnonymityThresholdError, and the errors of Reveals.take; may wait for the database.
        """
        if self.meter is None:
            return task
        fitting = self.meter.fewest(task.input)
        too_few = fitting is not None and fitting < self.rule.k and self.rule.policy != "tell"
        if too_few or self.stays_inside:
            self.kept += 1
            if self.rule.in_house is None or self.rule.policy == "refuse":
                raise BelowAnonymityThresholdError
            self.stays_inside |= task.in_house not in (None, task.input)
            return None
        if self.reveals is not None:
            self.reveals.take(facts_shown(task.input))
        if fitting is not None:
            self.fewest = fitting if self.fewest is None else min(self.fewest, fitting)
        return replace(task, manner=replace(task.manner, anonymity=fitting))

    async def in_house(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the embedded reasoner's reply.

        Raises BelowAnonymityThresholdError if the service has no embedded reasoner, else the ReasonerError of that.
        """
        if self.rule.in_house is None:
            raise BelowAnonymityThresholdError
        return await ask_in_house(self.rule.in_house, task)


async def ask_in_house(reasoner: Reasoner, task: Task[ReplyT]) -> Reply[ReplyT]:
    """Returns the reply of an embedded reasoner, which sends nothing. Raises ReplyUnusableError.

    It reads `task.in_house` if that is set: a fuller input, which no prompt may hold.
    """
    task = replace(task, input=task.in_house or task.input)
    reply = await reasoner.reply_to(task, reasoner.egress_of(task))
    if isinstance(reply, Retry):
        raise ReplyUnusableError("the reasoner inside the service gave no reply")
    return reply
