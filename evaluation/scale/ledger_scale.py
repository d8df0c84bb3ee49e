"""The check of a ledger at scale: the processor time that a number of rows takes, beside that of a tenth of them."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from app.database.engine import make_engine, migrate
from app.egress.ledger.ledger import Ledger, LedgerEntry, LedgerReply
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import check
from app.graphs.markdown_table import markdown_table
from kg_store.storage.master_key import MasterKey

MAX_MS_A_ROW: Final = 0.5
MAX_GROWTH: Final = 2.0
"""Times the processor time of a row that it may take where there are ten times as many."""

PROMPT_BYTES: Final = 3_800
_TENANT: Final = "scale"


@dataclass(frozen=True, slots=True)
class LedgerScale:
    """Seconds of processor time for checking `rows` rows, and a tenth of them; requests and replies by halves."""

    rows: int
    seconds: float
    tenth_seconds: float

    @property
    def ms_a_row(self) -> float:
        return self.seconds / self.rows * 1e3

    @property
    def growth(self) -> float:
        """The time of a row, as a multiple of what it is in the smaller ledger."""
        return self.seconds / self.rows / (self.tenth_seconds / (self.rows // 10))

    @property
    def passed(self) -> bool:
        return self.ms_a_row <= MAX_MS_A_ROW and self.growth <= MAX_GROWTH


def measure_ledger(rows: int) -> LedgerScale:
    """Fills two ledgers, and checks each of them whole."""
    return LedgerScale(rows, _seconds(rows), _seconds(rows // 10))


def markdown(scale: LedgerScale) -> str:
    """The table of both ledgers, with the bounds."""
    verdict = "pass" if scale.passed else "FAIL"
    rows = [
        (f"{scale.rows // 10:,}", f"{scale.tenth_seconds:.2f} s", ""),
        (f"{scale.rows:,}", f"{scale.seconds:.2f} s", f"{scale.ms_a_row:.3f} ms"),
    ]
    return (
        f"{markdown_table(('rows', 'processor time', 'a row'), rows)}\n"
        f"{verdict}: bounds {MAX_MS_A_ROW:g} ms a row, and {MAX_GROWTH:g} times that of the smaller ledger "
        f"(measured: {scale.growth:.2f})\n"
    )


def _seconds(rows: int) -> float:
    with tempfile.TemporaryDirectory(prefix="arog-ledger-") as folder:
        engine = make_engine(f"sqlite:///{Path(folder) / 'arog.db'}")
        try:
            migrate(engine)
            master = MasterKey.from_text(MasterKey.generate())
            _fill(Ledger(engine, master), rows)
            upkeep = LedgerUpkeep(engine, master)
            upkeep.checkpoint(_TENANT)
            began = time.process_time()
            checked = check(engine, master, upkeep.signer, _TENANT)
            seconds = time.process_time() - began
        finally:
            engine.dispose()
    if not checked.is_whole or checked.rows != rows:
        raise RuntimeError("the ledger of the measurement is not whole")
    return seconds


def _fill(ledger: Ledger, rows: int) -> None:
    body = b"x" * PROMPT_BYTES
    digest = sha256(body).hexdigest()
    for number in range(rows - rows // 2):
        asked = LedgerEntry(
            _TENANT, "key", f"answer{number}", "conversation", "step", len(body), digest, "clear", payload=body
        )
        ledger.record(asked)
        if number < rows // 2:
            ledger.record_replies([LedgerReply(asked, "used", "Vx81zp")])
