"""Wiring: the sole namer of concrete classes; builds everything that one process needs from its settings."""

from __future__ import annotations

import asyncio
import datetime as dt
import shutil
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from app.access import Access, Caller
from app.budgets import UNLIMITED, Budgets, RevealBudgets, TenantTokens
from app.chat import ChatService
from app.conversations import ConversationStore
from app.database import DatabaseExposed, make_engine, migrate
from app.devices import Devices
from app.endpoint_wiring import endpoints_of
from app.forgetting import Forgetter
from app.graph_admin import GraphAdmin
from app.jobs import JobRunner
from app.ledger_audit import LedgerAudit
from app.llm.concepts import ConceptNamer
from app.llm.embedded import EmbeddedReasoner
from app.llm.embedder import Embedder
from app.llm.endpoint import ModelEndpoint
from app.llm.head import NO_HEAD, Head, HeadProblem, read_head
from app.llm.languages import read_words, remark_on
from app.llm.model_folder import BOXED_MODEL
from app.llm.prompted import PromptedReasoner
from app.llm.reasoner import Reasoner, TaskKind
from app.llm.warming import Warming
from app.privacy.guard import StaticSegments
from app.privacy.ledger import Ledger, LedgerEntry
from app.privacy.ledger_upkeep import LedgerUpkeep
from app.privacy.recogniser import Recogniser, RecogniserProblem, open_recogniser
from app.refining import ConceptRefiner, Tariff
from app.settings import Settings, SettingsProblem, make_data_folder
from app.stopwatch import OnStage, tell_nobody
from app.strategies.arog.prompts import AROG_TASKS, NAME
from app.strategies.arog.strategy import ArogStrategy
from app.strategies.base import Profile, Strategy
from app.strategies.metered import IN_THE_HOUSE, Disclosure
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from app.tracing import Tracer
from app.wire_words import request_words
from client_sdk.protocol import ChatAnswer, ChatRequest, LedgerPage, LedgerRow, TokenBudget
from kg_store.catalog import Catalog, NameConcepts
from kg_store.data_folder import DataFolder
from kg_store.keys import MasterKey
from kg_store.terms import KeyProblem, Schema

INCOMING = "incoming"


class AnswersQuestions(Protocol):
    """What POST /chat needs; ChatService is the one that is built here."""

    @property
    def strategies(self) -> list[str]: ...

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = tell_nobody) -> ChatAnswer: ...


@dataclass(frozen=True, slots=True)
class Store:
    """What needs no reasoner: enough to manage graphs and keys in the data folder."""

    settings: Settings
    engine: Engine
    master: MasterKey
    catalog: Catalog
    access: Access
    devices: Devices
    conversations: ConversationStore
    ledger: Ledger
    upkeep: LedgerUpkeep

    @property
    def budgets(self) -> Budgets:
        """None where nobody is paid by tokens."""
        if self.settings.reasoner == "embedded":
            return UNLIMITED
        settings = self.settings
        return Budgets(
            settings.question_tokens,
            TenantTokens(self.engine, settings.tenant_tokens_per_day),
            RevealBudgets(self.engine, settings.conversation_reveals, settings.tenant_reveals),
        )

    def budget_of(self, tenant: str) -> TokenBudget:
        """How the tenant's day stands."""
        budgets = self.budgets
        state = (budgets.tenants or TenantTokens(self.engine)).state(tenant)
        return TokenBudget(
            day=state.day,
            used=state.used,
            limit=state.limit,
            renews_at=state.renews_at,
            per_question=budgets.question,
            revealed=budgets.reveals.shown_today(tenant) if budgets.reveals else 0,
            reveal_limit=budgets.reveals.tenant if budgets.reveals else None,
        )

    @property
    def incoming(self) -> Path:
        """Where uploads lie while they are loaded."""
        return self.settings.data_dir / INCOMING

    def ledger_page(self, caller: Caller, answer_id: str | None, limit: int) -> LedgerPage:
        """The caller's own entries, newest first; an admin's are the whole tenant's."""
        key_id = None if caller.is_admin else caller.key_id
        entries = self.ledger.entries(caller.tenant, key_id, answer_id, limit)
        if caller.is_restricted:
            # What was replaced in a question tells which names the graph has, those too that are withheld.
            entries = [replace(entry, payload=None) for entry in entries]
        return LedgerPage(entries=[_row(entry) for entry in entries])

    @property
    def audit(self) -> LedgerAudit:
        return LedgerAudit(self.engine, self.master, self.upkeep)

    def purge(self) -> int:
        """Deletes expired conversations and payloads of the ledger; how many. Signs the ledgers that have grown."""
        self.master.refresh()
        purged = self.conversations.purge() + self.upkeep.forget_payloads(self._ledger_border)
        self.upkeep.checkpoint_all()
        return purged

    @property
    def _ledger_border(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC) - dt.timedelta(days=self.settings.ledger_days)

    def close(self) -> None:
        self.catalog.close()
        self.engine.dispose()


