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
from kg_store.storage.vault import NO_NAME, Vault, VaultRecord, VaultScope, parts_in, readable_name, write_records
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
    vault = Vault(vault._engine, RING, SCOPE)  # Another version is another vault: it keeps where its pages are.
    assert vault.records([*records, 5]) == {**records, **vault.records([5])}
    assert list(vault.all_records()) == sorted(records.items())


def test_thousands_of_mids_are_looked_up_in_batches(vault: Vault) -> None:
    records = {mid: entity(f"name {mid}") for mid in range(12_003)}
    put(vault, records)
    found = vault.records(np.arange(3, 20_000, 2, dtype=np.int64))
    assert len(found) == 6_000
    assert found[11_001].names == ("name 11001",)
    assert len(list(vault.all_records())) == 12_003


def rows(vault: Vault) -> dict[int, bytes]:
    with vault._engine.connect() as connection:
        found = connection.execute(select(vault_entries.c.mid, vault_entries.c.sealed)).all()
    return {row.mid: row.sealed for row in found}


def test_a_row_moved_to_another_mid_or_version_does_not_open(vault: Vault) -> None:
    put(vault, {mid: entity(f"Zofia Quarrel {mid}") for mid in range(1, 100)})
    first, second, *_ = rows(vault)
    with vault._engine.begin() as connection:
        sealed = connection.execute(select(vault_entries.c.sealed).where(vault_entries.c.mid == first)).scalar_one()
        connection.execute(update(vault_entries).where(vault_entries.c.mid == second).values(sealed=sealed))
        connection.execute(insert(vault_entries), {"version_id": "w" * 32, "mid": first, "sealed": sealed})
    assert vault.records([first])
    with pytest.raises(MasterKeyError):
        vault.records([second])
    for scope in (VaultScope("t1", "clinic", "w" * 32), VaultScope("t2", "clinic", SCOPE.version_id)):
        with pytest.raises(MasterKeyError):
            Vault(vault._engine, RING, scope).records([1])


def test_a_deleted_record_leaves_no_byte_of_its_page_and_the_others_are_found(vault: Vault) -> None:
    records = {mid: entity(f"name {mid}") for mid in range(1, 200)}
    put(vault, records)
    open_before, before = Vault(vault._engine, RING, SCOPE), rows(vault)
    assert open_before.records([1, 2]) == {1: records[1], 2: records[2]}
    gone = [1, *list(before)[1:2], 199]
    vault.delete([*gone, 500])
    left = {mid: record for mid, record in records.items() if mid not in gone}
    for reader in (open_before, Vault(vault._engine, RING, SCOPE)):
        assert reader.records(list(records)) == left
        assert dict(reader.all_records()) == left
    after = rows(vault)
    assert not set(gone) & set(after)
    with vault._engine.connect() as connection:
        assert not Vault(vault._engine, RING, SCOPE).holds_any(connection, gone)
        assert Vault(vault._engine, RING, SCOPE).holds_any(connection, [*gone, 2])
    held = [dict(parts_in(mid, RING.open("vault", bound_to(mid), sealed))) for mid, sealed in before.items()]
    stays = [sealed for sealed, page in zip(before.values(), held, strict=True) if not set(gone) & set(page)]
    assert set(before.values()) & set(after.values()) == set(stays)
    assert 0 < len(stays) < len(before)


def bound_to(mid: int) -> bytes:
    return SCOPE.context() + mid.to_bytes(8, "big")


def test_the_last_record_of_a_page_takes_its_row_along_and_one_that_does_not_open_goes_whole(vault: Vault) -> None:
    put(vault, {1: entity("Zofia Quarrel")})
    vault.delete([1])
    assert rows(vault) == {}
    with vault._engine.begin() as connection:
        row = {"version_id": SCOPE.version_id, "mid": 1, "sealed": b"sealed with a key that is lost"}
        connection.execute(insert(vault_entries), row)
    Vault(vault._engine, RING, SCOPE).delete([5])
    assert rows(vault) == {}


def test_a_row_of_before_there_were_pages_is_read_and_erased(vault: Vault) -> None:
    plain = b'["entity",["Zofia Quarrel","Zosia"],null,null,0]' + b" " * 16
    sealed = {mid: RING.seal("vault", bound_to(mid), plain) for mid in (3, 7)}
    older = [{"version_id": SCOPE.version_id, "mid": mid, "sealed": row} for mid, row in sealed.items()]
    with vault._engine.begin() as connection:
        connection.execute(insert(vault_entries), older)
    expected = dict.fromkeys((3, 7), entity("Zofia Quarrel", "Zosia"))
    assert dict(vault.all_records()) == vault.records([3, 5, 7]) == expected
    vault.delete([7])
    assert list(rows(vault)) == [3]


def test_records_out_of_order_are_refused(vault: Vault) -> None:
    with pytest.raises(ValueError, match="order"):
        list(write_records(vault._engine, RING, SCOPE, [(2, entity("a")), (1, entity("b"))]))


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
