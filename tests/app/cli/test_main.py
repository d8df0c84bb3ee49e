"""The service's commands: graphs and keys on the data folder, failures as sentences, and a first start."""

from __future__ import annotations

import gc
import socket
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from app.accounts.api_keys import Access
from app.api.problems import error_body
from app.cli import serve
from app.cli.first_checks import prepare_folder
from app.cli.serve import demo_key_file
from app.database.engine import make_engine
from app.settings import Settings, load_settings
from app.wiring import services as wiring
from client_sdk.protocol import EndpointState, EndpointStatus
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Schema
from tests.support.commands import Namer, arog, work_in
from tests.support.languages import english
from tests.support.service import CLINIC, ScriptedReasoner, close_nothing

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work_in(tmp_path, monkeypatch, master_key=MasterKey.generate())
    (tmp_path / "clinic.ttl").write_text(CLINIC)
    return tmp_path


def test_a_graph_is_loaded_listed_and_deleted(folder: Path) -> None:
    loaded = arog("graph", "load", "clinic", "clinic.ttl")
    assert loaded.exit_code == 0, loaded.output
    assert "clinic: 3 triples, 3 entities, 0 values, 2 relations" in loaded.stdout
    assert "proposed one was used" in loaded.stderr
    assert "clinic" in arog("graph", "list").stdout
    assert "clinic" not in arog("graph", "list", "--tenant", "south").stdout
    assert arog("graph", "delete", "clinic", typed="n\n").exit_code == 1
    assert arog("graph", "delete", "clinic", typed="y\n").exit_code == 0
    gone = arog("graph", "delete", "clinic", "--yes")
    assert gone.exit_code == 2
    assert gone.stderr.startswith("arog: no graph of that name")


def test_inspect_shows_what_a_model_would_see_and_proposes_a_policy(folder: Path) -> None:
    seen = arog("graph", "inspect", "clinic.ttl")
    assert seen.exit_code == 0, seen.output
    assert "Valdis Ozolkrasts  ->  E" in seen.stderr
    assert "treated by  ->  E" in seen.stderr
    assert "rdf-schema#label" in seen.stdout
    assert "Valdis" not in seen.stdout
    assert not (folder / "data").exists()
    assert arog("graph", "inspect", "clinic.ttl", "--out", "clinic.toml").exit_code == 0
    assert arog("graph", "inspect", "clinic.ttl", "--policy", "clinic.toml").stdout == ""
    again = arog("graph", "load", "clinic", "clinic.ttl", "--policy", "clinic.toml")
    assert again.exit_code == 0
    assert "proposed" not in again.output


def test_a_short_list_of_triples_is_refused_until_it_is_called_one(folder: Path) -> None:
    (folder / "links.csv").write_text("Nora Quist,knows,Valdis Ozolkrasts\nNora Quist,cousin of,Ida Storm\n")
    for command in (("inspect",), ("load", "links")):
        told = arog("graph", *command, "links.csv")
        assert told.exit_code == 2
        assert "say in the policy which it is" in told.stderr
        assert "Nora" not in told.output
    assert "Relations a model would see: cousin of, knows" in arog("graph", "inspect", "links.csv", "--triples").stderr
    loaded = arog("graph", "load", "links", "links.csv", "--triples")
    assert loaded.exit_code == 0, loaded.output
    assert "2 triples, 3 entities" in loaded.stdout
    (folder / "links.toml").write_text("[[triples]]\n")
    assert arog("graph", "load", "links", "links.csv", "--policy", "links.toml").exit_code == 0


def test_what_is_masked_is_shown_to_the_owner_by_inspect_and_counted_by_load(folder: Path) -> None:
    (folder / "told.ttl").write_text(CLINIC + ":p1 :approvedByBrackwede :p2 ; a :PatientOfBrackwede .\n")
    seen = arog("graph", "inspect", "told.ttl").stderr
    assert "Masked, relation that holds a word that is not a common English one: approved by brackwede" in seen
    assert "Masked, class that holds a word that is not a common English one: patient of brackwede" in seen
    # As a model would see it.
    assert "brackwede" not in seen.split("Masked, ")[0].lower()
    loaded = arog("graph", "load", "told", "told.ttl")
    assert "1 relation masked by default: each holds a word that is not a common English one" in loaded.stderr
    assert "brackwede" not in loaded.output.lower()


