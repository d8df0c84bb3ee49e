"""Defines QuestionRun, the state of one question that each stage extends, and the options and times of the stages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, ParamSpec, TypeVar

from app.accounts.api_keys import Caller
from app.accounts.quotas import UNLIMITED, Budgets
from app.chat.conversations import Conversation
from app.chat.execution import AnswerExecutor, Conclusion
from app.chat.follow_ups import Choosing
from app.chat.names_budget import NamesBudget
from app.chat.turn_forms import TurnClassifier
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guarded_reasoner import UsageTotals
from app.language.protocol import Language
from app.language.readings import MemoryTurn
from app.llm.embeddings.embedder import Likeness
from app.llm.in_house import OfferedReading
from app.llm.reasoner import Reasoner
from app.memory.case_memory import NO_CASES, CaseMemory, NearCases
from app.memory.stated_facts import FactOwner, StatedFactStore
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
"""The strategy for turns that ask the graph, if the request names none."""
PUBLIC_STRATEGY: Final = "demands"
"""The strategy that reads the public graphs beside the asked one."""
OPEN_PROFILE_STRATEGIES: Final = frozenset({"arog"})
"""Strategies whose prompts show the facts of single things, which only the open privacy profile allows."""

EndpointUse = Literal["always", "unsure", "alone"]
"""The use of a model beside the service's own reading of the question: always, only if that is unsure, or alone, which
means that the service makes no reading of its own.
"""

RemarkOn = Callable[[str], str | None]
"""Returns a note for the asker about the wording of a question, or None; names of the graph are replaced in it."""


ReadBack = Callable[[str, str, str], tuple[str, ...]]
"""Reads the object of a relation from a text: (text, subject, relation label) -> texts that state the object."""

Suggest = Callable[[Caller, str], Awaitable[GraphSuggestions]]
"""Returns questions that the named graph can answer, for a caller who may ask it: (caller, graph) -> suggestions."""


@dataclass(frozen=True, slots=True)
class SuggestedQuestion:
    """A follow-up question, in pseudonyms of its conversation, and the things that answer it."""

    text: str
    expected: Mids = field(repr=False)


SuggestNext = Callable[["QuestionRun"], Awaitable[tuple[SuggestedQuestion, ...]]]
"""Returns follow-up questions for an answer."""


async def nothing_next(_run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
    """Returns no follow-up questions.

    Used by the service that tests such questions, and where only a model's endpoint could answer the tests.
    """
    return ()


async def no_suggestions(_caller: Caller, _graph: str) -> GraphSuggestions:
    """Returns no questions about a graph; used where `nothing_next` is."""
    return GraphSuggestions(questions=[])


def no_remark(_question: str) -> str | None:
    """Makes no remark on a question's wording: used by services that read every language."""
    return None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of a chat service, fixed while it runs.

    `cases`: memory of rated answers; without it nothing is learnt. `facts`: what people tell; without it nothing is
    remembered. `currency`: that of the reasoner's prices.
    `read_back`: reads facts from a sentence; without it no model's sentence is shown. `likeness`: ranks relations for
    a question without an answer; without it none are suggested. `turns`: classifies turns; without it nearly every
    turn counts as a question. `today`: returns today's date. `in_house`: the embedded reasoner, which reads questions
    beside a model as `endpoint_use` says; `falls_back`: it answers if the model can't. `names`: limits the names that
    a person may read; without it there is no limit.
    """

    remark_on: RemarkOn = no_remark
    suggest: Suggest = no_suggestions
    suggest_next: SuggestNext = nothing_next
    read_back: ReadBack | None = None
    likeness: Likeness | None = None
    turns: TurnClassifier | None = None
    cases: CaseMemory | None = None
    facts: StatedFactStore | None = None
    currency: str = ""
    budgets: Budgets = UNLIMITED
    recogniser: Recogniser | None = field(default=None, repr=False)
    profile: Profile = Profile.OPEN
    disclosure: Disclosure = NO_EGRESS
    today: Today = utc_today
    in_house: Reasoner | None = None
    endpoint_use: EndpointUse = "alone"
    falls_back: bool = False
    names: NamesBudget | None = None

    def offers(self, strategy: str) -> bool:
        """Returns True if the privacy profile lets prompts show as much as the strategy needs."""
        return self.profile.is_open or strategy not in OPEN_PROFILE_STRATEGIES

    def offered(self, strategies: Iterable[str]) -> list[str]:
        """Returns the names of the strategies that a request may choose, "auto" first.

        "auto" chooses the strategy by the kind of turn.
        """
        return [AUTO, *sorted(filter(self.offers, strategies), key=lambda name: name != DEFAULT_STRATEGY)]


OnStage = Callable[[str, int | None], None]
"""Called on the event loop with the name of a stage when it begins, and with a number if it is one of several rounds.
"""

P = ParamSpec("P")
T = TypeVar("T")


def no_progress(_stage: str, _number: int | None) -> None:
    """Does nothing when a stage begins: for callers who do not want to hear of progress."""


class StageTimer:
    """Measures the time of each stage, and reports when one begins. The times of a stage that runs twice are added."""

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
        """Runs a stage that computes or waits for the database in a thread, so that the event loop is not blocked."""
        with self.stage(name):
            return await asyncio.to_thread(call, *given, **more)

    def begin_round(self, number: int) -> None:
        """Reports that a round of retrieval begins."""
        self._on_stage("round", number)

    def milliseconds(self) -> dict[str, float]:
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}


NOT_READ: Final = Anonymised(SafeDialogue((), ()), ())
NOT_FOUND: Final = RetrievalResult(None, (), (), 0)


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """One way to read the dialogue: which of its words are names of the graph, replaced by pseudonyms.

    `needs_context`: the question can't be understood without earlier turns. `by_values`: names are read as text values
    of the same spelling. `by_kinds`: common nouns are read as names ("guitarists").
    """

    read: Anonymised = NOT_READ
    needs_context: bool = False
    by_values: bool = False
    by_kinds: bool = False


@dataclass(frozen=True, slots=True)
class ConclusionResult:
    """The result of a question: a conclusion, or the sentence that says why there is none.

    `asks_back`: readings that may have been meant; the sentence holds their questions. Three fields belong to
    a reply in dialogue. `sentences`: those that are shown. `removed`: the number of those left out. `attachment`: the
    share (0 to 1) of the cited facts that are shown in the sentences as written, not reworded by the service. `known`:
    the least share of things for which the values are known by which the answer compares or counts them.
    """

    conclusion: Conclusion | None = None
    grounded: bool = True
    sentence: str = ""
    asks_back: tuple[OfferedReading, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    removed: int = 0
    attachment: float | None = None
    known: float = 1.0


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """One question on its way through the service; each stage returns a copy with more fields filled.

    `readings`: ways to read the question, tried in their order; `reading`: the one that `found` and `ended` belong to.
    `turn`: the kind of the last turn; `strategy`: that which answers it. `known`: the result, if no search is needed.
    `choosing`: the turn describes which of several things was meant. `asks_why`: the question asks for the reason of
    the last answer. `memory_turn`: it tells, recalls or forgets a fact. `invites`: the reply ends with questions to
    try. `or_else`: what is said if no answer is found. `anonymity`: the least number of entities that fit what a
    prompt showed; `withheld`: the number of prompts not sent because too few fitted. `near_cases`: rated cases of
    similar questions. `reader`: reads the question's language.
    `language`: the language of restored names, where things have names in several. `suggestions`: follow-up questions.
    `remarks`: sentences that say who gave the answer, the model or the service. `beside`: the names of the public
    graphs that stand beside the asked one (`app.chat.beside`).
    """

    answer_id: str
    caller: Caller
    request: ChatRequest
    graph: PrivateGraph
    conversation: Conversation
    lexicon: Lexicon
    reader: Language
    readings: tuple[QuestionReading, ...] = ()
    turn: TurnKind = "question"
    strategy: str = DEFAULT_STRATEGY
    choosing: Choosing | None = None
    asks_why: bool = False
    memory_turn: MemoryTurn | None = None
    invites: bool = False
    or_else: str = ""
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
    beside: tuple[str, ...] = ()

    @property
    def tenant(self) -> str:
        return self.caller.tenant

    @property
    def fact_owner(self) -> FactOwner:
        """Whose memory the question may tell of."""
        person = self.request.options.person
        return FactOwner(self.tenant, self.request.graph, self.conversation.key_id, person)

    @property
    def read(self) -> Anonymised:
        return self.reading.read

    @property
    def executor(self) -> AnswerExecutor:
        """An executor of expressions on this graph, in the pseudonyms of this conversation."""
        return AnswerExecutor(self.graph, self.conversation.table, self.request.options.names, self.language)

    @property
    def is_settled(self) -> bool:
        """True if no further reading needs to be tried: there is an answer, or a limit or contradiction ended it."""
        found = self.found
        ended = found.over_budget or found.withheld or bool(found.contradicted)
        return self.ended.conclusion is not None or ended
