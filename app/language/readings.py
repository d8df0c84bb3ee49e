"""The data that crosses the border of a reader of language; all of it is frozen, and none of it has a name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from app.llm.in_house import ReadingScores
from app.llm.tasks import SchemaStep
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import ConceptScope, kinds_of, leads_to_values, paths_of, tail_concept
from kg_store.terms import Step, ValueKind

Form = Literal["things", "count", "average", "sum", "truth", "extreme", "compare", "than", "per_group", "filter"]
"""The forms of answer that a question may ask for."""


@dataclass(frozen=True, slots=True)
class AskedForm:
    """The form of answer that a question asks for; `rest` is the question without the words that say the form.

    `function` is argmax, argmin, max, min or a comparison's direction. `operator`, `value` and `upper` (the greatest
    value of a range) belong to a filter, whose `function` may be count or exists. `by_age`: "oldest", "younger".
    `asks_truth`: a comparison that is answered by yes or no.
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
    """The expression, over pseudonyms, that a question was read as, and how sure that is."""

    expression: str
    scores: ReadingScores


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """The words of a question without an answer that may explain why there is none.

    `lacking`: words that no relation and no kind is asked for by; `telling`: all words that say something.
    `unread`: a word that nothing here executes, as it was typed; `operator`: one such word of ours, as "except" is.
    Both are empty where the question has none.
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
    """The kind of what an expression gives: things of `kinds`, or values of the sort `value`; neither: unknown.

    `value` is a kind of value of the graph (`date`), or TRUTH, NUMBER or TABLE of what is worked out.
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
    """The ways in which a draft and its question contradict each other."""

    TRUTH = "not truth"
    NUMBER = "not number"
    THINGS = "not things"
    KIND = "other kind"
    NEGATION = "negation left"
    ADDED = "negation added"
    VALUE = "not compared"
    ALL = "not of all"
    NAMED = "only named"


@dataclass(frozen=True, slots=True)
class WordedPath:
    """A path from the topic, as labels (`^directed by`, `a|b`), and the concept that each of its steps leads to.

    `concepts` holds one concept a step where they are known, else empty texts.
    """

    steps: tuple[str, ...]
    concepts: tuple[str, ...]

    @property
    def hops(self) -> tuple[tuple[str, str], ...]:
        """Each step with its concept."""
        return tuple(zip(self.steps, self.concepts, strict=True))


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """One sentence and the places in the evidence of the facts that it states."""

    text: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AskedStep:
    """A question to be worded: what the step `label` leads to from one thing, or from several.

    `thing` stands for the thing in the question; empty: from several ("they"). The step leads to things of `kinds`, or
    to values of the kind `value`; `is_one`: to a single one; `is_somebody`: to people.
    """

    thing: str
    label: str
    kinds: tuple[str, ...]
    value: ValueKind | None
    is_one: bool
    is_somebody: bool = False


@dataclass(frozen=True, slots=True)
class AskedOfKind:
    """A question to be worded about all things of the kind `concept`, in one of four forms.

    `greatest`: which has the greatest number by `label`, or where `is_date` the latest date; `average`: of the numbers
    by `label`; `total`: how many there are; `per_group`: how many lead by `label` to each one of `tail`, where
    `is_only` tells that no other relation leads there, so that it need not be called by its words.
    """

    form: Literal["greatest", "average", "total", "per_group"]
    concept: str
    label: str = ""
    tail: str = ""
    is_date: bool = False
    is_only: bool = False


def schema_steps(graph: BlindGraph) -> tuple[SchemaStep, ...]:
    """Every step that things of a kind leave by; worked out once for a version of a graph."""
    known = graph.schema.derived.get(schema_steps)
    if not isinstance(known, tuple):
        known = graph.schema.derived[schema_steps] = tuple(
            step_of_kind(graph, kind, path[0], tail_concept(graph.schema, path[0]))
            for kind in kinds_of(graph.schema)
            for path in paths_of(graph, ConceptScope(kind), 1).paths
        )
    return known


def step_of_kind(graph: BlindGraph, kind: str, step: Step, concept: str) -> SchemaStep:
    """`step` as things of `kind` leave by it, to things of `concept`."""
    schema = graph.schema
    value = schema.relations[step[-1].relation].value_kind if leads_to_values(schema, step) else None
    return SchemaStep(kind, schema.label_step(step), schema.described(step), concept, str(value or ""))
