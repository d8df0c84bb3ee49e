"""QuestionRun: one question on its way through the stages of the service, with their options and their times."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, ParamSpec, TypeVar

from app.accounts.api_keys import Caller
from app.accounts.names_read import NamesRead, Reader
from app.accounts.quotas import UNLIMITED, Budgets
from app.chat.conversations import Conversation
from app.chat.execution import AnswerExecutor, Conclusion
from app.chat.turns import TurnClassifier
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guarded_reasoner import UsageTotals
from app.language.protocol import Language
from app.llm.embeddings.embedder import Likeness
from app.llm.reasoner import Reasoner
from app.memory.case_memory import NO_CASES, CaseMemory, NearCases
from app.privacy.anonymiser import Anonymised
from app.privacy.name_recogniser import Recogniser
from app.privacy.plain_wording import Today, utc_today
from app.privacy.safe_text import SafeDialogue
from app.privacy.words.lexicon import Lexicon
from app.strategies.base import RetrievalResult, TurnKind
from app.telemetry.logs import event_log
from client_sdk.protocol import ChatRequest, GraphSuggestions, Names, Sentence
from kg_store.catalog import PrivateGraph
from kg_store.terms import Mids, NodeKind

SHARE: Final = 0.05
"""The part of a graph's things whose names a person reads in a day of much work. Chosen by hand; not fitted."""
MIN_NAMES: Final = 200
"""So many names may be read of a small graph. Chosen by hand."""
ALARM_AT: Final = 0.5
"""From this part of the budget on the log tells of it, once a day and person. Chosen by hand."""

log = event_log("names")


class NamesBudget:
    """Takes the names of every answer, reason, excerpt and trace before they are sealed.

    Promise: a person who is no admin reads at most `per_day` distinct names of a graph on a day (UTC), a key twice as
    many. With None it is SHARE of the graph's things, and MIN_NAMES at least.
    """

    def __init__(self, reads: NamesRead, per_day: int | None) -> None:
        self._reads, self._per_day = reads, per_day

    def take(self, graph: PrivateGraph, caller: Caller, person: str, table: Mapping[str, Names]) -> None:
        """Counts what `table` restores. Raises NamesUsedUpError."""
        # Numbers and dates tell nobody apart from their owner, whose name counts.
        names = {name for each in table.values() for name in each.names if any(map(str.isalpha, name))}
        if not names:
            return
        signatures = (graph.whole or graph).blind.schema.signatures
        things = sum(each.size for each in signatures if each.kind is NodeKind.ENTITY)
        most = self._per_day or max(MIN_NAMES, int(SHARE * things))
        reader = Reader(graph.tenant, graph.name, caller.key_id, person, caller.is_admin)
        before, now = self._reads.take(reader, names, most)
        if before < ALARM_AT * most <= now:
            log.warning("many_names_read", caller=caller.key_id, count=now)


AUTO: Final = "auto"
DEFAULT_STRATEGY: Final = "sets"
"""The strategy for turns that ask the graph."""
OPEN_PROFILE_STRATEGIES: Final = frozenset({"arog"})
"""Strategies whose prompts show what each single thing has and lacks."""

EndpointUse = Literal["always", "unsure", "alone"]
"""When a model is asked beside the service's own reading: always, only if that is unsure, or alone (no own reading).
"""

RemarkOn = Callable[[str], str | None]
"""Returns a note for the asker about a question's wording, in fixed words; it is given no linked names."""


ReadBack = Callable[[str, str, str], tuple[str, ...]]
"""Reads from a text the other end of a relation: (text, known thing, relation) -> ends."""

Suggest = Callable[[Caller, str], Awaitable[GraphSuggestions]]
"""Returns questions that a graph answers, for a caller who may ask it."""


@dataclass(frozen=True, slots=True)
class SuggestedQuestion:
    """A follow-up question, in pseudonyms of its conversation, and the things that answer it."""

    text: str
    expected: Mids = field(repr=False)


