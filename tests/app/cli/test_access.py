"""`arog access`: who read about a person is listed by name or id, and exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.egress.ledger.access import AccessEntry, thing_id
from app.settings import load_settings
from app.wiring.store import open_store
from tests.support.commands import arog, work_with_ring, write_ring
from tests.support.service import CLINIC, SECRET_NAMES

TWINS = CLINIC + ':p9 rdfs:label "Quenby Thistlewood" ; :livesIn :c1 .\n'


@pytest.fixture
def things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of two persons of one name, about the first of whom somebody read."""
    work_with_ring(tmp_path, monkeypatch)
    write_ring(tmp_path)
    (tmp_path / "clinic.ttl").write_text(TWINS)
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    store = open_store(load_settings())
    mids = store.catalog.open("default", "clinic").names.named("Quenby Thistlewood")
    ids = [thing_id("default", "clinic", mid) for mid in mids]
    entry = AccessEntry("default", "kone", "clinic", "read", 1, "a1", "p1", "case 4711", tuple(ids[:1]))
    store.access_record.add(entry)
    store.access_record.add(AccessEntry("default", "kone", "clinic", "read_lifted", 1, "a2", things=("0" * 16,)))
    store.close()
    return ids


def test_who_read_about_a_person_is_listed_by_name_and_by_id(things: list[str]) -> None:
    listed = arog("access", "who", "--graph", "clinic", "quenby thistlewood")
    assert listed.exit_code == 0
    assert f"key kone, person p1, answer a1, thing {things[0]}, reason: case 4711" in listed.stdout
    assert all(f"thing {thing} (" in listed.stderr for thing in things)
    assert "answer a2" not in listed.stdout
    asked = arog("access", "who", "--graph", "clinic", "-", typed="Quenby Thistlewood\n")
    assert "answer a1" in asked.stdout
    other = arog("access", "who", "--graph", "clinic", "http://clinic.invalid/p1")
    assert other.stdout == "nobody has read about it\n"
    for graph, name in (("clinic", "Nobody Known"), ("other", "Quenby Thistlewood")):
        refused = arog("access", "who", "--graph", graph, name)
        assert (refused.exit_code != 0, name in refused.output) == (True, False)


def test_it_is_exported_for_other_programs_without_names(things: list[str]) -> None:
    lines = [json.loads(line) for line in arog("access", "export").stdout.splitlines()]
    assert [(line["answer"], line["things"]) for line in lines] == [("a1", [things[0]]), ("a2", ["0" * 16])]
    syslog = arog("access", "export", "--syslog", "--graph", "clinic").stdout.splitlines()
    assert [line.split(" ")[0] for line in syslog] == ["<110>1", "<108>1"]
    assert arog("access", "export", "--since", "2200-01-01").stdout == ""
    assert not any(name in json.dumps(lines) + str(syslog) for name in SECRET_NAMES)
