"""QuestionRun: one question on its way through the stages of the service, its options, and their times."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, ParamSpec, TypeVar

from app.accounts.api_keys import Caller
from app.accounts.quotas import UNLIMITED, Budgets
from app.chat.answers.execution import AnswerExecutor, Conclusion
from app.chat.conversations import Conversation
from app.chat.dialogue.turn_classifier import TurnClassifier
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guarded_reasoner import UsageTotals
from app.language.protocol import Language
from app.llm.embeddings.embedder import Likeness
from app.llm.reasoner import Reasoner
from app.memory.case_memory import NO_CASES, CaseMemory, NearCases
from app.privacy.anonymised import Anonymised
from app.privacy.name_recogniser import Recogniser
from app.privacy.plain_wording import Today, utc_today
from app.privacy.safe_text import SafeDialogue
from app.privacy.words.lexicon import Lexicon
from app.strategies.base import RetrievalResult, TurnKind
from client_sdk.protocol import ChatRequest, GraphSuggestions, Sentence
from kg_store.catalog import PrivateGraph
from kg_store.terms import Mids

AUTO: Final = "auto"
DEFAULT_STRATEGY: Final = "sets"
"""Of turns that ask the graph."""
OPEN_PROFILE_STRATEGIES: Final = frozenset({"arog"})
"""Strategies whose prompts tell of each thing what it has and what it lacks."""

EndpointUse = Literal["always", "unsure", "alone"]
"""When a model is asked: beside the service's own reading, where that is not sure, or with nothing beside it."""

RemarkOn = Callable[[str], str | None]
"""Gives what the asker should know of a question's wording, in words of our own; it gets no linked names."""


ReadBack = Callable[[str, str, str], tuple[str, ...]]
"""Reads in a text what stands at the other end of a relation from a thing: of `text`, `known` and `relation`."""

Suggest = Callable[[Caller, str], Awaitable[GraphSuggestions]]
"""Gives questions that a graph answers, to whoever may ask it."""


@dataclass(frozen=True, slots=True)
class SuggestedQuestion:
    """A question to go on with, in pseudonyms of its conversation, and the things that answer it."""

    text: str
    expected: Mids = field(repr=False)


SuggestNext = Callable[["QuestionRun"], Awaitable[tuple[SuggestedQuestion, ...]]]
"""Gives questions to go on with after an answer."""


async def nothing_next(_run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
    """For the chat that tries the questions, and where only an endpoint could."""
    return ()


async def no_suggestions(_caller: Caller, _graph: str) -> GraphSuggestions:
    """For the chat that tries the questions, and where only an endpoint could: nobody asked it for them."""
    return GraphSuggestions(questions=[])


def no_remark(_question: str) -> str | None:
    """For services that read every language."""
    return None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Fixed while a service runs. `cases`: what ratings have taught; without it nobody learns from them. `currency` is
    that of the reasoner's prices. `read_back`: finds in a sentence what a fact says; without it no reply has
    words of a model. `likeness`: tells which relations lie nearest to a question that has no answer; without it
    none are told. `turns`: tells what kind of turn one is; without it, all but a few ask the graph. `today`
    gives the day of a question. `in_house`: the reasoner that reads questions beside a model, by `endpoint_use`;
    `falls_back`: it answers where the model can't."""

    remark_on: RemarkOn = no_remark
    suggest: Suggest = no_suggestions
    suggest_next: SuggestNext = nothing_next
    read_back: ReadBack | None = None
    likeness: Likeness | None = None
    turns: TurnClassifier | None = None
    cases: CaseMemory | None = None
    currency: str = ""
    budgets: Budgets = UNLIMITED
    recogniser: Recogniser | None = field(default=None, repr=False)
    profile: Profile = Profile.OPEN
    disclosure: Disclosure = NO_EGRESS
    today: Today = utc_today
    in_house: Reasoner | None = None
    endpoint_use: EndpointUse = "alone"
    falls_back: bool = False

    def offers(self, strategy: str) -> bool:
        """True where the profile tells as much as the strategy needs to tell."""
        return self.profile.is_open or strategy not in OPEN_PROFILE_STRATEGIES

    def offered(self, strategies: Iterable[str]) -> list[str]:
        """Those of `strategies` that are offered, and before them the choice by turn."""
        return [AUTO, *sorted(filter(self.offers, strategies), key=lambda name: name != DEFAULT_STRATEGY)]


OnStage = Callable[[str, int | None], None]
"""Told of each stage as it begins, and of its number where it comes several times; on the event loop."""

P = ParamSpec("P")
T = TypeVar("T")


def no_progress(_stage: str, _number: int | None) -> None:
    """For whoever waits for the whole answer."""


class StageTimer:
    """Adds up the time of each stage; a stage that runs twice counts both times."""

    def __init__(self, on_stage: OnStage = no_progress) -> None:
        self._on_stage = on_stage
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._on_stage(name, None)
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began

    async def in_thread(self, name: str, call: Callable[P, T], *given: P.args, **more: P.kwargs) -> T:
        """A stage that computes, or waits for the database: in a thread, so that nobody else waits for it."""
        with self.stage(name):
            return await asyncio.to_thread(call, *given, **more)

    def begin_round(self, number: int) -> None:
        """Tells that a round of retrieval begins."""
        self._on_stage("round", number)

    def milliseconds(self) -> dict[str, float]:
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}


