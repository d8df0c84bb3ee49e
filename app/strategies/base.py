"""The interface of strategies (a StrategyInput in, a RetrievalResult out) and what they need from other packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from app.egress.disclosure import Profile
from app.language.protocol import Language
from app.llm.in_house import CasePath, ReadingScores
from app.llm.reasoner import TaskRunner
from app.llm.tasks import Size
from app.privacy.safe_text import SafeDialogue
from kg_store.algebra.expressions import ExpressionResult
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.schema import own_words_of
from kg_store.terms import Mid, Mids, Path
from kg_store.text.labels import plain_words

_RUN: Final = re.compile(r"[0-9A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Limits:
    """W relations a round (`width`), D rounds (`depth`) and K relations for one concept (ARoG, section Settings)."""

    width: int = 3
    depth: int = 3
    relations_per_concept: int = 5


TurnKind = Literal["question", "tell", "talk", "neither"]
"""The purpose of the last turn: to ask the graph, to hear about a thing ("tell"), to talk about one, or none of these.
"""


class Pseudonyms(Protocol):
    """The conversation's pseudonyms, as strategies use them. The same thing always gets the same pseudonym."""

    def of_entity(self, mid: Mid) -> str: ...

    def of_value(self, mid: Mid) -> str: ...

    def of_set(self, start: str, path: Path, members: Mids) -> str:
        """Returns the pseudonym of what `path` reaches from the things that `start` (a pseudonym) stands for."""
        ...

    def of_kind(self, concept: str, members: Mids) -> str:
        """Returns the pseudonym of everything in the graph that is of one concept."""
        ...

    def shuffled_order(self, keys: Sequence[str]) -> list[int]:
        """Returns the positions of `keys` in a shuffled order that stays the same within a thread of questions.

        So the same facts give the same bytes in each prompt.
        """
        ...


@dataclass(frozen=True, slots=True)
class StrategyInput:
    """One question, ready to be asked; it holds no name. `needs_context`: it is understood only with earlier turns."""

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
    """For each concept of few things, the wider concept that prompts show (`kg_store.graph.matching_entities`)."""
    truth_of: Callable[[str], bool | None] = lambda _expression: None
    """Executes an expression; returns None if the result is not a yes or no."""
    result_of: Callable[[str], ExpressionResult | None] = lambda _expression: None
    """Executes an expression; returns None if it has no result or cannot be executed."""
    today: Callable[[], str] = lambda: ""
    """Returns the pseudonym of today's date; empty if the date is unknown."""
    cases: tuple[CasePath, ...] = ()
    """Paths that answered questions like this one (`app.memory`)."""
    turn: TurnKind = "question"
    may_leave: Callable[[str], bool] = lambda _text: True
    """True if the guard lets the text leave the service."""
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Words as typed, by their pseudonyms, where no model is asked (`Anonymised.typed`)."""

    @property
    def asked(self) -> str:
        """The question for the reader inside the service: words that may say no thing stand in it as typed, and those
        of a masked relation as its name."""
        return _RUN.sub(lambda run: self._as_typed(run[0]), self.dialogue.question)

    def _as_typed(self, word: str) -> str:
        typed = self.typed.get(word, word)
        called = own_words_of(self.graph.schema).get(word, typed)
        return typed if {*plain_words(typed).lower().split()} <= {*plain_words(called).lower().split()} else called

    def shown_concept(self, concept: str) -> str:
        return concept if self.profile.is_open else self.wider.get(concept, concept)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """One abstracted triple of the evidence: `start` along `path` reaches `end`; an empty `size` is not shown."""

    start: str
    start_concept: str
    path: tuple[str, ...]
    end: str
    end_concept: str
    size: Size


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before execution: expressions, and a text of the service's own in which `{1}` stands for the first
    one."""

    expressions: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class OwnReading:
    """The scores of the service's own reading; `expression` is set only if a model drafted the answer."""

    scores: ReadingScores
    expression: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The findings of a strategy for one question.

    `draft`: None if the graph does not hold the answer. `things`: pseudonyms shown to the reasoner beside the
    evidence. `rounds`: number of retrieval rounds. `notes`: sentences about candidates that were cut by rank.
    `over_budget`: it ended before the graph was searched through. `withheld`: it ended because a prompt would have
    shown too much. `said`: the reply to a turn that asks nothing of the graph. `contradicted`: sentence for the asker
    if the draft contradicts the question. `own`: the service's own reading, if it has one. `asks_back`: questions, in
    pseudonyms, that may have been meant.

    For dialogue, `reply` holds the sentences and `reply_facts` the positions in the evidence of the facts each states;
    `is_worded`: a model wrote them, so each has to be checked. `in_order` sorts found things by likelihood.
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
    """One way to answer questions: `arog`, `sets` or `dialogue`. `find` may raise ReasonerError."""

    async def find(self, inquiry: StrategyInput) -> RetrievalResult: ...
