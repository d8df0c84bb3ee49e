"""Defines the data that strategies and a reader of language exchange: immutable, and without any name."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from app.llm.in_house import ReadingScores
from app.llm.tasks import SchemaStep
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of
from kg_store.graph.traversal import ConceptScope, leads_to_values, members_of, paths_of, tail_concept, walk
from kg_store.terms import Mids, Step, ValueKind, as_mids

Form = Literal["things", "count", "average", "sum", "truth", "extreme", "compare", "than", "per_group", "filter"]
"""The forms of answer that a question may ask for, such as a set of things, a count, or yes or no (truth)."""


@dataclass(frozen=True, slots=True)
class AskedForm:
    """The form of answer that a question asks for, such as a count.

    `rest`: the question without the words that state the form. `function`: what computes the answer. It is argmax,
    argmin, max or min for an extreme, argmax or argmin for a comparison, count or exists for a filter. `operator`,
    `value`, `upper` (the greatest value of a range): the condition of a filter. `by_age`: the word compares ages
    ("oldest", "younger"). `asks_truth`: the extreme or comparison is answered by yes or no.
    """

    form: Form
    rest: str
    function: str = ""
    operator: str = ""
    value: str = ""
    upper: str = ""
    by_age: bool = False
    asks_truth: bool = False


@dataclass(frozen=True, slots=True)
class SureReading:
    """A certain reading of a question: an expression over pseudonyms, and the scores of the reading."""

    expression: str
    scores: ReadingScores


@dataclass(frozen=True, slots=True)
class LikelyReadings:
    """The likely readings of a question: the one that is `answered`, else the expressions that are `offered`.

    `is_doubted`: the words decide for a reading that is not likely, so that it must not be answered.
    """

    answered: SureReading | None = None
    offered: tuple[str, ...] = ()
    is_doubted: bool = False


NOTHING_LIKELY: Final = LikelyReadings()


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """The words of a question without an answer that may explain why there is none.

    `lacking`: words that match no relation and no concept; `telling`: all words that carry meaning. `unread`: a word,
    in lower case, that cannot be executed; `operator`: the exclusion or negation in the question (`except`, `not`,
    `other`). `unread` and `operator` are empty if the question has none.
    """

    lacking: tuple[str, ...]
    telling: tuple[str, ...]
    unread: str
    operator: str


TRUTH: Final = "worked out: truth"
NUMBER: Final = "worked out: number"
TABLE: Final = "worked out: table"


@dataclass(frozen=True, slots=True)
class ResultKind:
    """The kind of result of an expression: things of the concepts `kinds`, or values of the type `value`.

    `value` is a value type of the graph (`date`), or TRUTH, NUMBER or TABLE for a computed result. If both fields are
    empty, the kind is unknown.
    """

    kinds: frozenset[str] = frozenset()
    value: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.kinds or self.value)

    @property
    def is_worked_out(self) -> bool:
        return self.value in (TRUTH, NUMBER, TABLE)


UNKNOWN: Final = ResultKind()


class Contradiction(StrEnum):
    """The ways in which a draft answer can contradict its question."""

    TRUTH = "not truth"
    NUMBER = "not number"
    THINGS = "not things"
    KIND = "other kind"
    NEGATION = "negation left"
    ADDED = "negation added"
    VALUE = "not compared"
    ALL = "not of all"
    NAMED = "only named"
    UNUSED = "named unused"


@dataclass(frozen=True, slots=True)
class WordedPath:
    """A path from a topic: the labels of its steps (`^directed by`, `a|b`), and the concept that each step leads to.

    `concepts` has one entry for each step; an entry is empty if the concept is unknown.
    """

    steps: tuple[str, ...]
    concepts: tuple[str, ...]

    @property
    def hops(self) -> tuple[tuple[str, str], ...]:
        """Each step's label with the concept that the step leads to."""
        return tuple(zip(self.steps, self.concepts, strict=True))


MAX_SEEN: Final = 1_000
"""Greatest number of things of a kind that are looked at to learn whether a step leads to one thing or to several."""


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """One sentence, and the positions in the evidence of the facts that it states."""

    text: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AskedStep:
    """A question to be written: which things or values the step `label` leads to from one thing, or from several.

    `thing`: the pseudonym of that thing; empty stands for several things, called "they". `kinds`: the concepts that
    the step leads to; `value`: the type of values that it leads to instead, else None. `is_one`: it leads to a single
    thing or value; `is_somebody`: it leads to people.
    """

    thing: str
    label: str
    kinds: tuple[str, ...]
    value: ValueKind | None
    is_one: bool
    is_somebody: bool = False


@dataclass(frozen=True, slots=True)
class AskedOfKind:
    """A question to be written about all things of the kind `concept`.

    `form` is one of: `greatest`, the thing with the greatest number by the relation `label`, or with the latest date
    if `is_date`; `average`, of the numbers by `label`; `total`, how many things there are; `per_group`, how many
    things lead by `label` to each thing of the kind `tail`. `is_only`: no other relation joins the two kinds, so the
    question need not name it.
    """

    form: Literal["greatest", "average", "total", "per_group"]
    concept: str
    label: str = ""
    tail: str = ""
    is_date: bool = False
    is_only: bool = False


