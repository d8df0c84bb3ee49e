"""Several processes write one tenant's chain at once, in SQLite and in PostgreSQL: it never forks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from app.database.engine import make_engine, migrate
from app.egress.ledger.chain import ledger_entries
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import check
from kg_store.storage.master_key import MasterKey
from tests.support.processes.postgres import running

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[4]
WRITER = """
import sys
from app.database.engine import make_engine
from app.egress.ledger.ledger import Ledger, LedgerEntry, LedgerReply
from kg_store.storage.master_key import MasterKey
url, ring, count = sys.argv[1:]
ledger = Ledger(make_engine(url), MasterKey.from_text(ring))
sys.stdin.readline()
for _ in range(int(count)):
    entry = LedgerEntry("t", "k", "a", "c", "step", 3, "0" * 64, "blocked", 1)
    ledger.record(entry)
    ledger.record_replies([LedgerReply(entry, "used", "yes")])
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'arog.db'}"
        return
    with running() as url:
        yield url


def test_processes_that_write_at_once_make_one_chain(url: str) -> None:
    ring, engine = MasterKey.generate(), make_engine(url)
    migrate(engine)
    master = MasterKey.from_text(ring)
    upkeep = LedgerUpkeep(engine, master)
    command = [sys.executable, "-c", WRITER, url, ring, "40"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    # All wait for a line, so that the tenant's first row is one of several at once.
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) for _ in range(3)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.close()
    while any(writer.poll() is None for writer in writers):
        # What checks and cuts does so while others write.
        assert check(engine, master, upkeep.signer, "t").is_whole
        upkeep.checkpoint("t")
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    checked = check(engine, master, upkeep.signer, "t")
    assert (checked.rows, checked.last, checked.findings) == (240, 240, [])
    with engine.begin() as connection:
        number = connection.execute(
            select(func.min(ledger_entries.c.number)).where(ledger_entries.c.number > 7)
        ).scalar_one()
        connection.execute(update(ledger_entries).where(ledger_entries.c.number == number).values(hits=2))
    told = check(engine, master, upkeep.signer, "t").findings
    assert [str(each) for each in told] == [f"row {number} was changed"]
    engine.dispose()
