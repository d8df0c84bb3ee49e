"""`arog graph forget`: a person is taken out of everything that is kept, whenever it is killed, and others stay."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import select

from app.chat.conversations import UnknownConversationError
from app.database.tables import conversations
from app.egress.ledger.chain import ledger_entries, ledger_replies
from app.egress.ledger.ledger import LedgerEntry, LedgerReply
from app.egress.ledger.verification import check
from app.settings import load_settings
from app.wiring.store import ServiceContext, open_store
from evaluation.checks.canaries import PREFIXES, canaries_in
from kg_store.storage.master_key import bind
from kg_store.storage.tables import erasures, forgotten_things, vault_entries
from kg_store.storage.vault import VaultScope, parts_in
from kg_store.terms import Mid, ValueKind
from tests.support.commands import arog, work_with_ring, write_ring
from tests.support.processes.forking import ForkingProcess, forking

pytestmark = pytest.mark.slow

GRAPH = (
    PREFIXES
    + """
:p1 a :Patient ; rdfs:label "Vexquilda Thrombury" ; skos:altLabel "Quillowmere" ; :ssn "536-22-8174" ;
    :salary 4841739.25 ; :dateOfBirth "1961-07-23"^^xsd:date ; :treatedBy :d1 ; :livesIn :a1 ; :dossier "Snickelby-9" ;
    :remark "Told in confidence to the neighbour Plumbrechtson." .
:p2 a :Patient ; rdfs:label "Klautrix Ozolkrasts" ; :dateOfBirth "1961-07-23"^^xsd:date ; :treatedBy :d1 ;
    :note "A friend of Vexquilda Thrombury, they say." .
:p3 a :Patient ; rdfs:label "Klautrix Ozolkrasts" ; :dateOfBirth "1977-01-02"^^xsd:date ; :treatedBy :d1 .
:d1 a :Doctor ; rdfs:label "Orvindel Jaskworthy" .
:a1 a :Address ; rdfs:label "12 Grizzlewick Walk" .
[] :of :p1 ; :by :d1 ; :on "2020-03-12"^^xsd:date .
"""
)
POLICY = '[relations."http://house.invalid/dossier"]\nhide = true\n'
HERS = (
    "Vexquilda",
    "Thrombury",
    "Quillowmere",
    "536-22-8174",
    "4841739.25",
    "Snickelby",
    "Plumbrechtson",
    "Grizzlewick",
)
HERS_ALONE = tuple(name for name in HERS if name not in ("Vexquilda", "Thrombury"))


def load(tmp_path: Path) -> Path:
    """The data folder of a graph that is loaded there."""
    write_ring(tmp_path)
    (tmp_path / "house.ttl").write_text(GRAPH)
    (tmp_path / "policy.toml").write_text(POLICY)
    loaded = arog("graph", "load", "house", "house.ttl", "--policy", "policy.toml")
    assert loaded.exit_code == 0, loaded.output
    return tmp_path / "data"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loaded once: each test gets a copy."""
    folder = tmp_path_factory.mktemp("loaded")
    with pytest.MonkeyPatch.context() as monkeypatch:
        work_with_ring(folder, monkeypatch)
        load(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: Path) -> Path:
    shutil.copytree(loaded, tmp_path, dirs_exist_ok=True)
    work_with_ring(tmp_path, monkeypatch)
    return tmp_path / "data"


@pytest.fixture
def folder_of_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str | None) -> Path:
    work_with_ring(tmp_path, monkeypatch, database)
    return load(tmp_path)


def mid_of(store: ServiceContext, name: str) -> Mid:
    records = store.catalog.open("default", "house").vault.all_records()
    return Mid(next(mid for mid, record in records if name in (*record.names, record.lexical)))


