"""The chat services of one process, the reasoner that they ask, and the fixed words of what it is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from app.chat.concluding import NAMELESS, NOT_GROUNDED, SENTENCES
from app.chat.next_questions import NextQuestions
from app.chat.question_run import ChatOptions, ReadBack, Suggest, SuggestNext, no_remark, no_suggestions, nothing_next
from app.chat.service import ChatService
from app.chat.turns import DID_YOU_MEAN, TurnClassifier
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guard import StaticSegments
from app.egress.ledger.ledger import InHouseLog
from app.language.protocol import Language
from app.llm.embeddings.embedder import Embedder, Likeness
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.reasoner import Reasoner
from app.llm.tasks import AnswerInput, ChooseInput, NameInput, StepInput, StructureInput, TaskKind, TaskModel
from app.memory.case_memory import CaseMemory
from app.privacy.name_recogniser import Recogniser, RecogniserError, open_recogniser
from app.reader.english import EnglishReader
from app.settings import ConfigurationError, Settings
from app.strategies.base import Strategy
from app.strategies.sets.prompts import ASKED, FUNCTIONS, PATH
from app.wiring.store import ServiceContext
from kg_store.catalog import NameConcepts
from kg_store.terms import Schema


@dataclass(frozen=True, slots=True)
class ReasonerBundle:
    """The reasoner, its strategies and its connections.

    `language` reads questions; `note` names the reasoner in words; `close` ends its connections and what it does in
    the background. `warm` prepares for questions about a graph, in the background, and `wait_until_warm` returns when
    that is done. `likeness` is that of the sentence model, which is `embedder`: without it nothing is learnt from
    ratings.
    """

    reasoner: Reasoner
    language: Language
    strategies: Mapping[str, Strategy]
    kinds: tuple[TaskKind[Any], ...]
    name_concepts: NameConcepts
    note: str
    close: Callable[[], Coroutine[Any, Any, None]]
    warm: Callable[[Schema], None] = lambda _schema: None
    wait_until_warm: Callable[[], None] = lambda: None
    endpoints: Sequence[ModelEndpoint] = ()
    in_house: Reasoner | None = None
    likeness: Likeness | None = None
    turns: TurnClassifier | None = None
    embedder: Embedder | None = None
    read_back: ReadBack | None = None


def chat_of(
    settings: Settings,
    store: ServiceContext,
    thinking: ReasonerBundle,
    suggest: Suggest = no_suggestions,
    suggest_next: SuggestNext = nothing_next,
) -> ChatService:
    return ChatService(
        catalog=store.catalog,
        conversations=store.conversations,
        ledger=store.ledger,
        reasoner=thinking.reasoner,
        language=thinking.language,
        strategies=thinking.strategies,
        statics=statics_of(thinking),
        options=ChatOptions(
            remark_on=_language_remarks(settings),
            suggest=suggest,
            suggest_next=suggest_next,
            read_back=thinking.read_back,
            likeness=thinking.likeness,
            turns=thinking.turns,
            cases=cases_of(settings, store, thinking),
            currency=settings.currency,
            budgets=store.budgets,
            recogniser=_recogniser_of(settings),
            profile=Profile(settings.effective_profile),
            disclosure=_disclosure_of(settings, thinking),
            in_house=thinking.in_house,
            endpoint_use=settings.endpoint_use,
            falls_back=settings.falls_back,
        ),
    )


def in_house(thinking: ReasonerBundle) -> ReasonerBundle:
    """Returns the bundle with the reasoner inside the service and without cases: nothing that it is asked leaves the
    machine, and ratings of one user do not show in what it gives to others.
    """
    return replace(thinking, reasoner=thinking.in_house or thinking.reasoner, embedder=None)


def next_questions_of(settings: Settings, store: ServiceContext, thinking: ReasonerBundle) -> SuggestNext:
    """Returns what makes follow-up questions with the reasoner inside the service; nothing is recorded or paid for.

    It uses cases, since the questions are for the same caller. Returns nothing_next if there is no such reasoner.
    """
    own = thinking.in_house
    if own is None or own.longest_reply or not settings.suggestions:  # A model would be sent what nobody asked.
        return nothing_next
    chat = chat_of(settings, store, replace(thinking, reasoner=own))
    budgets = replace(store.budgets, tenants=None, reveals=None)
    tried_by = chat.with_options(replace(chat.options, budgets=budgets), InHouseLog())
    return NextQuestions(tried_by, settings.suggestions).after


def cases_of(settings: Settings, store: ServiceContext, thinking: ReasonerBundle) -> CaseMemory | None:
    embedder = thinking.embedder
    if embedder is None:
        return None
    return CaseMemory(store.cases, lambda text: embedder.sentences([text])[0], str(settings.embedder))


def namer_of(settings: Settings) -> NameConcepts:
    """Names concepts; the sentence model is loaded for the first one."""
    return EnglishReader(Embedder(settings.embedder, settings.cache_dir)).name_concepts


def _language_remarks(settings: Settings) -> Callable[[str], str | None]:
    """The remark on questions in other languages; it applies only if the installed English model reads them."""
    if settings.reasoner != "embedded" or settings.embedder != BOXED_MODEL:
        return no_remark
    threading.Thread(target=EnglishReader.read_words, name="words of languages", daemon=True).start()
    return EnglishReader.remark_on


def _disclosure_of(settings: Settings, thinking: ReasonerBundle) -> Disclosure:
    """The disclosure rule; nothing is measured if nothing leaves the machine, unless the profile is set."""
    if settings.reasoner == "embedded" and settings.profile is None:
        return NO_EGRESS
    return Disclosure(True, settings.disclosure_k, settings.about_few, thinking.in_house)


def _recogniser_of(settings: Settings) -> Recogniser | None:
    """The recogniser of the settings. Raises ConfigurationError, because a service must not start without the one it
    needs.
    """
    try:
        return None if settings.recogniser is None else open_recogniser(settings.recogniser)
    except RecogniserError as problem:
        raise ConfigurationError(str(problem)) from None


def statics_of(thinking: ReasonerBundle) -> StaticSegments:
    """Returns the fixed text of all requests, which the guard may skip; it is registered before any question."""
    statics = StaticSegments()
    for kind in thinking.kinds:
        for segment in thinking.reasoner.statics_of(kind):
            statics.register(segment)
    return statics


_INPUTS: tuple[type[TaskModel], ...] = (StructureInput, ChooseInput, NameInput, AnswerInput, StepInput)


@cache
def request_words() -> tuple[str, ...]:
    """Returns the fixed words in the variable part of a request: field names and values of the tasks, and our
    own sentences, which later prompts hold as earlier turns.

    A name that equals one of them is a public word, because the guard could not tell it from these.
    """
    words = {word for model in _INPUTS for word in _schema_words(model.model_json_schema())}
    told = (PATH, *ASKED.values(), *FUNCTIONS.values())
    return (*sorted(words), "json", "true", "false", "null", NAMELESS, NOT_GROUNDED, DID_YOU_MEAN, *SENTENCES, *told)


def _schema_words(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _schema_words(child)
    elif isinstance(node, dict):
        yield from node.get("properties", {})
        yield from (value for value in (*node.get("enum", ()), node.get("const")) if isinstance(value, str))
        for child in node.values():
            yield from _schema_words(child)