@dataclass(frozen=True, slots=True)
class Thinking:
    """Who reasons, and how. `note` says it in words; `close` ends its connections and what it does in the background.

    `warm` prepares for questions about a graph, in the background.
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


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that the routes use."""

    store: Store
    chat: AnswersQuestions
    tracer: Tracer
    graphs: GraphAdmin
    jobs: JobRunner
    thinking: Thinking

    @property
    def refiner(self) -> ConceptRefiner:
        """Raises SettingsProblem where no endpoint is set up."""
        return refiner_of(self.store, self.thinking)

    @property
    def forgetter(self) -> Forgetter:
        return forgetter_of(self.store, self.thinking.name_concepts)

    @property
    def reasoner(self) -> str:
        """Who reasons, in words."""
        return self.thinking.note

    async def close(self) -> None:
        """Waits for running loads, then lets go of the endpoint and the database."""
        await asyncio.to_thread(self.jobs.close)
        await self.thinking.close()
        self.store.close()


def build(settings: Settings, thinking: Thinking | None = None) -> Services:
    """All of it; a few seconds, since the embedding model is loaded. Raises what `open_store` raises, and OSError.

    Only tests and the evaluation bring a `thinking` of their own; the guard stands before it all the same.
    """
    store = open_store(settings)
    thinking = thinking or think(settings)
    store.catalog.when_opened(thinking.warm)
    store.catalog.name_concepts_by(thinking.name_concepts)
    _delete_uploads(store.incoming)
    jobs = JobRunner(store.engine, DataFolder(settings.data_dir).id)
    jobs.mark_interrupted()
    if english := _reads_english_alone(settings):
        threading.Thread(target=read_words, name="words of languages", daemon=True).start()
    return Services(
        store=store,
        chat=ChatService(
            catalog=store.catalog,
            conversations=store.conversations,
            ledger=store.ledger,
            reasoner=thinking.reasoner,
            strategies=thinking.strategies,
            statics=_statics(thinking),
            remark_on=remark_on if english else lambda _question: None,
            currency=settings.currency,
            budgets=store.budgets,
            recogniser=_recogniser_of(settings),
            profile=Profile(settings.told),
            disclosure=_disclosure_of(settings, thinking),
        ),
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
    )


def _disclosure_of(settings: Settings, thinking: Thinking) -> Disclosure:
    """Where nothing leaves the house, nothing is counted, unless the profile is set."""
    if settings.reasoner == "embedded" and settings.profile is None:
        return IN_THE_HOUSE
    return Disclosure(True, settings.disclosure_k, settings.about_few, thinking.in_house)


def _recogniser_of(settings: Settings) -> Recogniser | None:
    """Raises SettingsProblem: a service that should have a recogniser does not start without it."""
    try:
        return None if settings.recogniser is None else open_recogniser(settings.recogniser)
    except RecogniserProblem as problem:
        raise SettingsProblem(str(problem)) from None


def _reads_english_alone(settings: Settings) -> bool:
    """Whether nothing but the English model in the box reads questions."""
    return settings.reasoner == "embedded" and settings.embedder == BOXED_MODEL


def graphs_of(store: Store) -> GraphAdmin:
    """The graphs alone, for commands; the model is loaded when a graph is."""
    namer = ConceptNamer(Embedder(store.settings.embedder, store.settings.cache_dir))
    return GraphAdmin(
        store.catalog,
        store.conversations,
        namer.name,
        store.settings.max_unpacked_bytes,
        store.settings.disclosure_k,
    )


def forgetter_of(store: Store, name_concepts: NameConcepts | None = None) -> Forgetter:
    """For commands the model that names concepts is loaded when it is needed."""
    settings = store.settings
    return Forgetter(
        store.catalog,
        store.conversations,
        store.upkeep,
        store.engine,
        store.master,
        settings.data_dir,
        store.incoming,
        name_concepts or ConceptNamer(Embedder(settings.embedder, settings.cache_dir)).name,
    )


def refiner_of(store: Store, thinking: Thinking) -> ConceptRefiner:
    """Raises SettingsProblem where no endpoint is set up: the embedded reasoner named the concepts already."""
    settings = store.settings
    if settings.reasoner != "endpoint":
        raise SettingsProblem("concepts are named anew by a model endpoint: set AROG_REASONER=endpoint and its URL")
    price = thinking.endpoints[0].price if thinking.endpoints else None
    return ConceptRefiner(
        store.catalog,
        store.ledger,
        thinking.reasoner,
        NAME,
        _statics(thinking),
        store.budgets,
        Tariff(price, settings.currency),
    )