def talk(store: ServiceContext, *mids: Mid, text: str = "Does Eq7f2k know her?", typed: str = "") -> str:
    """A conversation that has met these things, with one request and its reply in the ledger; its id."""
    schema = store.catalog.open("default", "house").blind.schema
    talked = store.conversations.open("default", "k1", "house", None, schema)
    for mid in mids:
        talked.table.of_entity(mid)
    if typed:
        talked.table.of_literal(typed, ValueKind.TEXT)
    store.conversations.save(talked, schema)
    body = text.encode()
    entry = LedgerEntry(
        "default", "k1", "a", talked.id, "step", len(body), sha256(body).hexdigest(), "clear", payload=body
    )
    store.ledger.record(entry)
    store.ledger.record_replies([LedgerReply(entry, "used", "It is Vx81zp.")])
    return talked.id


def everything_opened(store: ServiceContext) -> bytes:
    """All that the master key opens, written down without the code that erases or scans."""
    opened: list[bytes] = []
    master, catalog = store.master, store.catalog
    kept = [catalog.history.open(row) for row in catalog.history.kept("default", "house")]
    stored = [each for each in (catalog.open("default", "house"), *kept) if each is not None]
    for graph in stored:
        opened += [repr(each).encode() for each in graph.vault.all_records()]
        opened += [repr([(record.names, record.lexical) for _, record in graph.vault.all_records()]).encode()]
        folder = Path(os.environ["AROG_DATA_DIR"]) / "graphs" / graph.version
        for file in ("names.sealed", "schema.sealed", "words.sealed"):
            sealed = (folder / file).read_bytes()
            opened.append(master.open(file, bind("default", "house", graph.version), sealed))
    with store.engine.connect() as connection:
        versions = set(connection.execute(select(vault_entries.c.version_id).distinct()).scalars())
        assert versions == {each.version for each in stored}
        for row in connection.execute(select(conversations)):
            opened.append(master.open("conversation", bind(row.tenant, row.key_id, row.graph, row.id), row.sealed))
    entries = store.ledger.entries("default", limit=1000)
    opened += [entry.payload for entry in entries if entry.payload is not None]
    opened += [(reply.text or "").encode() for reply in store.ledger.replies_to(entries).values()]
    return b"\n".join(opened)


def raw(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def is_whole(store: ServiceContext) -> bool:
    return check(store.engine, store.master, store.upkeep.signer, "default").is_whole


@pytest.mark.process
def test_a_person_is_gone_from_all_that_is_kept_and_others_stay(folder_of_either: Path) -> None:
    store = open_store(load_settings())
    met = talk(store, mid_of(store, "Vexquilda Thrombury"))
    of_address = talk(store, mid_of(store, "12 Grizzlewick Walk"))
    typed = talk(store, typed="quillowmere")
    guessed = talk(store, text="Is it Quillowmere, or \\u0051uillowmere?")
    other = talk(store, mid_of(store, "Orvindel Jaskworthy"))
    sealed_before = rows_of_hers(store)
    assert set(canaries_in(everything_opened(store), HERS)) == set(HERS)
    store.close()
    told = arog("graph", "forget", "house", "vexquilda THROMBURY", "--yes", "--with-mentions", "--wait", "5")
    assert told.exit_code == 0, told.output
    assert "3 conversations and the texts of 4 requests went with them" in told.stdout
    assert "in 0 of " in told.stdout
    assert canaries_in(told.output.encode(), HERS) == []
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store), HERS) == []
    left = raw(folder_of_either)
    assert canaries_in(left, HERS) == []
    # Not even sealed: no page of the database, free or not, and no log of its changes has a row of hers.
    assert sealed_before
    assert [row for row in sealed_before if row in left] == []
    schema = store.catalog.open("default", "house").blind.schema
    for conversation in (met, of_address, typed):
        with pytest.raises(UnknownConversationError):
            store.conversations.open("default", "k1", "house", conversation, schema)
    for conversation in (guessed, other):
        store.conversations.open("default", "k1", "house", conversation, schema)
    kept = {entry.conversation: entry.payload for entry in store.ledger.entries("default")}
    assert {conversation for conversation, payload in kept.items() if payload is not None} == {other}
    assert len(kept) == 5
    assert is_whole(store)
    graph = store.catalog.open("default", "house")
    values = [record.lexical for _, record in graph.vault.all_records()]
    assert "1961-07-23" in values
    assert sum("Klautrix Ozolkrasts" in record.names for _, record in graph.vault.all_records()) == 2
    assert [hit for name in HERS for hit in graph.names.find_secret(name)] == []
    assert graph.linker.find_mentions("Vexquilda Thrombury") == []
    with store.engine.connect() as connection:
        assert connection.execute(select(erasures)).all() == []
    store.close()


