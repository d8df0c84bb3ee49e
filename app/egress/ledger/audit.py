"""Checks and exports a ledger for those responsible for it; the export is JSON lines."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from sqlalchemy import Engine

from app.egress.ledger.chain import BrokenHeadError
from app.egress.ledger.export import export
from app.egress.ledger.reader import check_page
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import CheckProgress
from client_sdk.protocol import LedgerCheck
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey, bind

MAX_FINDINGS_TOLD: Final = 100
MAX_ROWS_A_CALL: Final = 5_000
"""Takes less than a second of processor time, so that no request blocks a worker for long. Chosen by hand."""

CURSOR_PURPOSE: Final = "ledger check"


class LedgerAudit:
    """Verifies and exports the ledger of one tenant, for `arog ledger`."""

    def __init__(self, engine: Engine, master: MasterKey, upkeep: LedgerUpkeep) -> None:
        self._engine, self._master, self._upkeep = engine, master, upkeep

    def check(self, tenant: str, cursor: str | None = None, most: int = MAX_ROWS_A_CALL) -> LedgerCheck:
        """Checks the links and payloads of the next `most` rows; after the last row also the checkpoints and the end.

        `cursor`: the one that the previous call for this tenant returned. Raises LedgerUnavailableError,
        UnknownCursorError.
        """
        progress = None if cursor is None else self._progress(tenant, cursor)
        signer = self._upkeep.signer
        checked = check_page(self._engine, self._master, signer, tenant, progress, most)
        return LedgerCheck(
            rows=checked.rows,
            first=checked.first,
            last=checked.last,
            checkpoints=checked.checkpoints,
            is_whole=checked.is_whole,
            wrong=checked.wrong,
            findings=[str(finding) for finding in checked.findings[:MAX_FINDINGS_TOLD]],
            remarks=checked.remarks,
            key=signer.public(),
            cursor=None if checked.progress is None else self._cursor(tenant, checked.progress),
        )

    def _cursor(self, tenant: str, progress: CheckProgress) -> str:
        """The progress sealed as text, so that nobody can submit another state of the check or that of
        another tenant.
        """
        plain = json.dumps(asdict(progress)).encode()
        return base64.urlsafe_b64encode(self._master.seal(CURSOR_PURPOSE, bind(tenant), plain)).decode()

    def _progress(self, tenant: str, cursor: str) -> CheckProgress:
        try:
            sealed = base64.urlsafe_b64decode(cursor.encode())
            told = json.loads(self._master.open(CURSOR_PURPOSE, bind(tenant), sealed))
        except (MasterKeyError, binascii.Error, ValueError):
            raise UnknownCursorError from None
        return CheckProgress(**(told | {"before": tuple(told["before"])}))

    def lines(self, tenant: str, payloads: bool) -> Iterator[str]:
        """Signs the chain and yields an export, line by line. Raises LedgerBrokenError."""
        lines = export(self._engine, self._master, self._upkeep, tenant, payloads)
        try:
            first = next(lines)
        except BrokenHeadError:
            raise LedgerBrokenError from None
        return _written(first, lines)


def _written(first: dict[str, object], rest: Iterator[dict[str, object]]) -> Iterator[str]:
    yield json.dumps(first, sort_keys=True) + "\n"
    for line in rest:
        yield json.dumps(line, sort_keys=True) + "\n"


class UnknownCursorError(Exception):
    """The cursor belongs to another tenant, or was not issued by this service."""


class LedgerBrokenError(Exception):
    """The end of the tenant's ledger was changed from outside."""
