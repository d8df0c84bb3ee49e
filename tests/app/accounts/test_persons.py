"""Persons who sign in: their groups give them their rights, and nothing that is kept says who they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select

from app.accounts.api_keys import Access, Devices, NotAuthenticatedError
from app.accounts.persons import (
    GroupRights,
    GroupsFileError,
    NoGroupError,
    Persons,
    Rights,
    groups_in,
    read_groups,
    rights_of,
)
from app.database.tables import api_keys, person_secret
from app.graphs.erasure.sealed_rows import sealed_columns
from client_sdk import KeyPair
from kg_store.storage.master_key import MasterKey
from kg_store.storage.reencryption import reseal

GROUPS = (
    GroupRights(name="nurses", grants=["ward#reception", "rota"]),
    GroupRights(name="doctors", grants=["ward", "inspect:ward"]),
    GroupRights(name="clerks", grants=["ward#clerk", "bills#clerk"]),
    GroupRights(name="owners", role="admin", grants=["*"]),
    GroupRights(name="guests", tenant="south", grants=["films"]),
)
ANN = "8f0e-ann-keller@clinic"


@dataclass(slots=True)
class FakeReader:
    """A provider without signatures: a token is `SUBJECT.x.GROUP`."""

    issuer: str = "https://sign-in.invalid"

    def claims_of(self, token: str) -> Mapping[str, Any]:
        subject, _, group = token.rsplit(".", 2)
        return {"sub": subject, "groups": [group]}


def persons(engine: Engine, master: MasterKey, reader: FakeReader | None = None) -> Persons:
    return Persons(engine, master, reader or FakeReader(), GROUPS, "groups")


@pytest.fixture
def master() -> MasterKey:
    return MasterKey.from_text(MasterKey.generate())


@pytest.mark.parametrize(
    ("claimed", "rights"),
    [
        ({"nurses"}, Rights("default", "user", frozenset({"ward#reception", "rota"}))),
        ({"nurses", "unknown"}, Rights("default", "user", frozenset({"ward#reception", "rota"}))),
        ({"doctors", "nurses"}, Rights("default", "user", frozenset({"ward", "inspect:ward", "rota"}))),
        ({"clerks", "nurses"}, Rights("default", "user", frozenset({"ward#reception", "rota", "bills#clerk"}))),
        ({"owners", "clerks"}, Rights("default", "admin", frozenset({"*"}))),
        ({"guests", "nurses"}, Rights("default", "user", frozenset({"ward#reception", "rota"}))),
        ({"guests"}, Rights("south", "user", frozenset({"films"}))),
    ],
)
def test_grants_of_several_groups_add_up_within_one_tenant(claimed: set[str], rights: Rights) -> None:
    assert rights_of(GROUPS, frozenset(claimed)) == rights


@pytest.mark.parametrize("claimed", [set(), {"unknown"}, {"NURSES"}, {"nurses "}, {""}])
def test_whoever_is_in_no_group_of_the_file_has_no_rights(claimed: set[str]) -> None:
    with pytest.raises(NoGroupError):
        rights_of(GROUPS, frozenset(claimed))


@pytest.mark.parametrize(
    ("claims", "claim", "groups"),
    [
        ({"groups": ["a", 1, None, "b"]}, "groups", {"a", "b"}),
        ({"groups": "a"}, "groups", {"a"}),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", {"a"}),
        ({"https://x.invalid/groups": ["a"]}, "https://x.invalid/groups", {"a"}),
        ({"groups": {"a": 1}}, "groups", set()),
        ({"realm_access": ["roles"]}, "realm_access.roles", set()),
        ({}, "groups", set()),
    ],
)
def test_groups_are_read_from_the_claim_that_is_set(claims: dict[str, Any], claim: str, groups: set[str]) -> None:
    assert groups_in(claims, claim) == groups


def test_the_file_of_groups_keeps_its_order(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text('[[group]]\nname = "z"\ngrants = ["g#r"]\n[[group]]\nname = "a"\nrole = "admin"\ntenant = "t"\n')
    assert read_groups(file) == (
        GroupRights(name="z", grants=["g#r"]), GroupRights(name="a", role="admin", tenant="t"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "tables"),
        ("group = 1", "tables"),
        ("[[group]]\nname = 'a'\n[other]", "tables"),
        ("[[group]", "not TOML"),
        ("[[group]]\nname = 'a'\n[[group]]\ngrants = ['g']", "group 2"),
        ("[[group]]\nname = 'secret name'\nrole = 'owner'", "group 1"),
        ("[[group]]\nname = 'secret name'\ngrant = ['g']", "group 1"),
        ("[[group]]\nname = 'secret name'\ngrants = ['G!']", "grant 1 is not valid"),
        ("[[group]]\nname = 'secret name'\ngrants = ['g', 'g#r']", "restricts nothing"),
    ],
)
def test_a_file_of_groups_that_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(text)
    with pytest.raises(GroupsFileError) as refused:
        read_groups(file)
    assert told in str(refused.value)
    assert "secret name" not in str(refused.value)
    with pytest.raises(GroupsFileError):
        read_groups(tmp_path / "missing.toml")


def test_a_person_has_one_id_in_every_replica_and_another_at_each_provider_and_tenant(
    engine: Engine, master: MasterKey
) -> None:
    first = persons(engine, master).caller_of(f"{ANN}.x.nurses")
    again = persons(engine, master).caller_of(f"{ANN}.x.doctors")
    assert first.is_person
    assert (first.key_id, again.grants) == (again.key_id, {"ward", "inspect:ward"})
    others = [
        persons(engine, master).caller_of(f"{ANN}.x.guests"),
        persons(engine, master, FakeReader("https://other.invalid")).caller_of(f"{ANN}.x.nurses"),
        persons(engine, master).caller_of("bo.x.nurses"),
    ]
    assert len({first.key_id, *(each.key_id for each in others)}) == 4
    assert persons(engine, master).id_of("default", ANN) == first.key_id
    assert persons(engine, master).id_of("default", "somebody") is None


def test_nothing_that_is_kept_says_who_a_person_is(engine: Engine, master: MasterKey, tmp_path: Path) -> None:
    caller = persons(engine, master).caller_of(f"{ANN}.x.nurses")
    engine.dispose()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert caller.key_id.encode() in kept
    for part in (ANN, "ann-keller", "8f0e", "sign-in.invalid"):
        assert part.encode() not in kept
        assert part not in caller.key_id


def test_the_digest_of_a_subject_can_not_be_guessed_without_the_secret(engine: Engine, master: MasterKey) -> None:
    first = persons(engine, master)
    first.caller_of(f"{ANN}.x.nurses")
    with engine.begin() as connection:
        digest = connection.execute(select(api_keys.c.digest)).scalar_one()
        connection.execute(delete(person_secret))
    assert persons(engine, master).id_of("default", ANN) is None
    assert first.id_of("default", ANN) is not None
    assert len(digest) == 64


def test_a_person_keeps_their_id_when_the_master_key_is_replaced(engine: Engine) -> None:
    ring = MasterKey.rotated(old := MasterKey.generate())
    before = persons(engine, MasterKey.from_text(old)).caller_of(f"{ANN}.x.nurses")
    (secret,) = [column for column in sealed_columns() if column.table is person_secret]
    assert list(reseal(engine, MasterKey.from_text(ring), secret)) == [1]
    alone = MasterKey.from_text(MasterKey.keeping(ring, [2]))
    assert persons(engine, alone).caller_of(f"{ANN}.x.nurses").key_id == before.key_id


def test_a_revoked_person_is_refused_at_once_and_a_key_beside_them_is_not(engine: Engine, master: MasterKey) -> None:
    access = Access(engine, sign_in=persons(engine, master).caller_of)
    key = access.create("default", "user", ["ward"]).key
    caller = access.authenticate(f"{ANN}.x.nurses")
    Access(engine).revoke("default", caller.key_id)
    for _ in range(2):
        with pytest.raises(NotAuthenticatedError):
            access.authenticate(f"{ANN}.x.nurses")
    assert not access.authenticate(key).is_person


def test_a_token_is_refused_where_no_provider_is_set(engine: Engine) -> None:
    with pytest.raises(NotAuthenticatedError):
        Access(engine).authenticate(f"{ANN}.x.nurses")


def test_persons_are_listed_beside_keys_and_have_devices(engine: Engine, master: MasterKey) -> None:
    caller = persons(engine, master).caller_of(f"{ANN}.x.nurses")
    persons(engine, master).caller_of("bo.x.guests")
    (record,) = Access(engine).keys("default")
    assert (record.key_id, record.role, record.grants) == (caller.key_id, "user", caller.grants)
    assert record.last_used_at is not None
    public = KeyPair.generate().public_text
    devices = Devices(engine, required=True)
    devices.register("default", caller.key_id, public)
    devices.admit(caller, public)
