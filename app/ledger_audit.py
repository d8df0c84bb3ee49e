"""The ledger for those who answer for it: its chain checked, and all of it as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Engine

from app.privacy.ledger_chain import BrokenHead
from app.privacy.ledger_export import export
from app.privacy.ledger_rows import check
from app.privacy.ledger_upkeep import LedgerUpkeep
from app.problems import LedgerBroken
from client_sdk.protocol import LedgerCheck
from kg_store.keys import MasterKey

MOST_FINDINGS: Final = 100


class LedgerAudit:
    """What `arog ledger verify` and `arog ledger export` tell, of one tenant."""

    def __init__(self, engine: Engine, master: MasterKey, upkeep: LedgerUpkeep) -> None:
        self._engine, self._master, self._upkeep = engine, master, upkeep

    def check(self, tenant: str) -> LedgerCheck:
        """Every row, link, payload, checkpoint and the end. Raises LedgerUnavailable."""
        checked = check(self._engine, self._master, self._upkeep.signer, tenant)
        return LedgerCheck(
            rows=checked.rows,
            first=checked.first,
            last=checked.last,
            checkpoints=checked.checkpoints,
            is_whole=checked.is_whole,
            wrong=len(checked.findings),
            findings=[str(finding) for finding in checked.findings[:MOST_FINDINGS]],
            remarks=checked.remarks,
            key=self._upkeep.signer.public(),
        )

    def lines(self, tenant: str, payloads: bool) -> Iterator[str]:
        """An export, line by line; signs the chain as it is first. Raises LedgerBroken."""
        lines = export(self._engine, self._master, self._upkeep, tenant, payloads)
        try:
            first = next(lines)
        except BrokenHead:
            raise LedgerBroken from None
        return _written(first, lines)


def _written(first: dict[str, object], rest: Iterator[dict[str, object]]) -> Iterator[str]:
    yield json.dumps(first, sort_keys=True) + "\n"
    for line in rest:
        yield json.dumps(line, sort_keys=True) + "\n"