SuggestNext = Callable[["QuestionRun"], Awaitable[tuple[SuggestedQuestion, ...]]]
"""Returns follow-up questions for an answer."""


async def nothing_next(_run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
    """Makes no follow-up questions: for the chat that checks them, and where only an endpoint could answer them."""
    return ()


async def no_suggestions(_caller: Caller, _graph: str) -> GraphSuggestions:
    """Suggests nothing, as `nothing_next` does."""
    return GraphSuggestions(questions=[])


def no_remark(_question: str) -> str | None:
    """Makes no remark: used by services that read every language."""
    return None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of a chat service, fixed while it runs.

    `cases`: memory of rated answers; without it nothing is learned. `currency`: that of the reasoner's prices.
    `read_back`: reads facts from a sentence; without it no reply is worded by a model. `likeness`: ranks relations for
    a question without an answer; without it none are suggested. `turns`: classifies turns; without it nearly all ask
    the graph. `today`: returns the date of a question. `in_house`: the reasoner that reads questions beside a model,
    as `endpoint_use` says; `falls_back`: it answers if the model cannot. `names`: the budget of names that a person
    reads; without it there is none.
    """

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
    names: NamesBudget | None = None

    def offers(self, strategy: str) -> bool:
        """True if the profile lets prompts show as much as the strategy needs."""
        return self.profile.is_open or strategy not in OPEN_PROFILE_STRATEGIES

    def offered(self, strategies: Iterable[str]) -> list[str]:
        """Returns the offered ones of `strategies`, after "auto", which chooses by the kind of turn."""
        return [AUTO, *sorted(filter(self.offers, strategies), key=lambda name: name != DEFAULT_STRATEGY)]


OnStage = Callable[[str, int | None], None]
"""Called on the event loop when a stage begins, with its number if it comes several times."""

P = ParamSpec("P")
T = TypeVar("T")


def no_progress(_stage: str, _number: int | None) -> None:
    """Reports no progress: for callers who wait for the whole answer."""


class StageTimer:
    """Adds up the time of each stage in seconds; a stage that runs twice counts both times."""

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
    """The dialogue as the model may see it, in one reading.

    `needs_context`: it cannot be understood without earlier turns. `by_values`: names are read as text values of the
    same spelling; `by_kinds`: common nouns are read as names.
    """

    read: Anonymised = NOT_READ
    needs_context: bool = False
    by_values: bool = False
    by_kinds: bool = False


@dataclass(frozen=True, slots=True)
class ConclusionResult:
    """The end of a question: a conclusion, or the sentence that says why there is none.

    `asks_back`: questions that may have been meant, in pseudonyms; the sentence holds them too. `sentences`, `removed`
    and `attachment` belong to a reply in dialogue that was checked sentence by sentence.
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
    """One question on its way through the service; each stage returns it with more fields filled.

    `readings` are tried in their order; `reading` is the one that `found` and `ended` belong to. `turn` is the
    kind of the last turn, `strategy` the one for it. `known` is what needs no search. `asks_why`: the question is
    after the reason of the last answer. `invites`: the reply ends with questions to try.
    `anonymity`: the least number of entities that a prompt fits; `withheld`: how many prompts were not sent since too
    few fit them. `near_cases`: what the question may lean on. `reader` reads the question.
    `language`: the one that things are named in, where they have names in several. `suggestions`: questions to go on
    with. `remarks`: sentences on who answered.
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
    def tenant(self) -> str:
        return self.caller.tenant

    @property
    def read(self) -> Anonymised:
        return self.reading.read

    @property
    def executor(self) -> AnswerExecutor:
        """Executes expressions on the graph, in the pseudonyms of the conversation."""
        return AnswerExecutor(self.graph, self.conversation.table, self.request.options.names, self.language)

    @property
    def is_settled(self) -> bool:
        """True once no further reading needs to be tried."""
        found = self.found
        ended = found.over_budget or found.withheld or bool(found.contradicted)
        return self.ended.conclusion is not None or ended
