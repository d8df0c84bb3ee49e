from __future__ import annotations

import datetime as dt

import pytest
from sqlalchemy import Engine, delete, select, text, update

from app.egress.ledger.chain import ledger_entries, ledger_replies, metadata
from app.egress.ledger.ledger import MAX_ENTRIES, Ledger, LedgerEntry, LedgerReply, LedgerUnavailableError
from app.egress.ledger.retention import LedgerUpkeep
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey


@pytest.fixture
def master() -> MasterKey:
    return MasterKey.from_text(MasterKey.generate())


@pytest.fixture
def ledger(engine: Engine, master: MasterKey) -> Ledger:
    return Ledger(engine, master)


@pytest.fixture
def upkeep(engine: Engine, master: MasterKey) -> LedgerUpkeep:
    return LedgerUpkeep(engine, master)


def entry(**changes: object) -> LedgerEntry:
    given: dict[str, object] = {
        "tenant": "t", "caller": "k", "answer": "a", "conversation": "c", "step": "answer", "size": 9,
        "digest": "d" * 64, "verdict": "clear", "payload": b"Eq7f2k is",
    }  # fmt: skip
    return LedgerEntry(**(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("anonymity", [None, 0, 7, 12_345])
def test_the_number_that_fit_comes_back_and_lies_sealed_with_the_body(
    ledger: Ledger, engine: Engine, anonymity: int | None
) -> None:
    made = entry(anonymity=anonymity, payload=b"Eq7f2k 42", hits=0)
    ledger.record(made)
    assert ledger.entries("t") == [made]
    with engine.connect() as connection:
        row = connection.execute(select(ledger_entries)).one()
    assert row.sealed is not None
    assert "anonymity" not in row._asdict()


def test_the_newest_stands_first_and_the_limit_holds(ledger: Ledger) -> None:
    for number in range(5):
        ledger.record(entry(size=number))
    assert [each.size for each in ledger.entries("t", limit=3)] == [4, 3, 2]
    assert ledger.entries("t", limit=-1) == []
    assert len(ledger.entries("t", limit=MAX_ENTRIES * 9)) == 5


def test_entries_are_told_apart_by_tenant_caller_and_answer(ledger: Ledger) -> None:
    for changes in ({}, {"tenant": "u"}, {"caller": "l"}, {"answer": "b"}):
        ledger.record(entry(**changes))
    assert len(ledger.entries("t")) == 3
    assert len(ledger.entries("t", "k")) == 2
    assert len(ledger.entries("t", "k", "a")) == 1
    assert len(ledger.entries("t", None, "a")) == 2
    assert ledger.entries("v") == []


def test_a_blocked_body_is_never_kept(ledger: Ledger, engine: Engine) -> None:
    ledger.record(entry(verdict="blocked", hits=3, payload=b"Anna Berg"))
    (kept,) = ledger.entries("t")
    assert (kept.verdict, kept.hits, kept.payload) == ("blocked", 3, None)
    with engine.connect() as connection:
        assert connection.execute(text("select sealed from ledger_entries")).scalar() is None


def test_a_payload_is_sealed_in_the_database(ledger: Ledger, engine: Engine) -> None:
    ledger.record(entry())
    with engine.connect() as connection:
        row = connection.execute(text("select * from ledger_entries")).one()
    assert b"Eq7f2k" not in row.sealed
    assert not any("Eq7f2k" in str(value) for value in row if not isinstance(value, bytes))


def test_a_payload_opens_in_its_own_row_alone(ledger: Ledger, engine: Engine) -> None:
    first, second = entry(), entry(conversation="other")
    ledger.record(first)
    ledger.record(second)
    with engine.begin() as connection:
        sealed = connection.execute(text("select sealed from ledger_entries order by position")).scalars().first()
        connection.execute(update(ledger_entries).values(sealed=sealed))
    with pytest.raises(MasterKeyError):
        ledger.entries("t")


def test_another_master_key_opens_no_payload(ledger: Ledger, engine: Engine) -> None:
    ledger.record(entry())
    with pytest.raises(MasterKeyError):
        Ledger(engine, MasterKey.from_text(MasterKey.generate())).entries("t")


def test_payloads_are_forgotten_when_their_time_is_over_and_entries_stay(ledger: Ledger, upkeep: LedgerUpkeep) -> None:
    now = dt.datetime.now(dt.UTC)
    ledger.record(entry(at=now - dt.timedelta(days=100)))
    ledger.record(entry(at=now))
    before = (now - dt.timedelta(days=90)).astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert upkeep.forget_payloads(before) == 1
    assert upkeep.forget_payloads(before) == 0
    assert [each.payload for each in ledger.entries("t")] == [b"Eq7f2k is", None]
    assert ledger.entries("t")[0].at == now


def test_a_ledger_that_can_not_be_written_stops_the_sending(engine: Engine, ledger: Ledger) -> None:
    metadata.drop_all(engine)
    with pytest.raises(LedgerUnavailableError) as caught:
        ledger.record(entry())
    assert "Eq7f2k" not in str(caught.value)
    with pytest.raises(LedgerUnavailableError):
        ledger.entries("t")


def test_a_key_that_can_not_seal_stops_the_sending(engine: Engine) -> None:
    class Broken:
        def seal(self, purpose: str, context: bytes, plain: bytes) -> bytes:
            raise MasterKeyError("gone")

    with pytest.raises(LedgerUnavailableError):
        Ledger(engine, Broken()).record(entry())  # type: ignore[arg-type]


def test_an_id_is_recorded_once(ledger: Ledger, engine: Engine) -> None:
    made = entry()
    ledger.record(made)
    with pytest.raises(LedgerUnavailableError):
        ledger.record(made)
    with engine.begin() as connection:
        connection.execute(delete(ledger_entries))


def test_nothing_of_a_payload_stands_in_a_repr() -> None:
    assert "Eq7f2k" not in repr(entry())


def test_a_reply_is_sealed_in_the_database_and_opens_with_its_own_request_alone(
    ledger: Ledger, engine: Engine
) -> None:
    one, other = entry(), entry(conversation="d")
    ledger.record_replies([LedgerReply(one, "used", "perhaps Anna Berg"), LedgerReply(other, "used", "Eq7f2k")])
    with engine.begin() as connection:
        rows = {row.entry: row.sealed for row in connection.execute(select(ledger_replies))}
        assert not any(b"Anna" in sealed for sealed in rows.values())
        moved = update(ledger_replies).where(ledger_replies.c.entry == other.id).values(sealed=rows[one.id])
        connection.execute(moved)
    with pytest.raises(MasterKeyError):
        ledger.replies_to([other])


def test_replies_are_forgotten_with_the_requests(ledger: Ledger, upkeep: LedgerUpkeep, engine: Engine) -> None:
    now = dt.datetime.now(dt.UTC)
    old, new = entry(at=now - dt.timedelta(days=9)), entry()
    for each in (old, new):
        ledger.record(each)
        ledger.record_replies([LedgerReply(each, "used", "Eq7f2k", each.at)])
    assert upkeep.forget_payloads(now - dt.timedelta(days=1)) == 2
    kept = ledger.replies_to([old, new])
    assert (kept[old.id].text, kept[new.id].text) == (None, "Eq7f2k")
    with engine.connect() as connection:
        assert {row.size for row in connection.execute(select(ledger_replies))} == {6}


def test_replies_that_can_not_be_written_or_read_are_an_error(ledger: Ledger, engine: Engine) -> None:
    metadata.drop_all(engine)
    with pytest.raises(LedgerUnavailableError):
        ledger.record_replies([LedgerReply(entry(), "used", "Eq7f2k")])
    with pytest.raises(LedgerUnavailableError):
        ledger.replies_to([entry()])
