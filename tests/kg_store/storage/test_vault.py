"""Vault: rows open for their own version and MID alone, and give back what was put in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select, update

from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey
from kg_store.storage.tables import graph_versions, vault_entries
from kg_store.storage.vault import NO_NAME, Vault, VaultRecord, VaultScope, readable_name, write_records
from kg_store.terms import NodeKind, ValueKind
from tests.support.stores import engine_in

RING = MasterKey.from_text(MasterKey.generate())
SCOPE = VaultScope("t1", "clinic", "v" * 32)
RECORDS = st.builds(
    VaultRecord,
    st.sampled_from(NodeKind),
    st.lists(st.text(max_size=30), max_size=3).map(tuple),
    st.none() | st.sampled_from(ValueKind),
    st.none() | st.text(max_size=100),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(["de", "en"]), st.text(max_size=30)), max_size=2).map(tuple),
)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    engine = engine_in(tmp_path)
    row = {"id": SCOPE.version_id, "graph_id": "g", "folder_id": "f", "state": "building"}
    with engine.begin() as connection:
        connection.execute(insert(graph_versions), [row, {**row, "id": "w" * 32}])
    return Vault(engine, RING, SCOPE)


def put(vault: Vault, records: dict[int, VaultRecord]) -> None:
    list(write_records(vault._engine, RING, SCOPE, sorted(records.items())))


def entity(*names: str) -> VaultRecord:
    return VaultRecord(NodeKind.ENTITY, names)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(records=st.dictionaries(st.integers(0, 2**63 - 1), RECORDS, max_size=20))
def test_records_come_back_as_they_were_put_in(vault: Vault, records: dict[int, VaultRecord]) -> None:
    with vault._engine.begin() as connection:
        connection.execute(vault_entries.delete())
    put(vault, records)
    assert vault.records([*records, 5]) == {**records, **vault.records([5])}
    assert list(vault.all_records()) == sorted(records.items())


def test_thousands_of_mids_are_looked_up_in_batches(vault: Vault) -> None:
    records = {mid: entity(f"name {mid}") for mid in range(12_003)}
    put(vault, records)
    found = vault.records(np.arange(3, 20_000, 2, dtype=np.int64))
    assert len(found) == 6_000
    assert found[11_001].names == ("name 11001",)
    assert len(list(vault.all_records())) == 12_003


def test_a_row_moved_to_another_mid_or_version_does_not_open(vault: Vault) -> None:
    put(vault, {1: entity("Zofia Quarrel"), 2: entity("Aurelio Vantongeren")})
    with vault._engine.begin() as connection:
        sealed = connection.execute(select(vault_entries.c.sealed).where(vault_entries.c.mid == 1)).scalar_one()
        connection.execute(update(vault_entries).where(vault_entries.c.mid == 2).values(sealed=sealed))
        connection.execute(insert(vault_entries), {"version_id": "w" * 32, "mid": 1, "sealed": sealed})
    with pytest.raises(MasterKeyError):
        vault.records([2])
    for scope in (VaultScope("t1", "clinic", "w" * 32), VaultScope("t2", "clinic", SCOPE.version_id)):
        with pytest.raises(MasterKeyError):
            Vault(vault._engine, RING, scope).records([1])


def test_names_of_the_same_rough_length_have_rows_of_the_same_size(vault: Vault) -> None:
    put(vault, {1: entity("Al"), 2: entity("Bartholomew")})
    with vault._engine.connect() as connection:
        sizes = {len(sealed) for sealed in connection.execute(select(vault_entries.c.sealed)).scalars()}
    assert len(sizes) == 1


def test_a_name_is_the_preferred_one_and_a_value_reads_well(vault: Vault) -> None:
    moment = VaultRecord(NodeKind.VALUE, (), ValueKind.DATE, "2022-11-11T04:00:25")
    put(vault, {1: entity("Zofia Quarrel", "Zosia"), 2: moment, 3: VaultRecord(NodeKind.MEDIATOR)})
    names = {mid: readable_name(record) for mid, record in vault.records([1, 2, 3, 4]).items()}
    assert names == {1: "Zofia Quarrel", 2: "2022-11-11 04:00:25", 3: NO_NAME}
    assert readable_name(VaultRecord(NodeKind.VALUE, (), ValueKind.TEXT, "T-cell")) == "T-cell"


@pytest.mark.parametrize(
    ("lexical", "shown"),
    [
        ("1995-02-08T00:00:00Z", "1995-02-08"),
        ("1995-02-08T00:00:00", "1995-02-08"),
        ("1995-02-08T00:00:00.000+02:00", "1995-02-08"),
        ("1995-02-08T10:00:00Z", "1995-02-08 10:00:00Z"),
        ("1995-02-08", "1995-02-08"),
    ],
)
def test_a_day_that_is_written_as_a_moment_is_shown_as_a_day(lexical: str, shown: str) -> None:
    assert readable_name(VaultRecord(NodeKind.VALUE, (), ValueKind.DATE, lexical)) == shown


def test_a_name_is_in_a_language_where_there_is_one() -> None:
    labels = (("de", "Arnsbrück"), ("en", "Arnsbridge"))
    city = VaultRecord(NodeKind.ENTITY, ("Arnsbridge", "Arnsbrück"), labels=labels)
    assert [readable_name(city, language) for language in ("", "de", "en", "fr")] == [
        "Arnsbridge", "Arnsbrück", "Arnsbridge", "Arnsbridge",
    ]  # fmt: skip


def test_a_record_shows_nothing_of_itself() -> None:
    record = VaultRecord(NodeKind.VALUE, ("Zofia",), ValueKind.TEXT, "843-48-1389")
    assert repr(record) == "VaultRecord()"
