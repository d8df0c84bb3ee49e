"""Catalog: versions that swap at once, tenants that never meet, a disk that tells nothing, and kill -9."""

from __future__ import annotations

import base64
import gc
import json
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from kg_store.catalog import Catalog
from kg_store.errors import FormatTooNewError, LoadError, MasterKeyError, StoreError, UnknownGraphError
from kg_store.sources.policy import Policy
from kg_store.storage import data_folder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.tables import graph_versions, graphs, vault_entries
from kg_store.storage.vault import VaultScope
from kg_store.terms import Concept, Schema
from kg_store.version_builder import NAMES_FILE, read_names
from tests.support.processes.forking import forking
from tests.support.stores import (
    CLINIC,
    MASTER,
    PREFIXES,
    catalog_in,
    concepts_of,
    load_text,
    mid_of,
    reached_names,
    written,
)

pytestmark = pytest.mark.slow

SECOND = CLINIC.replace("Zofia Quarrel", "Zofia Married").replace(":weight 80", ":weight 81")


def rows_of(catalog: Catalog, table) -> int:  # type: ignore[no-untyped-def]
    with catalog._engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def folders_of(folder: Path) -> set[str]:
    return {path.name for path in (folder / "graphs").iterdir()}


def test_a_graph_is_loaded_listed_and_opened(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    assert catalog.is_empty()
    info = load_text(catalog, CLINIC, tmp_path)
    assert (info.triples, info.entities, info.values, info.mediators, info.relations) == (12, 5, 5, 1, 8)
    assert catalog.graphs("t1") == [info]
    assert not catalog.is_empty()
    graph = catalog.open("t1", "clinic")
    assert graph.version == info.version
    assert reached_names(graph, "Aurelio Vantongeren", "treated by") == {"Ottoline Brackwater", "Ptolemy Ashgrove"}
    assert reached_names(graph, "Kestrel Wing", "works in", inverse=True) == {
        "Ottoline Brackwater",
        "Ptolemy Ashgrove",
    }
    mentions = graph.linker.find_mentions("Who treats zofia QUARREL?")
    assert [mention.mids for mention in mentions] == [(mid_of(graph, "Zofia Quarrel"),)]
    assert catalog.open("t1", "clinic") is graph


def test_concepts_are_named_once_per_signature_and_kept(tmp_path: Path) -> None:
    asked: list[Schema] = []

    def name_concepts(schema: Schema) -> Sequence[str]:
        asked.append(schema)
        return [f"kind (of) {signature.id}" for signature in schema.signatures]

    catalog = catalog_in(tmp_path)
    catalog.load("t1", "clinic", [written(tmp_path, CLINIC)], None, name_concepts)
    assert len(asked) == 1
    assert Concept("patient") in asked[0].concepts
    kept = catalog.open("t1", "clinic").blind.schema
    assert kept.concepts == tuple(f"kind of {signature.id}" for signature in kept.signatures)


def test_a_wrong_number_of_concepts_is_a_load_error(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    with pytest.raises(LoadError, match="got 1 concepts"):
        catalog.load("t1", "clinic", [written(tmp_path, CLINIC)], None, lambda _schema: ["one"])
    assert catalog.is_empty()


def test_public_words_are_names_that_equal_words_of_our_own(tmp_path: Path) -> None:
    text = PREFIXES + ':a rdfs:label "Water" ; :knows :b . :b rdfs:label "Knows" . :c rdfs:label "Zofia Quarrel" .'
    catalog = catalog_in(tmp_path, phrases=["Zofia Quarrel is a template"])
    info = load_text(catalog, text, tmp_path)
    assert set(info.public_words) == {"water", "knows", "zofia quarrel"}
    assert "zofia" not in repr(info)
    graph = catalog.open("t1", "clinic")
    assert "knows" in graph.public
    assert all(hit.public for hit in graph.names.find("water"))


def test_our_own_words_of_today_count_for_graphs_of_yesterday(tmp_path: Path) -> None:
    load_text(catalog_in(tmp_path), PREFIXES + ':c rdfs:label "Quarrelsome" ; :knows :d .', tmp_path)
    newer = catalog_in(tmp_path, phrases=["a quarrelsome template"])
    assert [hit.public for hit in newer.open("t1", "clinic").names.find("quarrelsome")] == [True]


# --- versions ---------------------------------------------------------------------------------------------


def test_a_new_version_keeps_the_mids_and_replaces_the_old_one(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    first = load_text(catalog, CLINIC, tmp_path)
    mid = mid_of(catalog.open("t1", "clinic"), "Aurelio Vantongeren")
    second = load_text(catalog, SECOND, tmp_path)
    assert second.version != first.version
    graph = catalog.open("t1", "clinic")
    assert graph.version == second.version
    assert mid_of(graph, "Aurelio Vantongeren") == mid
    assert mid_of(graph, "Zofia Married")
    assert reached_names(graph, "Aurelio Vantongeren", "weight") == {"81"}


def test_each_version_that_is_opened_is_told_once_with_its_schema(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    told: list[Schema] = []
    catalog.when_opened(told.append)
    load_text(catalog, CLINIC, tmp_path)
    first = catalog.open("t1", "clinic")
    catalog.open("t1", "clinic")
    load_text(catalog, SECOND, tmp_path)
    assert told == [first.blind.schema]
    second = catalog.open("t1", "clinic")
    assert told == [first.blind.schema, second.blind.schema]


def test_a_question_in_flight_finishes_on_its_version_and_then_the_version_goes(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    in_flight = catalog.open("t1", "clinic")
    load_text(catalog, SECOND, tmp_path)
    assert catalog.open("t1", "clinic") is not in_flight
    assert reached_names(in_flight, "Aurelio Vantongeren", "weight") == {"80"}
    assert len(folders_of(tmp_path)) == 2
    del in_flight
    gc.collect()
    third = load_text(catalog, CLINIC, tmp_path)
    catalog.open("t1", "clinic")
    assert folders_of(tmp_path) == {third.version}
    assert rows_of(catalog, graph_versions) == 1
    assert rows_of(catalog, vault_entries) == 1


def test_a_failed_load_changes_nothing(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    info = load_text(catalog, CLINIC, tmp_path)

    def fails(_schema: Schema) -> Sequence[str]:
        raise RuntimeError("no reasoner")

    broken = written(tmp_path, CLINIC + ':x "Zofia', "broken.ttl")
    with pytest.raises(LoadError, match=r"broken\.ttl, line"):
        catalog.load("t1", "clinic", [broken], None, concepts_of)
    with pytest.raises(RuntimeError):
        catalog.load("t1", "clinic", [written(tmp_path, SECOND)], None, fails)
    with pytest.raises(LoadError):
        load_text(catalog, PREFIXES + ":Doctor rdfs:subClassOf :Person .", tmp_path)
    assert catalog.graphs("t1") == [info]
    assert folders_of(tmp_path) == {info.version}
    assert (rows_of(catalog, graph_versions), rows_of(catalog, vault_entries)) == (1, 1)
    assert reached_names(catalog.open("t1", "clinic"), "Aurelio Vantongeren", "weight") == {"80"}


def test_a_first_load_that_fails_leaves_no_graph(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    with pytest.raises(LoadError):
        load_text(catalog, PREFIXES + ":Doctor rdfs:subClassOf :Person .", tmp_path)
    with pytest.raises(UnknownGraphError):
        catalog.open("t1", "clinic")
    assert (rows_of(catalog, graphs), rows_of(catalog, graph_versions), folders_of(tmp_path)) == (0, 0, set())


def test_loads_of_one_graph_at_the_same_time_leave_one_whole_version(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    sources = [written(tmp_path, text, f"{number}.ttl") for number, text in enumerate([CLINIC, SECOND] * 3)]
    with ThreadPoolExecutor(3) as pool:
        infos = list(pool.map(lambda path: catalog.load("t1", "clinic", [path], None, concepts_of), sources))
    current = catalog.graphs("t1")[0]
    assert current.version in {info.version for info in infos}
    assert len(list(catalog.open("t1", "clinic").vault.all_records())) == 11
    assert folders_of(tmp_path) == {current.version}
    assert rows_of(catalog, graphs) == 1


def test_a_deleted_graph_is_gone_but_for_who_still_reads_it(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    in_flight = catalog.open("t1", "clinic")
    catalog.delete("t1", "clinic")
    assert reached_names(in_flight, "Aurelio Vantongeren", "weight") == {"80"}
    assert catalog.graphs("t1") == []
    for forgotten in (catalog.open, catalog.delete):
        with pytest.raises(UnknownGraphError):
            forgotten("t1", "clinic")
    del in_flight
    gc.collect()
    again = catalog_in(tmp_path)
    assert (rows_of(again, graphs), rows_of(again, vault_entries), folders_of(tmp_path)) == (0, 0, set())


def test_a_graph_that_is_deleted_while_it_is_loaded_does_not_come_back(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)

    def deletes(schema: Schema) -> Sequence[str]:
        catalog.delete("t1", "clinic")
        return schema.concepts

    with pytest.raises(LoadError, match="deleted"):
        catalog.load("t1", "clinic", [written(tmp_path, SECOND)], None, deletes)
    assert catalog.graphs("t1") == []
    assert folders_of(tmp_path) == set()


# --- tenants, keys, format --------------------------------------------------------------------------------


def test_two_tenants_with_the_same_graph_name_never_meet(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path, tenant="t1")
    load_text(catalog, SECOND, tmp_path, tenant="t2")
    one, two = catalog.open("t1", "clinic"), catalog.open("t2", "clinic")
    assert reached_names(one, "Aurelio Vantongeren", "weight") == {"80"}
    assert reached_names(two, "Aurelio Vantongeren", "weight") == {"81"}
    assert mid_of(one, "Aurelio Vantongeren") != mid_of(two, "Aurelio Vantongeren")
    assert len(one.vault.records([mid_of(two, "Aurelio Vantongeren")])) == 0
    assert [info.tenant for info in catalog.graphs("t2")] == ["t2"]
    catalog.delete("t2", "clinic")
    assert catalog.open("t1", "clinic") is one
    assert catalog.graphs("t3") == []


def test_files_and_rows_of_another_tenant_do_not_open(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    mine = load_text(catalog, CLINIC, tmp_path, tenant="t1")
    load_text(catalog, SECOND, tmp_path, tenant="t2")
    with catalog._engine.begin() as connection:
        other = update(graphs).where(graphs.c.tenant == "t2").values(current_version=mine.version)
        connection.execute(other)
    with pytest.raises(MasterKeyError):
        catalog_in(tmp_path).open("t2", "clinic")


def test_another_master_key_opens_nothing(tmp_path: Path) -> None:
    load_text(catalog_in(tmp_path), CLINIC, tmp_path)
    stranger = catalog_in(tmp_path, MasterKey.generate())
    with pytest.raises(MasterKeyError):
        stranger.open("t1", "clinic")
    with pytest.raises(MasterKeyError):
        load_text(stranger, CLINIC, tmp_path)
    assert len(catalog_in(tmp_path).graphs("t1")) == 1


def test_mids_outlive_the_rotation_of_the_master_key(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    before = mid_of(catalog.open("t1", "clinic"), "Aurelio Vantongeren")
    rotated = catalog_in(tmp_path, MasterKey.rotated(MASTER))
    assert mid_of(rotated.open("t1", "clinic"), "Aurelio Vantongeren") == before
    load_text(rotated, SECOND, tmp_path)
    assert mid_of(rotated.open("t1", "clinic"), "Aurelio Vantongeren") == before


def test_a_newer_data_folder_is_refused_in_a_sentence(tmp_path: Path) -> None:
    catalog_in(tmp_path)
    path = tmp_path / "format.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": data_folder.FORMAT + 1}))
    with pytest.raises(FormatTooNewError, match="newer program"):
        catalog_in(tmp_path)
    path.write_text("{}")
    with pytest.raises(FormatTooNewError, match="can't be read"):
        catalog_in(tmp_path)


def test_an_older_data_folder_is_migrated_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    path = tmp_path / "format.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 0}))
    with pytest.raises(StoreError, match="too old"):
        catalog_in(tmp_path)
    migrated: list[Path] = []
    monkeypatch.setattr(data_folder, "MIGRATIONS", {**data_folder.MIGRATIONS, 0: migrated.append})
    assert len(catalog_in(tmp_path).graphs("t1")) == 1
    assert migrated == [tmp_path]
    assert json.loads(path.read_text())["format"] == data_folder.FORMAT


def test_a_version_in_another_data_folder_is_an_unknown_graph_and_is_left_alone(tmp_path: Path) -> None:
    first = catalog_in(tmp_path)
    load_text(first, CLINIC, tmp_path)
    replica = Catalog(tmp_path / "replica", first._engine, MasterKey.from_text(MASTER))
    with pytest.raises(UnknownGraphError, match="data folder"):
        replica.open("t1", "clinic")
    load_text(replica, SECOND, tmp_path, graph="other")
    assert reached_names(first.open("t1", "clinic"), "Aurelio Vantongeren", "weight") == {"80"}


def test_a_folder_that_another_database_knows_is_not_swept_away(tmp_path: Path) -> None:
    info = load_text(catalog_in(tmp_path), CLINIC, tmp_path)
    (tmp_path / "arog.db").rename(tmp_path / "kept.db")
    for end in ("-wal", "-shm"):
        path = tmp_path / f"arog.db{end}"
        if path.exists():
            path.rename(tmp_path / f"kept.db{end}")
    assert catalog_in(tmp_path).is_empty()
    assert folders_of(tmp_path) == {info.version}


# --- what a stolen disk tells -----------------------------------------------------------------------------

CANARIES = (
    "Zofia Quarrel", "Sofie Quarrel", "Zosia Q", "Ottoline Brackwater", "Kestrel Wing", "Quarrel", "Ashgrove",
    "843-48-1389", "1961-02-11", "71.5", "2020-03-12", "http://clinic.test", "clinic.test/", "treatedBy",
)  # fmt: skip


def disguises(text: str) -> list[bytes]:
    """The text as it stands, in UTF-16, and in base64 at each of the three places it can have in a longer text."""
    plain = text.encode()
    shifted = [base64.b64encode(b"\0" * shift + plain)[4 if shift else 0 : -4] for shift in range(3)]
    return [plain, plain.lower(), text.encode("utf-16-le"), text.encode("utf-16-be"), *shifted]


def test_no_byte_of_the_data_folder_tells_a_name_a_value_or_an_iri(tmp_path: Path) -> None:
    data = tmp_path / "data"
    catalog = catalog_in(data)
    policy = Policy.from_toml('[relations."http://clinic.test/ssn"]\nhide = true\n')
    for text in (CLINIC, SECOND):
        catalog.load("t1", "clinic", [written(tmp_path, text)], policy, concepts_of)
    graph = catalog.open("t1", "clinic")
    assert reached_names(graph, "Aurelio Vantongeren", "weight") == {"81"}
    files = [path for path in data.rglob("*") if path.is_file()]
    assert {"schema.sealed", "names.sealed", "mids.npy", "arog.db"} <= {path.name for path in files}
    content = b"\n".join(path.read_bytes() + str(path.relative_to(data)).encode() for path in files)
    for canary in (*CANARIES, "Zofia Married"):
        assert not [form for form in disguises(canary) if len(form) > 3 and form in content], canary


# --- kill -9 ----------------------------------------------------------------------------------------------

KILLED = """
import signal
from pathlib import Path
from tests.support.stores import catalog_in, concepts_of
def load(master, folder, source, last):
    count = 0
    def progress(step, done):
        nonlocal count
        count += 1
        if count == int(last):
            os.kill(os.getpid(), signal.SIGKILL)
    catalog_in(Path(folder), master).load("t1", "clinic", [Path(source)], None, concepts_of, progress)
"""


@pytest.mark.process
def test_kill_9_at_any_moment_of_a_load_leaves_a_whole_version(tmp_path: Path) -> None:
    data = tmp_path / "data"
    info = load_text(catalog_in(data), CLINIC, tmp_path)
    source = written(tmp_path, SECOND, "second.ttl")
    moments = 0
    with forking(tmp_path, KILLED, "load") as loading:
        for moment in range(1, 30):
            status = loading.run(MASTER, str(data), str(source), str(moment))
            if status == 0:
                moments = moment
                break
            assert status == -signal.SIGKILL, loading.printed.read_text()
            catalog = catalog_in(data)
            current = catalog.graphs("t1")[0]
            swapped = current.version != info.version
            wanted = "81" if swapped else "80"
            assert reached_names(catalog.open("t1", "clinic"), "Aurelio Vantongeren", "weight") == {wanted}
            assert folders_of(data) == {current.version}
            assert (rows_of(catalog, graph_versions), rows_of(catalog, vault_entries)) == (1, 1)
            info = current
    assert moments > 8
    assert reached_names(catalog_in(data).open("t1", "clinic"), "Aurelio Vantongeren", "weight") == {"81"}


@pytest.mark.parametrize(
    "place", ["kg_store.storage.versions.GraphRows.swap", "kg_store.storage.data_folder.DataFolder.finish"]
)
def test_a_load_that_dies_around_the_swap_is_swept_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    catalog = catalog_in(tmp_path)
    info = load_text(catalog, CLINIC, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(place, _die)
        # Nothing is tidied up after a kill: the error handler is taken away as well.
        patched.setattr("kg_store.storage.versions.GraphRows.retire", lambda *_: None)
        patched.setattr("kg_store.open_graphs.NewVersions.sweep", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            load_text(catalog, SECOND, tmp_path)
    assert len(folders_of(tmp_path)) == 2
    again = catalog_in(tmp_path)
    assert folders_of(tmp_path) == {info.version}
    assert rows_of(again, vault_entries) == 1
    assert reached_names(again.open("t1", "clinic"), "Aurelio Vantongeren", "weight") == {"80"}


def _die(*_arguments: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_a_name_index_is_smaller_on_disk_and_one_of_before_that_is_read_too(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    info = load_text(catalog, CLINIC, tmp_path)
    scope = VaultScope("t1", "clinic", info.version)
    compressed = catalog._sealer.read(scope, NAMES_FILE)
    plain = read_names(compressed).to_bytes()
    assert len(compressed) < len(plain)
    catalog._sealer.write(scope, NAMES_FILE, plain)
    again = catalog_in(tmp_path).open("t1", "clinic")
    assert again.names.named("Zofia Quarrel") == (mid_of(again, "Zofia Quarrel"),)