@dataclass(frozen=True, slots=True)
class MemoryTurn:
    """A turn by which its asker tells the service a fact, asks for what was told, or has it erased.

    `statement`: the sentence to be kept or erased; empty if the turn states nothing. `question`: asks the graph if the
    statement is true; empty for a statement that no fact of a graph says, such as one with "not". `about`: the words
    that name what is asked for or erased; empty for everything. `is_last`: only the fact that was told last is meant.
    A turn of kind "talk" asks for what was talked about: `when`, or when last `about` something. One of kind "say"
    states a fact in passing, and "decline" says no to keeping one.
    """

    kind: Literal["tell", "recall", "forget", "talk", "say", "decline"]
    statement: str = ""
    question: str = ""
    about: str = ""
    is_last: bool = False
    when: str = ""


@dataclass(frozen=True, slots=True)
class DatedStatement:
    """A sentence that was told, and the day on which it was."""

    text: str
    day: dt.date


MemoryOutcome = Literal[
    "kept",
    "kept as said",
    "states nothing",
    "offered",
    "declined",
    "unclear",
    "full",
    "recalled",
    "forgotten",
    "talked",
]
"""The outcomes of a memory turn: the first two keep a fact, those up to "full" say why none is kept."""


@dataclass(frozen=True, slots=True)
class MemoryReply:
    """A reply to a memory turn, to be worded: `statements` are shown, of `total` that were found.

    `about`: as in the turn. `today`: a day of another year is told with its year.
    """

    outcome: MemoryOutcome
    today: dt.date
    statements: tuple[DatedStatement, ...] = ()
    total: int = 0
    about: str = ""


def schema_steps(graph: BlindGraph) -> tuple[SchemaStep, ...]:
    """Returns every step that leaves things of some kind; computed once for each version of a graph."""
    known = graph.schema.derived.get(schema_steps)
    if not isinstance(known, tuple):
        found = [
            (step_of_kind(graph, kind, path[0], tail_concept(graph.schema, path[0])), path[0])
            for kind in kinds_of(graph.schema)
            for path in paths_of(graph, ConceptScope(kind), 1).paths
        ]
        twins = _twins(graph, found)
        known = graph.schema.derived[schema_steps] = tuple(
            _with_shape(graph, told, step)._replace(twin=twins.get(told.label, "")) for told, step in found
        )
    return known


MIN_TWIN, MAX_PAIRS = 3, 5_000
"""Two relations are twins if at least MIN_TWIN things with different ends have both; no relation with more than
MAX_PAIRS facts of the things that are looked at is compared. Chosen by hand.
"""


def _twins(graph: BlindGraph, found: Sequence[tuple[SchemaStep, Step]]) -> dict[str, str]:
    """Returns the labels of relations between things that another one repeats, each with the label of that one.

    So it is with a fact that a private graph and a public one beside it both have, under two names.
    """
    ends: defaultdict[str, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for told, step in found:
        if len(step) == 1 and not (told.value or step[0].inverse):
            walked = walk(graph, _sample(graph, told.kind), (step,))
            pairs = zip(walked.heads.tolist(), walked.tails.tolist(), strict=True)
            for head, tail in pairs if len(walked.heads) <= MAX_PAIRS else ():
                ends[told.label][head].add(tail)
    several = {label: own for label, own in ends.items() if len(set(map(frozenset, own.values()))) >= MIN_TWIN}
    return {
        label: twin
        for label, own in several.items()
        for twin, others in several.items()
        if len(others) > len(own) and all(tails <= others.get(head, set()) for head, tails in own.items())
    }


def _sample(graph: BlindGraph, kind: str) -> Mids:
    members = members_of(graph, kind)
    return members[:: len(members) // MAX_SEEN + 1]


MAX_SORTS: Final = 5
"""A step that all things have and that leads to at most so many ends tells their sort, and nothing by being there."""
MIN_SORTED: Final = 10


def _with_shape(graph: BlindGraph, told: SchemaStep, step: Step) -> SchemaStep:
    """Returns the step with what its walk from all things of its kind tells; large kinds are sampled."""
    sample = _sample(graph, told.kind)
    walked = walk(graph, sample, (step,))
    starts, ends = len(as_mids(walked.heads)), len(as_mids(walked.tails))
    is_sort = MIN_SORTED <= len(sample) == starts and ends <= MAX_SORTS and told.value != "truth"
    return told._replace(is_one=len(walked.heads) == starts, is_sort=is_sort)


def step_of_kind(graph: BlindGraph, kind: str, step: Step, concept: str) -> SchemaStep:
    """Returns `step` as a `SchemaStep` from things of `kind` to things of `concept`."""
    schema = graph.schema
    value = schema.relations[step[-1].relation].value_kind if leads_to_values(schema, step) else None
    return SchemaStep(kind, schema.label_step(step), schema.described(step), concept, str(value or ""))
