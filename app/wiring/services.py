"""Wiring: the sole namer of concrete classes; builds everything that one process needs from its settings."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from app.accounts.api_keys import Caller
from app.chat.browsing.graph_browser import GraphBrowser
from app.chat.browsing.suggestions import QuestionSuggester
from app.chat.question_run import ChatOptions, OnStage, Suggest, no_progress, no_remark, no_suggestions
from app.chat.service import ChatService
from app.chat.traces import Tracer
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.guard import StaticSegments
from app.graphs.admin import GraphAdmin
from app.graphs.concept_refinement import ConceptRefiner, TokenPrice
from app.graphs.erasure import Eraser, ErasureStores
from app.graphs.jobs import DescribeError, JobRunner
from app.llm.embedded.concept_namer import ConceptNamer
from app.llm.embedded.embedded_reasoner import EmbeddedReasoner
from app.llm.embedded.language.language_detection import read_words, remark_on
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embedded.warm_up import CacheWarmer
from app.llm.embeddings.embedder import Embedder, Likeness
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.reasoner import Reasoner
from app.llm.tasks import TaskKind
from app.privacy.name_recogniser import Recogniser, RecogniserError, open_recogniser
from app.settings import ConfigurationError, Settings
from app.strategies.arog.prompts import AROG_TASKS, NAME
from app.strategies.arog.strategy import ArogStrategy
from app.strategies.base import Strategy
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.endpoints import endpoints_of
from app.wiring.master_key import read_master_key
from app.wiring.sentence_models import embedder_of, head_of
from app.wiring.store import ServiceContext, _delete_uploads, open_store
from client_sdk.protocol import ChatAnswer, ChatRequest
from kg_store.catalog import NameConcepts
from kg_store.storage.data_folder import DataFolder
from kg_store.terms import Schema


class ChatHandler(Protocol):
    """The part of a chat service that POST /chat needs; ChatService is the one that is built here."""

    @property
    def strategies(self) -> list[str]: ...

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = no_progress) -> ChatAnswer: ...


@dataclass(frozen=True, slots=True)
class ReasonerBundle:
    """The reasoner, its strategies and its connections.

    `note` names it in words; `close` ends its connections and what it does in the background. `warm` prepares for
    questions about a graph, in the background. `likeness` is that of the sentence model.
    """

    reasoner: Reasoner
    strategies: Mapping[str, Strategy]
    kinds: tuple[TaskKind[Any], ...]
    name_concepts: NameConcepts
    note: str
    close: Callable[[], Awaitable[None]]
    warm: Callable[[Schema], None] = lambda _schema: None
    endpoints: Sequence[ModelEndpoint] = ()
    in_house: Reasoner | None = None
    likeness: Likeness | None = None


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that the routes use."""

    store: ServiceContext
    chat: ChatHandler
    tracer: Tracer
    graphs: GraphAdmin
    jobs: JobRunner
    thinking: ReasonerBundle
    suggester: QuestionSuggester
    browser: GraphBrowser

    @property
    def refiner(self) -> ConceptRefiner:
        """Raises ConfigurationError where no endpoint is set up."""
        return refiner_of(self.store, self.thinking)

    @property
    def forgetter(self) -> Eraser:
        return forgetter_of(self.store, self.thinking.name_concepts)

    @property
    def reasoner(self) -> str:
        """The reasoner, in words."""
        return self.thinking.note

    async def close(self) -> None:
        """Waits for running loads, then lets go of the endpoint and the database."""
        await asyncio.to_thread(self.jobs.close)
        await self.thinking.close()
        self.store.close()


def build(settings: Settings, describe_error: DescribeError, thinking: ReasonerBundle | None = None) -> Services:
    """All of it; a few seconds, since the embedding model is loaded. Raises what `open_store` raises, and OSError.

    Only tests and the evaluation bring a `thinking` of their own; the guard stands before it all the same.
    """
    store = open_store(settings)
    thinking = thinking or think(settings)
    store.catalog.when_opened(thinking.warm)
    store.catalog.name_concepts_by(thinking.name_concepts)
    _delete_uploads(store.incoming)
    suggester = QuestionSuggester(store.catalog, _chat_of(settings, store, _in_house(thinking), no_suggestions))
    jobs = JobRunner(store.engine, DataFolder(settings.data_dir).id, describe_error)
    jobs.mark_interrupted()
    return Services(
        store=store,
        chat=_chat_of(settings, store, thinking, suggester.suggest if thinking.in_house else no_suggestions),
        tracer=Tracer(store.ledger, store.conversations, store.catalog),
        graphs=GraphAdmin(
            store.catalog,
            store.conversations,
            thinking.name_concepts,
            settings.max_unpacked_bytes,
            settings.disclosure_k,
        ),
        jobs=jobs,
        thinking=thinking,
        suggester=suggester,
        browser=GraphBrowser(store.catalog, store.conversations),
    )


def _in_house(thinking: ReasonerBundle) -> ReasonerBundle:
    """The same with the reasoner inside the service: nothing of what it is asked leaves the machine."""
    return thinking if thinking.in_house is None else replace(thinking, reasoner=thinking.in_house)


