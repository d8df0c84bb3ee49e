"""Models over real HTTP, retries that wait for nothing, and the clinic: its indexes, anonymiser, guard and graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import stamina
from sqlalchemy import Engine

from app.database import engine as databases
from app.database.tables import metadata
from app.egress.guard import Guard, StaticSegments
from app.egress.ledger.chain import metadata as ledger_metadata
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.privacy.anonymised import Anonymised
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.words.lexicon import Lexicon
from app.wiring import chats, services
from app.wiring import store as stores
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.text.english import PublicWords
from tests.support.asking import Bench, bench_of
from tests.support.clinic import PHRASES, FakeGraph, dialogue, members, name_index, name_words
from tests.support.processes import postgres
from tests.support.processes.model_server import ModelServer, serving
from tests.support.sentence_model import digest_of, shared_embedder


@pytest.fixture(scope="session", autouse=True)
def migrated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The first store of a worker runs the migrations, a new SQLite database after it what they came to.

    `migrate` itself, other databases, and the services of other processes are as they were.
    """
    statements: list[str] = []

    def migrate(engine: Engine) -> None:
        if engine.dialect.name != "sqlite":
            databases.migrate(engine)
            return
        if not statements:
            first = databases.make_engine(f"sqlite:///{tmp_path_factory.mktemp('migrated')}/arog.db")
            databases.migrate(first)
            with first.connect() as connection:
                statements.extend(connection.connection.driver_connection.iterdump())  # type: ignore[union-attr]
            first.dispose()
        with engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0:
                for statement in statements[1:-1]:
                    connection.exec_driver_sql(statement)
                return
        databases.migrate(engine)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stores, "migrate", migrate)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_sentence_model() -> Iterator[None]:
    """The services of a worker take the same sentence model, where their settings name the same."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chats, "Embedder", shared_embedder)
        patched.setattr(services, "Embedder", shared_embedder)
        patched.setattr(services, "weights_digest_of", digest_of)
        yield


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A database with the tables of the service and of the ledger."""
    engine = databases.make_engine(f"sqlite:///{tmp_path / 'arog.db'}")
    metadata.create_all(engine)
    ledger_metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The URL of a database; none for the one in the data folder."""
    if request.param == "sqlite":
        yield None
        return
    with postgres.running() as url:
        yield url


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries come at once, and as often as the code says."""
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as running:
        yield running


@pytest.fixture
async def model(server: ModelServer, embedder: Embedder) -> AsyncIterator[PromptedReasoner]:
    """A model that replies as the test tells `server`."""
    endpoint = ModelEndpoint(server.url, "m", deadline_s=20)
    yield PromptedReasoner(endpoint, embedder)
    await endpoint.close()


@pytest.fixture(scope="session")
def bench(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A small clinic loaded as the service loads it, once a worker; each conversation about it is a test's own."""
    return bench_of(tmp_path_factory.mktemp("clinic"), embedder)


@pytest.fixture(scope="session")
def public() -> PublicWords:
    return PublicWords.of(PHRASES)


@pytest.fixture(scope="session")
def names(public: PublicWords) -> NameIndex:
    return name_index(public)


@pytest.fixture(scope="session")
def anonymiser(names: NameIndex, public: PublicWords) -> Anonymiser:
    return Anonymiser(EntityLinker(names), names, Lexicon(public, name_words()))


@pytest.fixture
def table() -> PseudonymTable:
    return PseudonymTable.new()


@pytest.fixture
def statics() -> StaticSegments:
    return StaticSegments()


@pytest.fixture
def guard(names: NameIndex, statics: StaticSegments, public: PublicWords) -> Guard:
    return Guard(names, statics, Lexicon(public, name_words()))


@pytest.fixture
def ask(anonymiser: Anonymiser, table: PseudonymTable) -> Callable[..., Anonymised]:
    """Anonymises a dialogue, given as turns, the user's first."""

    def anonymised(*turns: str) -> Anonymised:
        return anonymiser.anonymise(dialogue(*turns), table, lambda word: members(table, word))

    return anonymised


@pytest.fixture
def graph() -> FakeGraph:
    return FakeGraph()
