"""Builds the chat services of a process and their options, and collects the fixed words of requests to models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from app.chat.concluding import NAMELESS, NOT_GROUNDED, SENTENCES
from app.chat.next_questions import NextQuestions
from app.chat.question_run import ChatOptions, ReadBack, Suggest, SuggestNext, no_remark, no_suggestions, nothing_next
from app.chat.service import ChatService
from app.chat.turn_forms import TurnClassifier
from app.chat.turns import DID_YOU_MEAN
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guard import StaticSegments
from app.egress.ledger.ledger import InHouseLog
from app.language.protocol import Language
from app.llm.embeddings.embedder import Embedder, Likeness
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of
from app.llm.embeddings.multilingual import is_installed
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.reasoner import Reasoner
from app.llm.tasks import (
    AnswerInput,
    ChooseInput,
    NameInput,
    ReplyInput,
    StepInput,
    StructureInput,
    TaskKind,
    TaskModel,
)
from app.memory.case_memory import CaseMemory
from app.privacy.name_recogniser import Recogniser, RecogniserError, open_recogniser
from app.reader.english import EnglishReader
from app.settings import ConfigurationError, Settings
from app.strategies.base import Strategy
from app.strategies.sets.prompts import ASKED, FUNCTIONS, PATH
from app.wiring.store import ServiceContext
from kg_store.catalog import NameConcepts
from kg_store.formats.files import give_memory_back
from kg_store.terms import Schema


@dataclass(frozen=True, slots=True)
class ReasonerBundle:
    """The reasoner of a process with all that depends on it.

    `language` reads questions. `kinds`: the kinds of tasks that strategies ask. `note`: the reasoner in words. `close`
    ends its connections and background work. `warm` prepares for questions about a graph, in the background;
    `wait_until_warm` returns when that is done. `embedder`: the sentence model, None if nothing is to be learnt from
    ratings; `likeness`: its cosines.
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
            facts=store.facts,
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
    """Returns the bundle with the embedded reasoner and without cases.

    So nothing that it is asked leaves the machine, and the ratings of one user do not influence what others see.
    """
    return replace(thinking, reasoner=thinking.in_house or thinking.reasoner, embedder=None)


def next_questions_of(settings: Settings, store: ServiceContext, thinking: ReasonerBundle) -> SuggestNext:
    """Returns the function that suggests follow-up questions, tested with the embedded reasoner.

    Each question is first asked as a test, which is neither recorded nor counted in budgets. Tests use the cases
    learnt from the caller's ratings, because the real question would use them too. Returns `nothing_next` if there is
    no embedded reasoner, or if suggestions are turned off.
    """
    own = thinking.in_house
    if own is None or own.longest_reply or not settings.suggestions:  # A model must not get questions nobody asked.
        return nothing_next
    chat = chat_of(settings, store, replace(thinking, reasoner=own))
    budgets = replace(store.budgets, tenants=None, reveals=None)
    tried_by = chat.with_options(replace(chat.options, budgets=budgets), InHouseLog())
    return NextQuestions(tried_by, settings.suggestions).after


def cases_of(settings: Settings, store: ServiceContext, thinking: ReasonerBundle) -> CaseMemory | None:
    embedder = thinking.embedder
    if embedder is None:
        return None
    return CaseMemory(
        store.cases, lambda text: embedder.sentences([text])[0], weights_digest_of(settings.sentence_model)
    )


def namer_of(settings: Settings) -> NameConcepts:
    """Returns the function that names concepts; it loads the sentence model, and lets go of it, at each call."""

    def name_concepts(schema: Schema) -> Sequence[str]:
        named = EnglishReader(Embedder(settings.sentence_model, settings.cache_dir)).name_concepts(schema)
        give_memory_back()  # The model is in a cycle of objects; a load takes its most memory later.
        return named

    return name_concepts


def _language_remarks(settings: Settings) -> Callable[[str], str | None]:
    """Returns the function that remarks on questions in other languages than English.

    The function makes no remark if a model reads the questions, or a sentence model other than the one in the box, or
    if the multilingual model reads their language.
    """
    if settings.reasoner != "embedded" or settings.sentence_model != BOXED_MODEL:
        return no_remark
    threading.Thread(target=EnglishReader.read_words, name="words of languages", daemon=True).start()
    return partial(EnglishReader.remark_on, is_multilingual=is_installed())


def _disclosure_of(settings: Settings, thinking: ReasonerBundle) -> Disclosure:
    """Returns the rule on how much prompts may show.

    Nothing is measured if the embedded reasoner answers, since nothing leaves, unless the settings name a profile.
    """
    if settings.reasoner == "embedded" and settings.profile is None:
        return NO_EGRESS
    return Disclosure(True, settings.disclosure_k, settings.about_few, thinking.in_house)


def _recogniser_of(settings: Settings) -> Recogniser | None:
    """Returns the recogniser of the settings, if they name one.

    Raises ConfigurationError if it can't be opened, because the service must not start without it.
    """
    try:
        return None if settings.recogniser is None else open_recogniser(settings.recogniser)
    except RecogniserError as problem:
        raise ConfigurationError(str(problem)) from None


def statics_of(thinking: ReasonerBundle) -> StaticSegments:
    """Returns the fixed texts of all requests, which the guard may skip; to be called before any question."""
    statics = StaticSegments()
    for kind in thinking.kinds:
        for segment in thinking.reasoner.statics_of(kind):
            statics.register(segment)
    return statics


_INPUTS: tuple[type[TaskModel], ...] = (StructureInput, ChooseInput, NameInput, AnswerInput, StepInput, ReplyInput)


@cache
def request_words() -> tuple[str, ...]:
    """Returns the fixed words that the variable part of a request may hold.

    They are field names and values of the tasks, and the service's own sentences, which later prompts hold as earlier
    turns. A name that equals one of them is a public word, because the guard could not tell them apart.
    """
    words = {word for model in _INPUTS for word in _schema_words(model.model_json_schema())}
    # Functions in hints: "max" and "min" may be names, these are none.
    told = (PATH, *ASKED.values(), *FUNCTIONS.values(), "argmax", "argmin")
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
