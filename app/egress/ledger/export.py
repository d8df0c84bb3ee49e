"""A tenant's chain as JSON lines, and a check of such a file that needs no database and no master key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Engine

from app.egress.ledger.chain import ChainHead
from app.egress.ledger.checkpoints import Checkpoint, is_ours, read_checkpoint
from app.egress.ledger.reader import chain_rows, one_state
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import ChainFault, ChainRow, ChainVerifier, Checked
from kg_store.storage.master_key import MasterKey

FORMAT: Final = 1
_NOT_OF_CONTENT: Final = ("link", "payload")


class ExportError(Exception):
    """A file is no export of a ledger. The text names a line."""


def export(
    engine: Engine, master: MasterKey, upkeep: LedgerUpkeep, tenant: str, payloads: bool
) -> Iterator[dict[str, Any]]:
    """Yields a header, every checkpoint including one made now, and the rows up to it. Raises BrokenHeadError."""
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
    """Returns the checkpoints in an export or in the output of `arog ledger checkpoint`. Raises ExportError."""
    read = [(number, _read(number, line)) for number, line in enumerate(lines, start=1)]
    return [_checkpoint(number, line) for number, line in read if line["kind"] == "checkpoint"]


def check_export(lines: Iterable[str], key: str | None = None) -> Checked:
    """Checks an export against `key`, the public key in hex; without one, against the key that the file names.

    Raises ExportError.
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
