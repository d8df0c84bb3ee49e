"""The versions of a graph that are kept: three, never answered from, and one transaction from being live again."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from kg_store.catalog import Catalog
from kg_store.errors import UnknownGraphError, VersionError
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.reencryption import reseal, reseal_files, store_columns
from kg_store.storage.versions import ForgottenRows
from tests.support.stores import CLINIC, MASTER, catalog_in, concepts_of, load_text, mid_of, reached_names

pytestmark = pytest.mark.slow
WEIGHTS = ("80", "81", "82", "83")


def loaded(folder: Path, most: int = 3, loads: int = 4) -> tuple[Catalog, list[str]]:
    """A catalog with versions whose patients weigh 80, 81, ..., and the ids of these."""
    catalog = catalog_in(folder, versions_kept=most)
    texts = [CLINIC.replace(":weight 80", f":weight {weight}") for weight in WEIGHTS[:loads]]
    return catalog, [load_text(catalog, text, folder).version for text in texts]


def weight(catalog: Catalog) -> set[str]:
    return reached_names(catalog.open("t1", "clinic"), "Aurelio Vantongeren", "weight")


def ids_of(catalog: Catalog) -> list[str]:
    return [each.info.version for each in catalog.history.versions("t1", "clinic")]


@pytest.mark.parametrize("most", [1, 3])
def test_the_last_versions_are_kept_and_the_newest_answers(tmp_path: Path, most: int) -> None:
    catalog, ids = loaded(tmp_path, most)
    assert ids_of(catalog) == ids[-most:]
    assert weight(catalog) == {"83"}
    stored = catalog.history.versions("t1", "clinic")
    assert [each.is_live for each in stored] == [False] * (most - 1) + [True]
    assert min(each.bytes for each in stored) > 1_000
    assert {path.name for path in (tmp_path / "graphs").iterdir()} == set(ids[-most:])
    assert ids_of(catalog_in(tmp_path, versions_kept=1)) == ids[-most:]


def test_a_rollback_goes_back_and_forth_and_a_question_in_flight_finishes(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path)
    in_flight = catalog.open("t1", "clinic")
    live, to = catalog.history.chosen("t1", "clinic", None)
    assert (live.info.version, to.info.version) == (ids[3], ids[2])
    catalog.history.roll_back("t1", "clinic", live.info.version, to.info.version)
    assert weight(catalog) == {"82"}
    assert weight(catalog_in(tmp_path)) == {"82"}
    assert reached_names(in_flight, "Aurelio Vantongeren", "weight") == {"83"}
    live, to = catalog.history.chosen("t1", "clinic", ids[3][:8])
    catalog.history.roll_back("t1", "clinic", live.info.version, to.info.version)
    assert weight(catalog) == {"83"}
    assert ids_of(catalog) == ids[1:]
    del in_flight
    gc.collect()


def test_a_load_after_a_rollback_keeps_the_version_that_it_replaces(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path)
    catalog.history.roll_back("t1", "clinic", ids[3], ids[1])
    fifth = load_text(catalog, CLINIC, tmp_path).version
    assert ids_of(catalog) == [ids[1], ids[3], fifth]


def test_only_a_kept_version_can_be_chosen_and_only_instead_of_the_live_one(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path, loads=2)
    for version, told in (("7", "no such version"), ("abc", "no such version"), ("2", "live already")):
        with pytest.raises(VersionError, match=told):
            catalog.history.chosen("t1", "clinic", version)
    with pytest.raises(VersionError, match="another version"):
        catalog.history.roll_back("t1", "clinic", ids[0], ids[0])
    assert weight(catalog) == {"81"}
    catalog.history.roll_back("t1", "clinic", ids[1], ids[0])
    with pytest.raises(VersionError, match="no version before"):
        catalog.history.chosen("t1", "clinic", None)
    with pytest.raises(UnknownGraphError):
        catalog.history.versions("t2", "clinic")


def test_what_differs_is_counted_and_relations_are_named(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path, loads=1)
    more = load_text(catalog, CLINIC + ':new rdfs:label "Bartolo Finch" ; :insuredBy :sun .', tmp_path).version
    changes = catalog.history.changes("t1", "clinic", ids[0], more)
    assert (changes.entities_gained, changes.entities_lost) == (2, 0)
    assert (changes.relations_gained, changes.relations_lost) == (("insured by",), ())
    back = catalog.history.changes("t1", "clinic", more, ids[0])
    assert (back.entities_gained, back.entities_lost, back.relations_lost) == (0, 2, ("insured by",))


def test_a_version_with_something_erased_or_beside_an_unfinished_erasure_stays_where_it_is(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path, loads=2)
    mid = mid_of(catalog.open("t1", "clinic"), "Aurelio Vantongeren")
    erasures = ForgottenRows(catalog._engine, MasterKey.from_text(MASTER))
    erasure = erasures.begin("t1", "clinic", [])
    with pytest.raises(VersionError, match="not finished"):
        catalog.history.roll_back("t1", "clinic", ids[1], ids[0])
    erasures.end(erasure)
    erasures.end(erasures.begin("t1", "clinic", [mid]))
    with pytest.raises(VersionError, match="forgotten since"):
        catalog.history.roll_back("t1", "clinic", ids[1], ids[0])
    assert weight(catalog) == {"81"}
    assert [each.is_live for each in catalog.history.versions("t1", "clinic")] == [False, True]


def test_a_kept_version_without_a_thing_keeps_its_place(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path)
    before = [each.info.loaded_at for each in catalog.history.versions("t1", "clinic")]
    kept = catalog.history.open(catalog.history.kept("t1", "clinic")[0])
    assert kept is not None
    assert kept.version == ids[2]
    going = catalog.closure_of_removal(kept, [mid_of(kept, "Zofia Quarrel")])
    fresh = catalog.without(kept, going, concepts_of).version
    assert ids_of(catalog) == [ids[1], fresh, ids[3]]
    assert [each.info.loaded_at for each in catalog.history.versions("t1", "clinic")] == before
    assert weight(catalog) == {"83"}


def test_deleting_a_graph_deletes_all_its_versions(tmp_path: Path) -> None:
    catalog, _ = loaded(tmp_path)
    catalog.delete("t1", "clinic")
    gc.collect()
    catalog.has_readers("t1", "clinic")
    assert list((tmp_path / "graphs").iterdir()) == []


def test_a_new_master_key_seals_kept_versions_too(tmp_path: Path) -> None:
    catalog, ids = loaded(tmp_path, loads=2)
    text = MasterKey.rotated(MASTER)
    ring, newest = MasterKey.from_text(text), MasterKey.from_text(text.split(",")[0])
    for column in store_columns():
        list(reseal(catalog._engine, ring, column))
    assert reseal_files(catalog._engine, ring, DataFolder(tmp_path)) == 6
    again = Catalog(tmp_path, catalog._engine, newest)
    again.history.roll_back("t1", "clinic", ids[1], ids[0])
    assert weight(again) == {"80"}