@pytest.mark.parametrize("command", [("load", "bad", "broken.ttl"), ("inspect", "broken.ttl")])
def test_a_broken_file_is_told_by_file_and_line(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "broken.ttl").write_text(CLINIC + ':p9 rdfs:label "Nora Lindqvist .\n')
    told = arog("graph", *command)
    assert told.exit_code == 2
    assert "arog: broken.ttl, line " in told.stderr
    assert "Nora" not in told.output
    assert "Traceback" not in told.output


def test_an_unknown_error_is_told_by_type_and_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, schema: Schema) -> Sequence[str]:
        raise ValueError("Nora Lindqvist")

    monkeypatch.setattr(Namer, "name", fail)
    told = arog("graph", "load", "clinic", "clinic.ttl")
    assert told.exit_code == 1
    assert "arog: ValueError at " in told.stderr
    assert "Nora" not in told.output


def test_a_key_is_made_listed_and_revoked(folder: Path) -> None:
    made = arog("api-key", "create", "--grant", "clinic", "--grant", "films", "--days", "2")
    key = made.stdout.strip()
    assert key.startswith("arog_")
    settings = load_settings()
    engine = make_engine(settings.database)
    caller = Access(engine).authenticate(key)
    engine.dispose()
    assert caller.grants == {"clinic", "films"}
    listed = arog("api-key", "list").stdout
    assert caller.key_id in listed
    assert "clinic, films" in listed
    assert key not in listed
    assert arog("api-key", "revoke", caller.key_id).exit_code == 0
    assert "revoked" in arog("api-key", "list").stdout
    assert "There is no key with that id." in arog("api-key", "revoke", "k0").stderr


@pytest.mark.parametrize(
    ("setting", "value", "commands", "told"),
    [
        ("ADMIN_KEY", "change-me", [("api-key", "list"), ("serve",)], "AROG_ADMIN_KEY is an example or too simple"),
        ("HOST", "192.0.2.1", [("serve",)], "the address of AROG_HOST does not belong to this machine"),
        ("DATA_DIR", "clinic.ttl", [("serve",), ("graph", "list")], "the folder of AROG_DATA_DIR can't be made"),
    ],
)
def test_a_setting_that_can_not_be_is_told_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, commands: list[tuple[str]], told: str
) -> None:
    monkeypatch.setenv(f"AROG_{setting}", value)
    for command in commands:
        refused = arog(*command)
        assert refused.exit_code == 2
        assert refused.stderr.startswith(f"arog: {told}")


def test_a_port_that_is_taken_is_told_before_anything_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("AROG_PORT", str(port))
        told = arog("serve")
    assert (told.exit_code, told.stderr.startswith(f"arog: port {port} is taken")) == (2, True)


def test_a_key_for_a_graph_that_is_not_there_is_made_with_a_word_about_it(folder: Path) -> None:
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    assert "'clinik'" in arog("api-key", "create", "--grant", "clinik").stderr
    assert "no graph" not in arog("api-key", "create", "--grant", "clinic", "--grant", "*").stderr


def test_without_a_master_key_nothing_starts_but_in_a_new_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AROG_MASTER_KEY")
    (folder / "data").mkdir()
    (folder / "data" / "something").touch()
    told = arog("serve")
    assert told.exit_code == 2
    assert told.stderr.startswith("arog: no master key: set AROG_MASTER_KEY")
    assert not (folder / "data" / "master.key").exists()


@pytest.mark.parametrize(
    ("content", "init", "written"), [(False, False, True), (True, False, False), (True, True, True)]
)
def test_a_master_key_is_written_into_a_new_folder_or_on_demand(
    tmp_path: Path, content: bool, init: bool, written: bool
) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data")
    if content:
        settings.data_dir.mkdir()
        (settings.data_dir / "arog.db").touch()
    assert (prepare_folder(settings, init) == settings.key_file) is written
    assert settings.key_file.exists() is written
    if not content:
        assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
    if written:
        assert stat.S_IMODE(settings.key_file.stat().st_mode) == 0o600
        before = settings.key_file.read_text()
        MasterKey.from_file(settings.key_file)
        assert prepare_folder(settings, init=True) is None
        assert settings.key_file.read_text() == before