def think(settings: Settings) -> Thinking:
    """The reasoner and the strategies of the settings; loads the embedding model."""
    embedder = Embedder(settings.embedder, settings.cache_dir)
    try:
        embedder.load()
    except (OSError, ValueError):
        raise SettingsProblem(
            "the sentence model of AROG_EMBEDDER can't be loaded: name a folder that holds one, or leave it out"
        ) from None
    strategies: dict[str, Strategy] = {"sets": SetsStrategy(embedder), "arog": ArogStrategy(embedder)}
    kinds = (STEP, *AROG_TASKS)
    warming = Warming(embedder)

    def name_concepts(schema: Schema) -> Sequence[str]:
        """What the first question needs is made while the load ends."""
        concepts = ConceptNamer(embedder).name(schema)
        warming.begin(schema)
        return concepts

    endpoints = endpoints_of(settings) if settings.reasoner == "endpoint" else []
    reasoner, note = _reasoner_of(settings, embedder, endpoints)

    async def close() -> None:
        await asyncio.to_thread(warming.close)
        for endpoint in endpoints:
            await endpoint.close()

    in_house = EmbeddedReasoner(embedder, head=_head_of(settings))
    return Thinking(reasoner, strategies, kinds, name_concepts, note, close, warming.begin, endpoints, in_house)


def _reasoner_of(settings: Settings, embedder: Embedder, endpoints: Sequence[ModelEndpoint]) -> tuple[Reasoner, str]:
    """The reasoner and its note."""
    if settings.reasoner == "embedded":
        return EmbeddedReasoner(embedder, head=_head_of(settings)), "embedded"
    first, *fallbacks = endpoints
    is_salted = any(endpoint.wording.is_salted for endpoint in endpoints)
    salt_key = read_master_key(settings).derived("cache salt") if is_salted else b""
    return PromptedReasoner(first, embedder, fallbacks, salt_key), "endpoint"


def _head_of(settings: Settings) -> Head:
    """Raises SettingsProblem for a file that is no head of the settings' sentence model."""
    if settings.reasoner_head is None:
        return NO_HEAD
    try:
        return read_head(settings.reasoner_head, settings.embedder)
    except HeadProblem as problem:
        raise SettingsProblem(f"AROG_REASONER_HEAD: {problem}") from None


def read_master_key(settings: Settings) -> MasterKey:
    """The key ring from the environment, else from its file. Raises KeyProblem with what to do."""
    if settings.master_key is not None:
        return MasterKey.from_text(settings.master_key.get_secret_value())
    if not settings.key_file.exists():
        raise KeyProblem(
            "no master key: set AROG_MASTER_KEY or AROG_MASTER_KEY_FILE to the one that sealed this folder; for a "
            "folder without graphs `arog serve --init` writes a new one"
        )
    return MasterKey.from_file(settings.key_file)


def open_store(settings: Settings) -> Store:
    """The data folder and its database, migrated. Raises KeyProblem, StoreError, SettingsProblem."""
    master = read_master_key(settings)
    make_data_folder(settings)
    try:
        engine = make_engine(settings.database)
        migrate(engine)
    except ImportError:
        raise SettingsProblem("the driver that AROG_DATABASE_URL names is not installed") from None
    except DatabaseExposed:
        raise SettingsProblem(
            "others may read the database's file, and this user may not change that: give the file to this user"
        ) from None
    except (SQLAlchemyError, ArgumentError):
        raise SettingsProblem("the database of AROG_DATABASE_URL can't be opened or migrated") from None
    catalog = Catalog(settings.data_dir, engine, master, request_words())
    if not catalog.key_fits():
        engine.dispose()
        raise KeyProblem("the master key opens none of the graphs in this folder: set the one that sealed them")
    return Store(
        settings=settings,
        engine=engine,
        master=master,
        catalog=catalog,
        access=Access(engine, settings.admin_key),
        devices=Devices(engine, settings.require_devices),
        conversations=ConversationStore(engine, master, settings.conversation_days),
        ledger=Ledger(engine, master),
        upkeep=LedgerUpkeep(engine, master),
    )


def _statics(thinking: Thinking) -> StaticSegments:
    """Our own words in every request, which the guard may subtract; registered before any question."""
    statics = StaticSegments()
    for kind in thinking.kinds:
        for segment in thinking.reasoner.statics_of(kind):
            statics.register(segment)
    return statics


def _delete_uploads(folder: Path) -> None:
    """Uploads of a process that was killed lie there in clear."""
    shutil.rmtree(folder, ignore_errors=True)


def _row(entry: LedgerEntry) -> LedgerRow:
    return LedgerRow(
        id=entry.id,
        at=entry.at,
        answer=entry.answer,
        conversation=entry.conversation,
        step=entry.step,
        size=entry.size,
        digest=entry.digest,
        verdict=entry.verdict,
        payload=None if entry.payload is None else entry.payload.decode("utf-8", "replace"),
    )