NOT_READ: Final = Anonymised(SafeDialogue((), ()), ())
NOT_FOUND: Final = RetrievalResult(None, (), (), 0)


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The dialogue as the model may see it, read in one way. `needs_context`: it leans on the turns before.
    `by_values`: its names are read as text values of the same spelling; `by_kinds`: its common nouns as names."""

    read: Anonymised = NOT_READ
    needs_context: bool = False
    by_values: bool = False
    by_kinds: bool = False


@dataclass(frozen=True, slots=True)
class ConclusionResult:
    """The end of a question: a conclusion, or the sentence that says why there is none.

    `asks_back`: questions that may have been meant instead, in pseudonyms; the sentence holds them too. `sentences`,
    `removed` and `attachment` are those of a reply in dialogue that was checked sentence by sentence.
    """

    conclusion: Conclusion | None = None
    grounded: bool = True
    sentence: str = ""
    asks_back: tuple[str, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    removed: int = 0
    attachment: float | None = None


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """Each stage takes it and gives it back with more in it.

    `readings` are tried in their order; `reading` is the one that `found` and `ended` belong to. `turn` is the
    kind of the last turn, `strategy` the one for it. `known` is what needs no search. `asks_why`: the question is
    after the reason of the last answer. `invites`: the reply ends with questions to try.
    `anonymity`: the least number of entities that a prompt fits; `withheld`: how many prompts were not sent since too
    few fit them. `near_cases`: what the question may lean on. `reader` reads the question.
    `language`: the one that things are named in, where they have names in several. `suggestions`: questions to go on
    with. `remarks`: sentences on who answered.
    """

    answer_id: str
    tenant: str
    request: ChatRequest
    graph: PrivateGraph
    conversation: Conversation
    lexicon: Lexicon
    reader: Language
    readings: tuple[QuestionReading, ...] = ()
    turn: TurnKind = "question"
    strategy: str = DEFAULT_STRATEGY
    asks_why: bool = False
    invites: bool = False
    language: str = ""
    known: RetrievalResult | None = None
    reading: QuestionReading = QuestionReading()
    found: RetrievalResult = NOT_FOUND
    ended: ConclusionResult = ConclusionResult()
    spent: UsageTotals = field(default_factory=UsageTotals)
    anonymity: int | None = None
    withheld: int = 0
    near_cases: NearCases = NO_CASES
    suggestions: tuple[SuggestedQuestion, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def read(self) -> Anonymised:
        return self.reading.read

    @property
    def executor(self) -> AnswerExecutor:
        """Executes expressions on the graph, in the pseudonyms of the conversation."""
        return AnswerExecutor(self.graph, self.conversation.table, self.request.options.names, self.language)

    @property
    def is_settled(self) -> bool:
        """True once no further reading need be tried."""
        found = self.found
        ended = found.over_budget or found.withheld or bool(found.contradicted)
        return self.ended.conclusion is not None or ended