def test_searches_for_cycles_leave_out_what_a_served_process_keeps(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = object()
    monkeypatch.setattr(serve, "build_and_prepare", lambda *_given: built)
    try:
        assert serve.ServedApplication(load_settings(), with_demo=False).build(load_settings()) is built
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_the_demo_key_is_kept_and_made_anew_when_it_has_ended(folder: Path) -> None:
    store = wiring.open_store(load_settings())
    path = demo_key_file(store.settings, store.access)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = path.read_text()
    assert demo_key_file(store.settings, store.access).read_text() == key
    caller = store.access.authenticate(key.strip())
    assert (caller.grants, caller.role) == ({"demo", "inspect:demo"}, "user")
    store.access.revoke("default", caller.key_id)
    assert demo_key_file(store.settings, store.access).read_text() != key
    store.close()


@pytest.fixture
def services(folder: Path) -> Iterator[wiring.Services]:
    settings = load_settings()
    services = wiring.build(
        settings,
        error_body,
        wiring.ReasonerBundle(ScriptedReasoner(), english(), {}, (), Namer(None).name, "embedded", close_nothing),
    )
    yield services
    services.store.close()


def test_the_demo_key_is_there_before_the_service_is_ready(
    services: wiring.Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "build_services", lambda _settings: services)
    assert serve.build_and_prepare(services.store.settings, with_demo=True) is services
    caller = services.store.access.authenticate(Path("data/demo.key").read_text().strip())
    assert caller.grants == {"demo", "inspect:demo"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "AROG_PROFILE=kind, the default for an endpoint, since it is not trusted"),
        ({"profile": "open"}, "AROG_PROFILE=open, as you set it"),
        ({"reasoner": "embedded"}, ""),
    ],
)
def test_serve_says_what_an_endpoint_is_told_and_by_whose_choice(
    services: wiring.Services, changes: dict[str, str], told: str
) -> None:
    settings = services.store.settings.model_copy(update={"reasoner": "endpoint", **changes})
    lines = "\n".join(serve.how_to_ask(settings, services))
    assert told in lines
    assert ("AROG_PROFILE" in lines) == bool(told)


def test_a_folder_is_read_file_by_file_and_what_is_left_out_is_told(folder: Path) -> None:
    deep = folder / "ward" / "deep"
    deep.mkdir(parents=True)
    (folder / "clinic.ttl").rename(deep / "clinic.ttl")
    (folder / "ward" / "LICENSE").write_text("free")
    (folder / "ward" / ".hidden.ttl").write_text("broken")
    loaded = arog("graph", "load", "clinic", "ward")
    assert loaded.exit_code == 0, loaded.output
    assert "clinic: 3 triples" in loaded.stdout
    assert "Not read, by their endings: LICENSE" in loaded.stderr
    (deep / "clinic.ttl").unlink()
    empty = arog("graph", "inspect", "ward")
    assert empty.exit_code == 2
    assert "the folder ward holds no file that can be read" in " ".join(empty.stderr.replace("│", " ").split())


def test_an_endpoint_that_can_not_be_used_is_told_once_and_again_when_it_can(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def found(state: EndpointState, problem: str = "") -> None:
        tell(EndpointStatus(position=2, state=state, problem=problem), "box:11434")

    tell = serve.EndpointWarnings()
    found("ready")
    assert capsys.readouterr().err == ""
    found("unreachable", "connection refused")
    told = capsys.readouterr().err
    assert told.startswith("Warning: model endpoint 2 at box:11434 can't be used: connection refused. ")
    assert "AROG_ENDPOINT_URL" in told
    found("ready")
    found("ready")
    assert capsys.readouterr().err.count("Model endpoint 2 at box:11434 can be used now.") == 1