def rows_of_hers(store: ServiceContext) -> list[bytes]:
    """The sealed rows of the vault that hold a record which is to go."""
    opened = store.catalog.open("default", "house")
    going = set(store.catalog.closure_of_removal(opened, [mid_of(store, "Vexquilda Thrombury")]).mids.tolist())
    context = VaultScope("default", "house", opened.version).context()
    with store.engine.connect() as connection:
        query = select(vault_entries.c.mid, vault_entries.c.sealed)
        rows = connection.execute(query.where(vault_entries.c.version_id == opened.version)).all()
    plain = {row.sealed: store.master.open("vault", context + row.mid.to_bytes(8, "big"), row.sealed) for row in rows}
    return [sealed for mid, sealed in rows if going & {each for each, _ in parts_in(mid, plain[sealed])}]


def test_a_dry_run_tells_what_would_go_and_changes_nothing(folder: Path) -> None:
    store = open_store(load_settings())
    talk(store, mid_of(store, "Vexquilda Thrombury"))
    before = store.catalog.graphs("default")
    told = arog("graph", "forget", "house", "Quillowmere", "--dry-run")
    assert told.exit_code == 0, told.output
    assert told.stdout.splitlines() == [
        "1 things go, with 3 names and 9 facts",
        "with them 5 values that nobody else has, 1 mediators that joined them to others, 1 things that hung on them "
        "alone",
        "1 conversations in which they were met, and the texts of 1 requests",
        "what they had facts with stays: 1 of kind doctor",
        "1 names or values of others hold one of the names, and stay as they are",
    ]
    assert store.catalog.graphs("default") == before
    with store.engine.connect() as connection:
        assert connection.execute(select(forgotten_things)).all() == []
    assert arog("graph", "forget", "house", "Quillowmere", typed="n\n").exit_code == 1
    assert store.catalog.graphs("default") == before
    store.close()


def test_names_of_others_that_hold_the_name_are_told_and_stay(folder: Path) -> None:
    told = arog("graph", "forget", "house", "-", "--yes", typed="Vexquilda Thrombury\n")
    assert told.exit_code == 0, told.output
    assert "1 names or values of others hold one of its names, and stay as they are" in told.stdout
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store), HERS) == ["Vexquilda", "Thrombury"]
    assert canaries_in(everything_opened(store), HERS_ALONE) == []
    store.close()


def test_an_ambiguous_name_is_told_apart_and_asks_for_an_id(folder: Path) -> None:
    told = arog("graph", "forget", "house", "Klautrix Ozolkrasts", "--yes")
    assert told.exit_code == 2
    lines = [line for line in told.stderr.splitlines() if "--id" in line and "patient" in line]
    assert len(lines) == 2
    wanted = next(line for line in lines if "1977-01-02" in line).split()[2]
    done = arog("graph", "forget", "house", "Klautrix Ozolkrasts", "--id", wanted, "--yes")
    assert done.exit_code == 0
    assert "1 of its names are others' too, and stay for them: not looked for" in done.stdout
    store = open_store(load_settings())
    assert "1977-01-02" not in everything_opened(store).decode("utf-8", "replace")
    # The one of that name who stays keeps it.
    assert mid_of(store, "Klautrix Ozolkrasts")
    store.close()


def test_an_id_of_the_source_names_one_thing(folder: Path) -> None:
    told = arog("graph", "forget", "house", "http://house.invalid/p3", "--yes", "--with-kind", "doctor")
    assert told.exit_code == 0, told.output
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store), ["1977-01-02", "Jaskworthy"]) == []
    assert "2 things are forgotten" in told.stdout
    store.close()


