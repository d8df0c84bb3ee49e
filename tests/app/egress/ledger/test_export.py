"""An export is checked by whoever has it, without database and master key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.database.engine import make_engine
from app.egress.ledger.audit import ExportError, check_export, export, kept_checkpoints
from app.egress.ledger.chain import metadata
from tests.support.ledger_house import NOW, WORDS, House


@pytest.fixture
def house(engine: Engine) -> House:
    return House(engine)


def lines_of(house: House, payloads: bool = True) -> list[str]:
    return [json.dumps(line) for line in export(house.engine, house.master, house.upkeep, "t", payloads)]


def told(lines: list[str], key: str | None = None) -> list[str]:
    return [str(finding) for finding in check_export(lines, key).findings]


@pytest.mark.parametrize("payloads", [True, False])
def test_what_was_exported_is_whole(house: House, payloads: bool) -> None:
    lines = lines_of(house, payloads)
    checked = check_export(lines, house.upkeep.signer.public())
    assert (checked.tenant, checked.rows, checked.findings, checked.remarks) == ("t", 12, [], [])
    assert (WORDS in "".join(lines)) is payloads
    assert check_export(lines).remarks == ["checked with the key that the file itself names"]


def test_cuts_of_retention_are_no_fault_of_an_export(house: House) -> None:
    house.upkeep.forget_payloads(NOW.replace(year=NOW.year + 1))
    house.ask("later")
    assert told(lines_of(house)) == []


def test_any_changed_character_of_a_row_is_found_and_told(house: House) -> None:
    lines = lines_of(house)
    row = json.loads(lines[5])
    assert row["number"] == 4
    for name, value in row.items():
        other = (value or 0) + 1 if isinstance(value, int) else f"x{value}"
        if name == "kind":
            other = "other"
        elif name == "at":
            other = value.replace("T", " ")
        elif name == "number":
            continue
        changed = [*lines[:5], json.dumps(row | {name: other}), *lines[6:]]
        assert told(changed), name
        assert told(changed)[0].startswith("row 4 "), name


def test_deleted_and_reordered_lines_are_told(house: House) -> None:
    lines = lines_of(house)
    assert "row 4 is missing" in told(lines[:5] + lines[6:])
    assert told(lines[:-2]) == ["rows 11 to 12 are missing"]
    assert told([*lines[:5], lines[6], lines[5], *lines[7:]])


def test_a_file_signed_with_another_key_is_told(house: House, tmp_path: Path) -> None:
    other = make_engine(f"sqlite:///{tmp_path / 'other.db'}")
    metadata.create_all(other)
    forged = lines_of(House(other))
    other.dispose()
    assert told(forged) == []
    assert told(forged, house.upkeep.signer.public()) == [
        "the checkpoint in line 2 was changed, or signed with another key",
        "no checkpoint is signed with the key",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [("{", "line 3 is not JSON"), ("[]", "line 3 has no `kind`"), ('{"kind": "request"}', "line 3 is no row"),
     ('{"kind": "checkpoint", "body": "{}", "signature": ""}', "line 3 is no checkpoint")],
)  # fmt: skip
def test_a_line_that_is_none_of_a_ledger_is_named(house: House, line: str, problem: str) -> None:
    lines = lines_of(house)
    with pytest.raises(ExportError, match=problem):
        check_export([*lines[:2], line, *lines[2:]])
    with pytest.raises(ExportError, match="line 1 is not the header"):
        check_export(lines[1:])


def test_checkpoints_are_kept_from_an_export(house: House) -> None:
    house.upkeep.checkpoint("t")
    kept = kept_checkpoints(lines_of(house))
    assert [each.number for each in kept] == [12, 12]
    assert house.checked(kept=kept).is_whole
