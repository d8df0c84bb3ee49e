"""The chain: what was changed, deleted, added or moved is found and told, and rightful cuts are not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import Engine, Table, delete, insert, select, update

from app.egress.ledger.chain import (
    REPLY,
    REQUEST,
    BrokenHeadError,
    ChainHead,
    ledger_checkpoints,
    ledger_entries,
    ledger_heads,
    ledger_replies,
    ledger_signers,
    linked,
)
from app.egress.ledger.ledger import Ledger, LedgerReply, LedgerUnavailableError
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import MAX_LINKS_BEFORE, Checked, CheckProgress, check
from kg_store.storage.master_key import MasterKey
from tests.support.ledger_house import NOW, House


@pytest.fixture
def house(engine: Engine) -> House:
    return House(engine)


def test_what_nobody_touched_is_whole(house: House) -> None:
    checked = house.checked()
    assert (checked.findings, checked.remarks, checked.rows, checked.first, checked.last) == ([], [], 12, 1, 12)
    assert house.checked("u").rows == 2
    assert house.checked("nobody").is_whole


CHANGES: dict[str, Any] = {
    "id": "f" * 32, "at": NOW + dt.timedelta(microseconds=1), "caller": "l", "answer": "b", "conversation": "d",
    "step": "anzwer", "size": 1, "digest": "0" * 64, "verdict": "blocked", "hits": 7, "sealed": b"\x01\x00\x01",
    "link": "0" * 64,
}  # fmt: skip


@pytest.mark.parametrize("column", [*CHANGES, "position"])
def test_a_changed_field_of_a_request_is_found_in_its_row(house: House, column: str) -> None:
    value = CHANGES.get(column, 900)
    house.change(ledger_entries, 4, **{column: value})
    told = house.told()
    if column == "position":
        assert told[0] == "row 5 stands in another place than it was written"
    elif column == "sealed":
        assert told == ["row 4 has a payload that is not the one it was written with"]
    else:
        assert told[0] == "row 4 was changed"
    # What was replied is sealed to its request, and no longer opens.
    assert column == "position" or {each.split()[1] for each in told} <= {"4", "6"}


@pytest.mark.parametrize("column", ["entry", "at", "outcome", "size", "digest", "sealed", "link"])
def test_a_changed_field_of_a_reply_is_found_in_its_row(house: House, column: str) -> None:
    value = {"entry": "f" * 32, "outcome": "unusable"}.get(column, CHANGES.get(column))
    house.change(ledger_replies, 6, **{column: value})
    told = house.told()
    assert told
    assert {each.split(" was ")[0].split(" has ")[0] for each in told} == {"row 6"}


@pytest.mark.parametrize("table", [ledger_entries, ledger_replies])
def test_any_flipped_byte_of_a_payload_is_found(house: House, table: Table) -> None:
    number = 1 if table is ledger_entries else 3
    sealed = house.row(table, number)["sealed"]
    for place in range(len(sealed)):
        flipped = bytearray(sealed)
        flipped[place] ^= 1
        house.change(table, number, sealed=bytes(flipped))
        assert house.told() == [f"row {number} has a payload that is not the one it was written with"]


@pytest.mark.parametrize("number", range(1, 13))
def test_any_deleted_row_is_told(house: House, number: int) -> None:
    table = ledger_replies if number % 3 == 0 else ledger_entries
    house.remove(table, table.c.tenant == "t", table.c.number == number)
    assert f"row {number} is missing" in house.told()


def test_deleted_ends_are_told(house: House) -> None:
    for table in (ledger_entries, ledger_replies):
        house.remove(table, table.c.tenant == "t", table.c.number > 8)
    assert house.told() == ["rows 9 to 12 are missing"]
    house.remove(ledger_heads, ledger_heads.c.tenant == "t")
    assert house.told() == ["the chain's end is not written down any more"]


def test_rows_that_changed_places_are_told(house: House) -> None:
    house.change(ledger_entries, 4, number=400)
    house.change(ledger_entries, 7, number=4)
    house.change(ledger_entries, 400, number=7)
    told = house.told()
    assert "row 4 was changed" in told
    assert "row 7 was changed" in told


def test_a_row_that_was_added_is_told(house: House) -> None:
    extra = house.row(ledger_entries, 10) | {"id": "e" * 32, "number": 13, "position": 99}
    with house.engine.begin() as connection:
        connection.execute(insert(ledger_entries), extra)
    told = house.told()
    assert told[0] == "row 13 was changed"
    assert told[-1] == "the chain's end is written down as row 12, and there are rows up to 13"
    house.change(ledger_entries, 13, number=None)
    assert house.told() == ["1 rows stand outside of the chain"]


def rewritten(house: House, number: int, **values: Any) -> ChainHead:
    """Forges as somebody who knows this code but no key: changes a row, and every link after it."""
    found = [(table, kind) for table, kind in ((ledger_entries, REQUEST), (ledger_replies, REPLY))]
    with house.engine.begin() as connection:
        rows = sorted(
            (dict(row._mapping) | {"_table": table, "_kind": kind} for table, kind in found
             for row in connection.execute(select(table).where(table.c.tenant == "t"))),
            key=lambda row: row["number"],
        )  # fmt: skip
        head = ChainHead()
        for row in rows:
            if row["number"] == number:
                row.update(values)
            head = linked("t", head, row["_kind"], [row])
            table = row.pop("_table")
            row.pop("_kind")
            same = table.c.id == row["id"] if table is ledger_entries else table.c.entry == row["entry"]
            connection.execute(update(table).where(same).values(**row))
    return head


def test_a_chain_that_was_written_anew_is_told_by_its_end_and_by_the_first_checkpoint_after_it(house: House) -> None:
    rewritten(house, 5, step="other")
    assert house.told() == ["the last row is not the one that is written down as the chain's end"]


def test_a_rewritten_chain_with_a_rewritten_end_is_told(house: House) -> None:
    house.upkeep.checkpoint("t")
    house.ask("later")
    head = rewritten(house, 5, step="other")
    with house.engine.begin() as connection:
        ours = update(ledger_heads).where(ledger_heads.c.tenant == "t")
        connection.execute(ours.values(number=head.number, link=head.link))
    assert house.told() == [
        "the chain's end was written down by somebody else, or with a key that is gone",
        "row 12 is not what a checkpoint has signed",
    ]
    with pytest.raises(LedgerUnavailableError, match="changed from outside"):
        house.ask("never sent")


def test_a_ledger_goes_on_after_the_operator_said_so_and_what_was_wrong_stays_visible(house: House) -> None:
    with house.engine.begin() as connection:
        connection.execute(update(ledger_heads).where(ledger_heads.c.tenant == "t").values(number=11))
    house.change(ledger_entries, 5, step="other")
    assert house.upkeep.resume("t").number == 12
    Ledger(house.engine, house.master).record(house.entry())
    assert house.told() == ["row 5 was changed"]


def test_a_database_that_was_set_back_is_told_by_a_checkpoint_kept_elsewhere(house: House) -> None:
    with house.engine.connect() as connection:
        (before,) = connection.execute(select(ledger_heads).where(ledger_heads.c.tenant == "t"))
    house.ask("gone")
    kept = house.upkeep.checkpoint("t")
    for table in (ledger_entries, ledger_replies, ledger_checkpoints):
        house.remove(table, table.c.tenant == "t", table.c.number > 12)
    with house.engine.begin() as connection:
        connection.execute(update(ledger_heads).where(ledger_heads.c.tenant == "t").values(**before._mapping))
    assert house.checked().is_whole
    assert [str(each) for each in house.checked(kept=[kept]).findings] == ["rows 13 to 15 are missing"]
    with pytest.raises(LedgerUnavailableError, match="changed from outside"):
        house.ask("never sent")


@pytest.mark.parametrize("column", ["body", "signature"])
def test_a_changed_checkpoint_is_told_and_allows_nothing(house: House, column: str) -> None:
    house.upkeep.checkpoint("t")
    with house.engine.begin() as connection:
        (row,) = connection.execute(select(ledger_checkpoints))
        text = getattr(row, column)
        changed = text.replace('"payloads_from":null', '"payloads_from":"2999-01-01T00:00:00.000000+00:00"')
        changed = "00" + text[2:] if column == "signature" else changed
        assert changed != text
        connection.execute(update(ledger_checkpoints).values(**{column: changed}))
        connection.execute(update(ledger_entries).where(ledger_entries.c.number == 1).values(sealed=None))
    told = [
        "checkpoint 1 was changed, or is not signed with this service's key",
        "row 1 has lost its payload, which neither retention nor erasure has taken",
    ]
    assert house.told() == told
    # Nor is it carried on by those that follow.
    house.upkeep.checkpoint("t")
    assert house.told() == told


def test_another_signing_key_signs_nothing_of_before(house: House) -> None:
    house.upkeep.checkpoint("t")
    house.remove(ledger_signers, ledger_signers.c.id == "ledger")
    other = LedgerUpkeep(house.engine, house.master)
    checked = check(house.engine, house.master, other.signer, "t")
    assert [str(each) for each in checked.findings] == [
        "checkpoint 1 was changed, or is not signed with this service's key"
    ]


def test_retention_cuts_payloads_and_the_chain_stays_whole(house: House) -> None:
    house.ask("old", NOW - dt.timedelta(days=100))
    assert house.upkeep.forget_payloads(NOW - dt.timedelta(days=90)) == 2
    checked = house.checked()
    assert (checked.findings, checked.checkpoints) == ([], 1)
    # An older border takes nothing back.
    house.upkeep.forget_payloads(NOW - dt.timedelta(days=200))
    assert house.checked().is_whole
    house.change(ledger_entries, 1, sealed=None)
    assert house.told() == ["row 1 has lost its payload, which neither retention nor erasure has taken"]


def test_erasure_takes_payload_and_reply_and_the_chain_stays_whole(house: House) -> None:
    asked = house.ask("about a person")
    assert house.upkeep.erase("t", [asked.id]) == 2
    assert house.upkeep.erase("u", [asked.id]) == 0
    assert house.row(ledger_entries, 13)["sealed"] is house.row(ledger_replies, 15)["sealed"] is None
    house.upkeep.checkpoint("t")
    assert house.checked().is_whole


def test_old_rows_are_cut_whole_and_the_rest_can_still_be_checked(house: House) -> None:
    for number in range(3):
        house.ask(f"new {number}", NOW + dt.timedelta(days=2))
    assert house.upkeep.cut("t", NOW + dt.timedelta(days=1)) == 12
    checked = house.checked()
    assert (checked.findings, checked.first, checked.last) == ([], 13, 21)
    house.ask("after it", NOW + dt.timedelta(days=2))
    assert house.checked().is_whole
    house.remove(ledger_entries, ledger_entries.c.number == 13)
    assert house.told() == ["row 13 is missing", "row 14 can't be checked, since what stood before it is missing"]


def test_a_chain_that_was_cut_to_its_end_goes_on(house: House) -> None:
    assert house.upkeep.cut("t", NOW + dt.timedelta(days=1)) == 12
    assert house.upkeep.cut("t", NOW + dt.timedelta(days=1)) == 0
    assert house.checked().is_whole
    house.ask("next")
    checked = house.checked()
    assert (checked.findings, checked.first, checked.last) == ([], 13, 15)


def test_every_chain_that_has_grown_is_signed_once(house: House) -> None:
    assert house.upkeep.checkpoint_all() == 2
    assert house.upkeep.checkpoint_all() == 0
    house.ask("more")
    assert house.upkeep.checkpoint_all() == 1
    assert house.checked().checkpoints == 2


def test_a_broken_chain_holds_up_no_other_tenants_retention(house: House) -> None:
    house.ledger.record(house.entry(tenant="a"))
    with house.engine.begin() as connection:
        connection.execute(update(ledger_heads).where(ledger_heads.c.tenant == "a").values(number=0))
    with pytest.raises(BrokenHeadError):
        house.upkeep.forget_payloads(NOW + dt.timedelta(days=1))
    assert house.row(ledger_entries, 1)["sealed"] is None


def test_rows_that_never_had_a_number_are_told_as_added_and_taken_in_by_nothing(house: House) -> None:
    with house.engine.begin() as connection:
        connection.execute(update(ledger_entries).values(number=None, link=None))
        connection.execute(update(ledger_replies).values(number=None, link=None, tenant=None, digest=None))
        connection.execute(delete(ledger_heads))
    assert (house.checked().rows, house.told()) == (0, ["12 rows stand outside of the chain"])
    Ledger(house.engine, house.master).record(house.entry())
    assert (house.checked().rows, house.told()) == (1, ["12 rows stand outside of the chain"])


def test_a_master_key_that_was_rotated_reads_and_continues_the_chain(house: House) -> None:
    house.upkeep.checkpoint("t")
    master = MasterKey.from_text(MasterKey.rotated(house.ring))
    Ledger(house.engine, master).record(house.entry())
    upkeep = LedgerUpkeep(house.engine, master)
    assert upkeep.signer.public() == house.upkeep.signer.public()
    upkeep.checkpoint("t")
    checked = check(house.engine, master, upkeep.signer, "t")
    assert (checked.rows, checked.checkpoints, checked.findings) == (13, 2, [])


def test_a_reply_whose_request_was_cut_loses_its_text_and_the_chain_stays_whole(house: House) -> None:
    asked = house.entry()
    house.ledger.record(asked)
    house.ledger.record_replies([LedgerReply(asked, "used", "Vx81zp", NOW + dt.timedelta(days=2))])
    assert house.upkeep.cut("t", NOW + dt.timedelta(days=1)) == 13
    assert house.row(ledger_replies, 14)["sealed"] is None
    house.upkeep.checkpoint("t")
    checked = house.checked()
    assert (checked.findings, checked.first, checked.last) == ([], 14, 14)


def pages(house: House, most: int) -> list[Checked]:
    """Every page of a check of so many rows a call."""
    progress: CheckProgress | None = None
    found: list[Checked] = []
    while not found or progress is not None:
        found.append(check(house.engine, house.master, house.upkeep.signer, "t", progress=progress, most=most))
        progress = found[-1].progress
    return found


@pytest.mark.parametrize("most", [1, 5, 12])
def test_pages_of_a_check_find_what_the_whole_check_finds(house: House, most: int) -> None:
    house.upkeep.checkpoint("t")
    assert [page.is_whole for page in pages(house, most)] == [False] * ((12 - 1) // most) + [True]
    house.change(ledger_entries, 4, hits=5)
    house.change(ledger_replies, 6, link="0" * 64)
    house.remove(ledger_entries, ledger_entries.c.tenant == "t", ledger_entries.c.number == 8)
    found = pages(house, most)
    assert [str(each) for page in found for each in page.findings] == house.told()
    assert (found[-1].wrong, found[-1].rows, found[-1].last) == (len(house.told()), 11, 12)
    assert not any(page.is_whole for page in found)


def test_a_row_that_stands_there_twice_is_found_where_a_page_ends(house: House) -> None:
    house.change(ledger_replies, 6, number=5)
    assert "row 5 stands there twice" in house.told()
    for most in (4, 5, 6):
        assert [str(each) for page in pages(house, most) for each in page.findings] == house.told()


def test_a_check_goes_on_over_rows_that_are_cut_between_two_pages(house: House) -> None:
    later = dt.timedelta(days=1)
    house.ask("new", NOW + later)
    first = check(house.engine, house.master, house.upkeep.signer, "t", most=4)
    assert house.upkeep.cut("t", NOW + later / 2) == 12
    last = check(house.engine, house.master, house.upkeep.signer, "t", progress=first.progress, most=100)
    assert (last.is_whole, last.findings, last.first, last.last) == (True, [], 13, 15)


def test_rows_that_were_changed_one_after_the_other_do_not_make_the_next_ones_look_changed(house: House) -> None:
    for number in range(4, 4 + MAX_LINKS_BEFORE - 2):
        table = ledger_replies if number % 3 == 0 else ledger_entries
        house.change(table, number, link=f"{number:064}")
    assert house.told() == [f"row {number} was changed" for number in range(4, 4 + MAX_LINKS_BEFORE - 2)]