def test_a_name_that_is_not_there_is_told_and_so_is_a_graph(folder: Path) -> None:
    for arguments in (["house", "Wendolphine"], ["house", "Quillowmere", "--with-kind", "wendolphine"], ["house"]):
        told = arog("graph", "forget", *arguments, "--yes")
        assert told.exit_code == 1
        assert "nothing of that name" in told.stderr
        assert "endolphine" not in told.output
    assert "no graph of that name" in arog("graph", "forget", "elsewhere", "Quillowmere", "--yes").stderr


def test_the_same_source_does_not_bring_a_person_back_unless_that_is_lifted(folder: Path) -> None:
    arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--with-mentions", "--wait", "5")
    again = arog("graph", "load", "house", "house.ttl", "--policy", "policy.toml")
    assert "2 things of the source were forgotten in this graph earlier, and are left out" in again.stderr
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store), HERS) == []
    assert "│ 1      │" in arog("graph", "forgotten", "house").stdout
    assert "2 things may come back" in arog("graph", "forgotten", "house", "--lift", "1").stdout
    store.close()
    arog("graph", "load", "house", "house.ttl", "--policy", "policy.toml")
    assert set(canaries_in(everything_opened(store), HERS)) == set(HERS)
    store.close()


def test_an_upload_that_was_never_loaded_goes_too(folder: Path) -> None:
    left, fresh = folder / "incoming" / "u1" / "0.ttl", folder / "incoming" / "u2" / "0.ttl"
    for path in (left, fresh):
        path.parent.mkdir(parents=True)
        path.write_text(GRAPH)
    os.utime(left, (time.time() - 3600,) * 2)
    told = arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--with-mentions", "--wait", "5")
    # One that is still being loaded, perhaps, is told and not touched.
    assert told.exit_code == 1
    assert "traces are left: 0 of" in told.stderr
    assert " 1 of " in told.stderr
    assert not left.exists()
    fresh.unlink()
    again = arog("graph", "forget", "house", "--yes")
    assert again.exit_code == 0, again.output
    assert canaries_in(raw(folder), HERS) == []


def test_who_still_reads_the_version_before_is_waited_for(folder: Path) -> None:
    store = open_store(load_settings())
    held = store.catalog.open("default", "house")
    told = arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--wait", "0")
    assert told.exit_code == 1
    assert "still reads the version before" in told.stderr
    assert canaries_in(repr([record.names for _, record in held.vault.all_records()]).encode(), HERS_ALONE) == []
    del held
    store.catalog.release_replaced_versions()
    assert arog("graph", "forget", "house", "vexquilda thrombury", "--yes", "--wait", "0").exit_code == 0
    store.close()


KILLED_AT = (
    "kg_store.storage.versions.ForgottenRows.keep",
    "kg_store.version_builder.write_records",
    "kg_store.storage.versions.GraphRows.supersede",
    "kg_store.catalog.Catalog.delete_retired_records",
    "kg_store.storage.versions.GraphRows.forget",
    "app.graphs.erasure.eraser.requests_about",
    "app.chat.conversations.ConversationStore.forget",
    "app.graphs.erasure.eraser.look_for",
    "kg_store.storage.versions.ForgottenRows.end",
)
FORGETS = """
import importlib, signal, tempfile
from tests.app.graphs.erasure.test_eraser import Path, arog, load, pytest
from tests.support.commands import Namer, chats, work_with_ring
# So that no fork loads again what all of them need.
with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
    work_with_ring(Path(folder), patched)
    load(Path(folder))
chats.namer_of = lambda _settings: Namer(None).name
def forget(place):
    module, _, name = place.rpartition(".")
    try:
        holder = importlib.import_module(module)
    except ModuleNotFoundError:
        module, _, owner = module.rpartition(".")
        holder = getattr(importlib.import_module(module), owner)
    getattr(holder, name)
    setattr(holder, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--with-mentions", "--wait", "5")
"""


