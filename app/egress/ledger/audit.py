"""Checks a tenant's ledger, and exports it as JSON lines that can be checked without the database."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from sqlalchemy import Engine

from app.egress.ledger.chain import BrokenHeadError, ChainHead
from app.egress.ledger.checkpoints import Checkpoint, is_ours, read_checkpoint
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import (
    ChainFault,
    ChainRow,
    ChainVerifier,
    Checked,
    CheckProgress,
    chain_rows,
    check,
    one_state,
)
from client_sdk.protocol import LedgerCheck
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey, bind

FORMAT: Final = 1
_NOT_OF_CONTENT: Final = ("link", "payload")


class ExportError(Exception):
    """A file is not an export of a ledger; the error's text names the first wrong line."""


def export(
    engine: Engine, master: MasterKey, upkeep: LedgerUpkeep, tenant: str, payloads: bool
) -> Iterator[dict[str, Any]]:
    """Signs a new checkpoint, then yields the lines of an export: a header, every checkpoint, and the rows.

    Rows after the new checkpoint are left out. With `payloads`, each row has what was sent or replied. Raises
    BrokenHeadError.
    """
    last, public = upkeep.checkpoint(tenant), upkeep.signer.public()
    yield {"kind": "ledger", "format": FORMAT, "tenant": tenant, "key": public, "payloads": payloads}
    for checkpoint in upkeep.checkpoints(tenant):
        yield line_of(checkpoint)
    with one_state(engine) as connection:
        for row, payload in chain_rows(connection, master, tenant):
            if row.number > last.number:
                return
            line = {**row.content, "link": row.link}
            if payloads:
                line["payload"] = None if payload is None else payload.decode("utf-8", "surrogateescape")
            yield line


def line_of(checkpoint: Checkpoint) -> dict[str, Any]:
    return {"kind": "checkpoint", "body": checkpoint.body, "signature": checkpoint.signature}


def kept_checkpoints(lines: Iterable[str]) -> list[Checkpoint]:
    """Returns the checkpoints in the lines of an export or of `arog ledger checkpoint`. Raises ExportError."""
    read = [(number, _read(number, line)) for number, line in enumerate(lines, start=1)]
    return [_checkpoint(number, line) for number, line in read if line["kind"] == "checkpoint"]


def check_export(lines: Iterable[str], key: str | None = None) -> Checked:
    """Checks the lines of an export. Raises ExportError if they are not one.

    `key`: the public key (hex) that must have signed its checkpoints; without it, the key that the file itself names.
    """
    told = ((number, _read(number, line)) for number, line in enumerate(lines, start=1))
    header = next(told, (1, {}))[1]
    if header.get("kind") != "ledger" or header.get("format") != FORMAT:
        raise ExportError("line 1 is not the header of a ledger of a format known here")
    tenant, public = str(header.get("tenant")), key or str(header.get("key"))
    findings, ours, walk = list[ChainFault](), list[Checkpoint](), None
    for number, line in told:
        if line["kind"] == "checkpoint":
            checkpoint = _checkpoint(number, line)
            if is_ours(checkpoint, tenant, public):
                ours.append(checkpoint)
            else:
                findings.append(ChainFault(f"the checkpoint in line {number} was changed, or signed with another key"))
            continue
        walk = walk or ChainVerifier(ours, looks_at_payloads=header.get("payloads") is True)
        walk.see(_row(number, line))
    walk = walk or ChainVerifier(ours)
    if not ours:
        findings.append(ChainFault("no checkpoint is signed with the key"))
    walk.end(ChainHead(ours[-1].number, ours[-1].link) if ours else None)
    remarks = [] if key else ["checked with the key that the file itself names"]
    wrong = len(findings) + walk.wrong
    return Checked(tenant, walk.rows, walk.first, walk.last, len(ours), wrong, findings + walk.findings, remarks)


def _read(number: int, line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError:
        raise ExportError(f"line {number} is not JSON") from None
    if not isinstance(told, dict) or not isinstance(told.get("kind"), str):
        raise ExportError(f"line {number} has no `kind`")
    return told


def _checkpoint(number: int, line: dict[str, Any]) -> Checkpoint:
    try:
        return read_checkpoint(str(line["body"]), str(line["signature"]))
    except (KeyError, ValueError):
        raise ExportError(f"line {number} is no checkpoint") from None


def _row(number: int, line: dict[str, Any]) -> ChainRow:
    content = {name: value for name, value in line.items() if name not in _NOT_OF_CONTENT}
    payload = line.get("payload")
    if not isinstance(content.get("number"), int) or not isinstance(content.get("at"), str):
        raise ExportError(f"line {number} is no row of a ledger")
    if payload is None:
        return ChainRow(content["number"], str(line.get("link")), content, has_payload=False)
    plain = str(payload).encode("utf-8", "surrogateescape")
    fits = len(plain) == content.get("size") and sha256(plain).hexdigest() == content.get("digest")
    return ChainRow(content["number"], str(line.get("link")), content, payload_fits=fits)


MAX_FINDINGS_TOLD: Final = 100
MAX_ROWS_A_CALL: Final = 5_000
"""The greatest number of rows that one call checks: less than a second of work, so that no call blocks a worker for
long. Chosen by hand.
"""

CURSOR_PURPOSE: Final = "ledger check"


class LedgerAudit:
    """Checks and exports the ledger of a tenant, for the commands `arog ledger`."""

    def __init__(self, engine: Engine, master: MasterKey, upkeep: LedgerUpkeep) -> None:
        self._engine, self._master, self._upkeep = engine, master, upkeep

    def check(self, tenant: str, cursor: str | None = None, most: int = MAX_ROWS_A_CALL) -> LedgerCheck:
        """Checks the links and payloads of the next `most` rows, and after the last row also the chain's end.

        `cursor`: the one that the previous call for this tenant returned; None to begin. Raises
        LedgerUnavailableError, UnknownCursorError.
        """
        progress = None if cursor is None else self._progress(tenant, cursor)
        signer = self._upkeep.signer
        checked = check(self._engine, self._master, signer, tenant, progress=progress, most=most)
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
        """Returns the progress of a check as encrypted text.

        So nobody can hand in a made-up state of the check, or that of another tenant.
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
        """Signs a checkpoint and returns the lines of an export. Raises LedgerBrokenError."""
        lines = export(self._engine, self._master, self._upkeep, tenant, payloads)
        try:
            first = next(lines)
        except BrokenHeadError:
            raise LedgerBrokenError from None
        return (json.dumps(line, sort_keys=True) + "\n" for line in chain([first], lines))


class UnknownCursorError(Exception):
    """The cursor belongs to another tenant, or was not issued by this service."""


class LedgerBrokenError(Exception):
    """The end of the tenant's ledger was changed by something other than this service."""
