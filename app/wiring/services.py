"""Wiring: builds everything that one process needs from its settings; only here are concrete classes named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from app.accounts.api_keys import Caller
from app.chat.case_admin import CaseAdmin
from app.chat.inspecting import GraphBrowser, Tracer
from app.chat.question_run import NamesBudget, OnStage, no_progress, no_suggestions
from app.chat.ratings import RatingService
from app.chat.suggestions import QuestionSuggester
from app.graphs.admin import GraphAdmin
from app.graphs.concept_refinement import ConceptRefiner, TokenPrice
from app.graphs.erasure import Eraser
from app.graphs.jobs import DescribeError, JobRunner
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.reasoner import Reasoner
from app.llm.tasks import TaskKind
from app.reader.english import EnglishReader
from app.settings import ConfigurationError, Settings
from app.strategies.arog import ArogStrategy
from app.strategies.base import Strategy
from app.strategies.dialogue import DialogueStrategy
from app.strategies.dialogue_facts import LikenessRanker, TrainedRanker
from app.strategies.prompts import AROG_TASKS, NAME, REPLY, WORDED
from app.strategies.sets.candidates import NearestWays, RetrievedWays
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.administration import forgetter_of
from app.wiring.chats import ReasonerBundle, cases_of, chat_of, in_house, next_questions_of, statics_of
from app.wiring.endpoints import endpoints_of
from app.wiring.master_key import read_master_key
from app.wiring.sentence_models import embedder_of, head_of, read_back_of, retriever_of, turn_classifier_of
from app.wiring.store import ServiceContext, delete_uploads, open_store
from client_sdk.protocol import ChatAnswer, ChatRequest
from kg_store.storage.data_folder import DataFolder
from kg_store.terms import Schema

__all__ = ["ChatHandler", "ReasonerBundle", "Services", "build", "refiner_of", "think"]


class ChatHandler(Protocol):
    """The part of a chat service that POST /chat needs; wiring builds a ChatService."""

    @property
    def strategies(self) -> list[str]: ...

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = no_progress) -> ChatAnswer: ...


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
    ratings: RatingService
    cases: CaseAdmin

    @property
    def refiner(self) -> ConceptRefiner:
        """Returns the refiner of concepts. Raises ConfigurationError if no endpoint is set."""
        return refiner_of(self.store, self.thinking)

    @property
    def forgetter(self) -> Eraser:
        return forgetter_of(self.store, self.thinking.name_concepts)

    @property
    def reasoner(self) -> str:
        """The reasoner, in words."""
        return self.thinking.note

    async def close(self) -> None:
        """Waits for running loads, then closes the endpoint and the database."""
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
    delete_uploads(store.incoming)
    suggester = QuestionSuggester(store.catalog, chat_of(settings, store, in_house(thinking)), thinking.language)
    jobs = JobRunner(store.engine, DataFolder(settings.data_dir).id, describe_error)
    jobs.mark_interrupted()
    suggest = suggester.suggest if thinking.in_house else no_suggestions
    chat = chat_of(settings, store, thinking, suggest, next_questions_of(settings, store, thinking))
    names = NamesBudget(store.names_read, settings.names_per_day)
    return Services(
        store=store,
        chat=chat.with_options(replace(chat.options, names=names)),
        tracer=Tracer(store.ledger, store.conversations, store.catalog, names),
        graphs=GraphAdmin(
            store.catalog,
            store.conversations,
            store.cases,
            store.names_read,
            thinking.name_concepts,
            settings.max_unpacked_bytes,
            settings.disclosure_k,
        ),
        jobs=jobs,
        thinking=thinking,
        suggester=suggester,
        browser=GraphBrowser(store.catalog, store.conversations, names),
        ratings=RatingService(store.catalog, store.conversations, cases_of(settings, store, thinking)),
        cases=CaseAdmin(store.catalog, store.cases),
    )


def refiner_of(store: ServiceContext, thinking: ReasonerBundle) -> ConceptRefiner:
    """Returns the refiner of concepts. Raises ConfigurationError without an endpoint, as the embedded reasoner named
    them already.
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
    """Returns the reasoner and strategies of the settings; loads the sentence model."""
    embedder = embedder_of(settings)
    reader = EnglishReader(embedder, head_of(settings))
    strategies = _strategies_of(settings, reader)
    kinds: tuple[TaskKind[Any], ...] = (STEP, REPLY, WORDED, *AROG_TASKS)

    def name_concepts(schema: Schema) -> Sequence[str]:
        """Prepares what the first question needs while the load ends."""
        concepts = reader.name_concepts(schema)
        reader.warmer.begin(schema)
        return concepts

    endpoints = endpoints_of(settings) if settings.reasoner == "endpoint" else []
    reasoner, note = _reasoner_of(settings, reader, endpoints)

    async def close() -> None:
        await asyncio.to_thread(reader.warmer.close)
        for endpoint in endpoints:
            await endpoint.close()

    own = reader.reasoner, embedder.similarity
    warms = reader.warmer.begin, reader.warmer.wait
    return ReasonerBundle(
        reasoner,
        reader,
        strategies,
        kinds,
        name_concepts,
        note,
        close,
        *warms,
        endpoints,
        *own,
        embedder=embedder,
        turns=turn_classifier_of(settings, embedder),
        read_back=read_back_of(settings),
    )


def _strategies_of(settings: Settings, reader: EnglishReader) -> dict[str, Strategy]:
    embedder = reader.embedder
    retriever = retriever_of(settings, embedder)
    selector = RetrievedWays(retriever) if retriever else NearestWays()
    ranker = TrainedRanker(retriever) if retriever else LikenessRanker(embedder)
    return {
        "sets": SetsStrategy(embedder, selector=selector),
        "arog": ArogStrategy(embedder),
        "dialogue": DialogueStrategy(ranker, reader.reasoner, model_words=settings.reply_words == "model"),
    }


def _reasoner_of(
    settings: Settings, reader: EnglishReader, endpoints: Sequence[ModelEndpoint]
) -> tuple[Reasoner, str]:
    """The reasoner and its description."""
    if settings.reasoner == "embedded":
        return reader.reasoner, "embedded"
    first, *fallbacks = endpoints
    is_salted = any(endpoint.wording.is_salted for endpoint in endpoints)
    salt_key = read_master_key(settings).derived("cache salt") if is_salted else b""
    return PromptedReasoner(first, reader.embedder, fallbacks, salt_key), "endpoint"