@pytest.fixture(scope="module")
def forgetting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkingProcess]:
    with forking(tmp_path_factory.mktemp("forgetting"), FORGETS, "forget") as process:
        yield process


@pytest.mark.process
@pytest.mark.parametrize("place", KILLED_AT)
def test_killed_at_any_step_the_graph_is_whole_and_the_next_call_goes_on(
    folder: Path, forgetting: ForkingProcess, place: str
) -> None:
    store = open_store(load_settings())
    talk(store, mid_of(store, "Vexquilda Thrombury"))
    other = talk(store, mid_of(store, "Orvindel Jaskworthy"), text="Quillowmere?")
    store.close()
    assert forgetting.run(place) == -signal.SIGKILL, forgetting.printed.read_text()
    store = open_store(load_settings())
    graph = store.catalog.open("default", "house")
    # One of them is the word of the hidden relation.
    assert len(list(graph.vault.all_records())) in (15, 6)
    assert mid_of(store, "Orvindel Jaskworthy")
    assert is_whole(store)
    del graph
    store.close()
    again = arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes")
    assert again.exit_code == 0, again.output
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store), HERS) == []
    assert canaries_in(raw(folder), HERS) == []
    assert is_whole(store)
    schema = store.catalog.open("default", "house").blind.schema
    store.conversations.open("default", "k1", "house", other, schema)
    with store.engine.connect() as connection:
        assert connection.execute(select(ledger_entries.c.id).where(ledger_entries.c.sealed.is_not(None))).all() == []
        assert (
            connection.execute(select(ledger_replies.c.entry).where(ledger_replies.c.sealed.is_not(None))).all() == []
        )
    store.close()


OLDER = GRAPH.replace(":p1", ":q1").replace("Quillowmere", "Quillowmere the Elder")
WITHOUT_HER = PREFIXES + ':d1 a :Doctor ; rdfs:label "Orvindel Jaskworthy" ; :knows :d2 . :d2 a :Doctor .'


@pytest.mark.parametrize(("first", "left"), [(GRAPH, 2), (OLDER, 1)])
def test_no_rollback_brings_back_who_was_erased(folder: Path, first: str, left: int) -> None:
    for text in (first, GRAPH):
        (folder.parent / "house.ttl").write_text(text)
        assert arog("graph", "load", "house", "house.ttl", "--policy", "policy.toml").exit_code == 0
    store = open_store(load_settings())
    assert set(canaries_in(everything_opened(store), HERS)) == set(HERS)
    store.close()
    told = arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--with-mentions", "--wait", "5")
    assert told.exit_code == 0, told.output
    store = open_store(load_settings())
    assert len(store.catalog.history.kept("default", "house")) == left
    assert canaries_in(everything_opened(store), HERS) == []
    assert canaries_in(raw(folder), HERS) == []
    store.close()
    for _ in range(left):
        back = arog("graph", "rollback", "house", "--yes")
        assert back.exit_code == 0, back.output
        assert canaries_in(back.output.encode(), HERS) == []
        store = open_store(load_settings())
        assert store.catalog.open("default", "house").linker.find_mentions("Quillowmere, Vexquilda Thrombury") == []
        assert canaries_in(everything_opened(store) + raw(folder), HERS) == []
        store.close()


def test_who_is_in_a_kept_version_alone_is_erased_from_it(folder: Path) -> None:
    (folder.parent / "house.ttl").write_text(WITHOUT_HER)
    assert arog("graph", "load", "house", "house.ttl").exit_code == 0
    told = arog("graph", "forget", "house", "Vexquilda Thrombury", "--yes", "--with-mentions", "--wait", "5")
    assert told.exit_code == 0, told.output
    assert "1 older versions were written anew without it" in told.stdout
    store = open_store(load_settings())
    assert canaries_in(everything_opened(store) + raw(folder), HERS) == []
    assert len(store.catalog.history.kept("default", "house")) == 1
    store.close()
