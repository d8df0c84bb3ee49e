"""The interface of strategies: a StrategyInput in, a RetrievalResult out; and what they need of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.egress.disclosure import Profile
from app.language.protocol import Language
from app.llm.in_house import CasePath, ReadingScores
from app.llm.reasoner import TaskRunner
from app.llm.tasks import Size
from app.privacy.safe_text import SafeDialogue
from kg_store.algebra.evaluator import ExpressionResult
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, Mids, Path


@dataclass(frozen=True, slots=True)
class Limits:
    """W relations a round, D rounds, K relations for one concept (ARoG, section Settings)."""

    width: int = 3
    depth: int = 3
    relations_per_concept: int = 5


TurnKind = Literal["question", "tell", "talk", "neither"]
"""The last turn asks the graph, wants to hear about a thing, talks about one, or does none of these."""


class Pseudonyms(Protocol):
    """The conversation's stand-ins, as strategies use them. The same thing always gets the same pseudonym."""

    def of_entity(self, mid: Mid) -> str: ...

    def of_value(self, mid: Mid) -> str: ...

    def of_set(self, start: str, path: Path, members: Mids) -> str:
        """The pseudonym of what `path` reaches from the things that `start` (a pseudonym) stands for."""
        ...

    def of_kind(self, concept: str, members: Mids) -> str:
        """The pseudonym of everything in the graph of one concept."""
        ...

    def shuffled_order(self, keys: Sequence[str]) -> list[int]:
        """Positions of `keys` in an order of their own, the same while questions lean on each other: the same facts,
        the same bytes."""
        ...


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """One question, ready to be asked: nothing in it has a name. `needs_context`: it leans on earlier turns."""

    dialogue: SafeDialogue
    graph: BlindGraph
    pseudonyms: Pseudonyms
    reasoner: TaskRunner
    limits: Limits
    needs_context: bool
    language: Language
    on_round: Callable[[int], None] = lambda _round: None
    profile: Profile = Profile.OPEN
    wider: Mapping[str, str] = field(default_factory=dict)
    """Concepts that things of small concepts are shown as (`kg_store.anonymity.generalisation`)."""
    truth_of: Callable[[str], bool | None] = lambda _expression: None
    """Executes an expression; None where that gives no yes and no no."""
    result_of: Callable[[str], ExpressionResult | None] = lambda _expression: None
    """Executes an expression; None where it gives nothing, or can't be executed."""
    today: Callable[[], str] = lambda: ""
    """The pseudonym of the day on which it is asked; empty where no day is known."""
    cases: tuple[CasePath, ...] = ()
    """Paths that answered questions like this one (`app.memory`)."""
    turn: TurnKind = "question"
    may_leave: Callable[[str], bool] = lambda _text: True
    """Says whether the guard lets such a text pass."""

    def shown_concept(self, concept: str) -> str:
        return concept if self.profile.is_open else self.wider.get(concept, concept)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """One abstracted triple of the evidence: `start` along `path` gives `end`; `size` may be left untold, empty."""

    start: str
    start_concept: str
    path: tuple[str, ...]
    end: str
    end_concept: str
    size: Size


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before execution: expressions, and our own text, in which `{1}` stands for the first."""

    expressions: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class OwnReading:
    """The scores of the service's own reading, and its `expression` where a model drafted the answer; else empty."""

    scores: ReadingScores
    expression: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The findings of a strategy. `draft` is None when the graph does not hold the answer. `things` are the pseudonyms
    that the reasoner was shown beside the evidence; `notes` says in words what was cut by rank; `rounds` counts
    retrieval rounds. `over_budget`: it ended before the graph was searched through. `withheld`: it ended because
    a prompt would have shown too much. `said`: the reply to a turn that asks nothing of the graph.
    `contradicted`: the sentence for the asker where a draft contradicts the question. `own`: the service's own
    reading of the question, where it has one. `asks_back`: questions over pseudonyms that may have been meant.
    `reply`: the sentences of a reply in dialogue; `reply_facts`: places in the evidence of what each states;
    `is_worded`: a model worded them, so that each is to be read back. `in_order` puts things that were found
    into the order in which they are likely.
    """

    draft: Draft | None
    things: tuple[str, ...]
    evidence: tuple[FoundFact, ...]
    rounds: int
    notes: tuple[str, ...] = ()
    over_budget: bool = False
    withheld: bool = False
    said: str = ""
    contradicted: str = ""
    own: OwnReading | None = None
    asks_back: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    reply_facts: tuple[tuple[int, ...], ...] = ()
    is_worded: bool = False
    in_order: Callable[[Mids], Mids] | None = None


class Strategy(Protocol):
    """One way to answer; `arog`, `sets` and `dialogue` are three. May raise ReasonerError."""

    async def find(self, inquiry: StrategyInput) -> RetrievalResult: ...