def _chat_of(settings: Settings, store: ServiceContext, thinking: ReasonerBundle, suggest: Suggest) -> ChatService:
    return ChatService(
        catalog=store.catalog,
        conversations=store.conversations,
        ledger=store.ledger,
        reasoner=thinking.reasoner,
        strategies=thinking.strategies,
        statics=_statics(thinking),
        options=ChatOptions(
            remark_on=_language_remarks(settings),
            suggest=suggest,
            likeness=thinking.likeness,
            currency=settings.currency,
            budgets=store.budgets,
            recogniser=_recogniser_of(settings),
            profile=Profile(settings.effective_profile),
            disclosure=_disclosure_of(settings, thinking),
        ),
    )


def _language_remarks(settings: Settings) -> Callable[[str], str | None]:
    """Remarks on questions in other languages, where the English model alone reads them."""
    if not _reads_english_alone(settings):
        return no_remark
    threading.Thread(target=read_words, name="words of languages", daemon=True).start()
    return remark_on


def _disclosure_of(settings: Settings, thinking: ReasonerBundle) -> Disclosure:
    """Counts nothing where nothing leaves the machine, unless the profile is set."""
    if settings.reasoner == "embedded" and settings.profile is None:
        return NO_EGRESS
    return Disclosure(True, settings.disclosure_k, settings.about_few, thinking.in_house)


def _recogniser_of(settings: Settings) -> Recogniser | None:
    """Raises ConfigurationError: a service that should have a recogniser does not start without it."""
    try:
        return None if settings.recogniser is None else open_recogniser(settings.recogniser)
    except RecogniserError as problem:
        raise ConfigurationError(str(problem)) from None


def _reads_english_alone(settings: Settings) -> bool:
    """True where the English model in the box alone reads questions."""
    return settings.reasoner == "embedded" and settings.embedder == BOXED_MODEL


def graphs_of(store: ServiceContext) -> GraphAdmin:
    """The graphs alone, for commands; the model is loaded when a graph is."""
    namer = ConceptNamer(Embedder(store.settings.embedder, store.settings.cache_dir))
    return GraphAdmin(
        store.catalog,
        store.conversations,
        namer.name,
        store.settings.max_unpacked_bytes,
        store.settings.disclosure_k,
    )


def forgetter_of(store: ServiceContext, name_concepts: NameConcepts | None = None) -> Eraser:
    """For commands the model that names concepts is loaded when it is needed."""
    settings = store.settings
    stores = ErasureStores(
        store.catalog,
        store.conversations,
        store.upkeep,
        store.engine,
        store.master,
        settings.data_dir,
        store.incoming,
        name_concepts or ConceptNamer(Embedder(settings.embedder, settings.cache_dir)).name,
    )
    return Eraser(stores)


def refiner_of(store: ServiceContext, thinking: ReasonerBundle) -> ConceptRefiner:
    """Raises ConfigurationError where no endpoint is set up: the embedded reasoner named the concepts already."""
    settings = store.settings
    if settings.reasoner != "endpoint":
        raise ConfigurationError("renaming concepts needs a model endpoint: set AROG_REASONER=endpoint and its URL")
    price = thinking.endpoints[0].price if thinking.endpoints else None
    return ConceptRefiner(
        store.catalog,
        store.ledger,
        thinking.reasoner,
        NAME,
        _statics(thinking),
        store.budgets,
        TokenPrice(price, settings.currency),
    )


def think(settings: Settings) -> ReasonerBundle:
    """The reasoner and the strategies of the settings; loads the embedding model."""
    embedder = embedder_of(settings)
    scorer = PathScorer(embedder, head=head_of(settings))
    strategies: dict[str, Strategy] = {
        "sets": SetsStrategy(embedder, scorer=scorer),
        "arog": ArogStrategy(embedder),
    }
    kinds = (STEP, *AROG_TASKS)
    warming = CacheWarmer(embedder)

    def name_concepts(schema: Schema) -> Sequence[str]:
        """Prepares what the first question needs while the load ends."""
        concepts = ConceptNamer(embedder).name(schema)
        warming.begin(schema)
        return concepts

    endpoints = endpoints_of(settings) if settings.reasoner == "endpoint" else []
    reasoner, note = _reasoner_of(settings, scorer, embedder, endpoints)

    async def close() -> None:
        await asyncio.to_thread(warming.close)
        for endpoint in endpoints:
            await endpoint.close()

    in_house = EmbeddedReasoner(embedder, scorer=scorer), embedder.similarity
    return ReasonerBundle(reasoner, strategies, kinds, name_concepts, note, close, warming.begin, endpoints, *in_house)


def _reasoner_of(
    settings: Settings, scorer: PathScorer, embedder: Embedder, endpoints: Sequence[ModelEndpoint]
) -> tuple[Reasoner, str]:
    """The reasoner and its note."""
    if settings.reasoner == "embedded":
        return EmbeddedReasoner(embedder, scorer=scorer), "embedded"
    first, *fallbacks = endpoints
    is_salted = any(endpoint.wording.is_salted for endpoint in endpoints)
    salt_key = read_master_key(settings).derived("cache salt") if is_salted else b""
    return PromptedReasoner(first, embedder, fallbacks, salt_key), "endpoint"


def _statics(thinking: ReasonerBundle) -> StaticSegments:
    """Our own words in every request, which the guard may subtract; registered before any question."""
    statics = StaticSegments()
    for kind in thinking.kinds:
        for segment in thinking.reasoner.statics_of(kind):
            statics.register(segment)
    return statics
