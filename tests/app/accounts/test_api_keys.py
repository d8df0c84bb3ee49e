"""Access: keys are random, kept as hashes, bound to a tenant, and end when they are revoked or expire."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from app.accounts.api_keys import (
    Access,
    Caller,
    NoGrantError,
    NotAuthenticatedError,
    require_grant,
)
from client_sdk.protocol import KeyRole


def test_the_database_holds_no_key(engine: Engine, tmp_path: Path) -> None:
    issued = Access(engine).create("north", "user", ["clinic"])
    engine.dispose()
    assert all(issued.key.encode() not in file.read_bytes() for file in tmp_path.iterdir())
    assert issued.key not in repr(issued)


def test_a_revoked_key_is_refused_at_once_and_by_another_replica(engine: Engine) -> None:
    issued = Access(engine).create("north", "user", ["clinic"])
    other_replica = Access(engine)
    other_replica.authenticate(issued.key)
    Access(engine).revoke("north", issued.key_id)
    Access(engine).revoke("north", issued.key_id)
    with pytest.raises(NotAuthenticatedError):
        other_replica.authenticate(issued.key)


def test_an_expired_key_is_refused(engine: Engine) -> None:
    issued = Access(engine).create("north", "user", ["clinic"], days=-1)
    with pytest.raises(NotAuthenticatedError):
        Access(engine).authenticate(issued.key)


def test_the_operators_key_is_an_admin_of_the_default_tenant(engine: Engine) -> None:
    key = secrets.token_urlsafe(32)
    caller = Access(engine, SecretStr(key)).authenticate(key)
    assert (caller.tenant, caller.role, caller.is_operator) == ("default", "admin", True)
    with pytest.raises(NotAuthenticatedError):
        Access(engine).authenticate(key)


def test_keys_are_listed_per_tenant_with_their_end(engine: Engine) -> None:
    access = Access(engine)
    first = access.create("north", "user", ["b", "a"])
    second = access.create("north", "admin", ["*"], days=1, label="night shift")
    access.create("south", "user", [])
    access.revoke("north", first.key_id)
    records = access.keys("north")
    assert [record.key_id for record in records] == [first.key_id, second.key_id]
    assert records[0].revoked_at is not None
    assert records[0].revoked_at.tzinfo is not None
    assert records[1].expires_at is not None
    assert (records[1].label, records[1].last_used_at) == ("night shift", None)
    access.authenticate(second.key)
    assert access.keys("north")[1].last_used_at is not None


def test_a_graph_is_closed_without_a_grant() -> None:
    caller = Caller("north", "k1", "user", frozenset({"clinic"}))
    require_grant(caller, "clinic")
    with pytest.raises(NoGrantError):
        require_grant(caller, "films")
    require_grant(Caller("north", "k1", "user", frozenset({"*"})), "films")


@pytest.mark.parametrize(
    ("role", "grants", "graph", "may"),
    [
        ("user", {"clinic", "inspect:clinic"}, "clinic", True),
        ("user", {"clinic", "inspect:*"}, None, True),
        ("user", {"clinic"}, "clinic", False),
        ("user", {"*"}, "clinic", False),
        ("user", {"inspect:clinic"}, "clinic", False),
        ("user", {"clinic", "inspect:clinic"}, None, False),
        ("user", {"inspect:clinic"}, "inspect:clinic", False),
        ("admin", set(), "clinic", True),
        ("admin", set(), None, True),
    ],
)
def test_names_in_a_trace_take_a_grant_of_their_own(
    role: KeyRole, grants: set[str], graph: str | None, may: bool
) -> None:
    assert Caller("north", "k", role, frozenset(grants)).may_inspect(graph) is may
