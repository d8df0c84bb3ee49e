"""A ledger with its upkeep, and changes that somebody with write access to the database could make."""

from __future__ import annotations

import datetime as dt
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, Table, delete, select, update

from app.egress.ledger.ledger import Ledger, LedgerEntry, LedgerReply
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import Checked, check
from kg_store.storage.master_key import MasterKey

NOW = dt.datetime.now(dt.UTC)
WORDS = "Does Eq7f2k know Zephyrine Oakenhollow?"


class House:
    """One ledger with its upkeep: twelve rows of tenant t (eight requests, four replies), two of tenant u."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.ring = engine, MasterKey.generate()
        self.master = MasterKey.from_text(self.ring)
        self.ledger, self.upkeep = Ledger(engine, self.master), LedgerUpkeep(engine, self.master)
        for number in range(4):
            self.ask(f"a{number}")
        for _ in range(2):
            self.ledger.record(self.entry(tenant="u"))

    def ask(self, answer: str, at: dt.datetime = NOW) -> LedgerEntry:
        """Record a request, a blocked request and a reply: three rows."""
        asked = self.entry(answer=answer, at=at)
        self.ledger.record(asked)
        self.ledger.record(self.entry(answer=answer, at=at, verdict="blocked", hits=1))
        self.ledger.record_replies([LedgerReply(asked, "used", "Vx81zp " + answer, at)])
        return asked

    def entry(self, **changes: Any) -> LedgerEntry:
        body = WORDS.encode()
        given = {
            "tenant": "t", "caller": "k", "answer": "a", "conversation": "c", "step": "answer", "size": len(body),
            "digest": sha256(body).hexdigest(), "verdict": "clear", "payload": body, "at": NOW,
            "anonymity": 1,
        }  # fmt: skip
        return LedgerEntry(**(given | changes))

    def checked(self, tenant: str = "t", **kept: Any) -> Checked:
        return check(self.engine, self.master, self.upkeep.signer, tenant, **kept)

    def told(self) -> list[str]:
        return [str(finding) for finding in self.checked().findings]

    def change(self, table: Table, number: int, /, **values: Any) -> None:
        with self.engine.begin() as connection:
            where = (table.c.tenant == "t", table.c.number == number)
            assert connection.execute(update(table).where(*where).values(**values)).rowcount == 1

    def remove(self, table: Table, *where: Any) -> None:
        with self.engine.begin() as connection:
            assert connection.execute(delete(table).where(*where)).rowcount

    def row(self, table: Table, number: int) -> dict[str, Any]:
        with self.engine.connect() as connection:
            where = (table.c.tenant == "t", table.c.number == number)
            return dict(connection.execute(select(table).where(*where)).one()._mapping)
