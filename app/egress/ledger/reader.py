"""Reads a tenant's chain from a single state of the database, for checks and exports."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Table, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.egress.ledger.chain import (
    PURPOSE,
    REPLY,
    REQUEST,
    ChainHead,
    content_of,
    is_sealed,
    opened_content,
    reply_context,
    request_context,
)
from app.egress.ledger.checkpoints import Checkpoint, Signer, checkpoints_of, is_ours
from app.egress.ledger.ledger import LedgerUnavailableError
from app.egress.ledger.tables import ledger_entries, ledger_heads, ledger_replies
from app.egress.ledger.verification import MAX_FINDINGS, ChainFault, ChainRow, ChainVerifier, Checked, CheckProgress
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

_BATCH_SIZE: Final = 500


def check(engine: Engine, master: MasterKey, signer: Signer, tenant: str, kept: Iterable[Checkpoint] = ()) -> Checked:
    """Checks every row of one tenant's chain, with payloads opened. Raises LedgerUnavailableError.

    `kept`: checkpoints kept elsewhere, which reveal that the whole database was reset to an older state.
    """
    return _read(engine, signer, lambda connection, public: _checked(connection, master, public, tenant, kept))


def check_page(
    engine: Engine, master: MasterKey, signer: Signer, tenant: str, progress: CheckProgress | None, most: int
) -> Checked:
    """Checks at most `most` rows after `progress`, plus others with the last row's number. Raises
    LedgerUnavailableError.

    Limit: each page is read from the current state; changes to earlier pages are found by the next check.
    """
    return _read(
        engine, signer, lambda connection, public: _checked(connection, master, public, tenant, (), progress, most)
    )


def _read(engine: Engine, signer: Signer, checked: Callable[[Connection, str], Checked]) -> Checked:
    public = signer.public()
    try:
        with one_state(engine) as connection:
            return checked(connection, public)
    except SQLAlchemyError:
        raise LedgerUnavailableError("the ledger could not be read") from None


@contextmanager
def one_state(engine: Engine) -> Iterator[Connection]:
    """Opens a connection that reads the state at its beginning, whatever is written meanwhile."""
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    with engine.connect().execution_options(**level) as connection:
        if engine.dialect.name == "sqlite":
            # Its driver begins no transaction for a select.
            connection.exec_driver_sql("BEGIN")
        yield connection
        connection.rollback()


def chain_rows(
    connection: Connection, master: MasterKey, tenant: str, after: int | None = None
) -> Iterator[tuple[ChainRow, bytes | None]]:
    """Yields requests and replies by number, each with its payload if that exists and can be opened.

    `after`: only rows with greater numbers.
    """
    requests, replies = (rows(connection, master, tenant, after) for rows in (_requests, _replies))
    return heapq.merge(requests, replies, key=lambda each: each[0].number)


def _checked(
    connection: Connection,
    master: MasterKey,
    public: str,
    tenant: str,
    kept: Iterable[Checkpoint],
    progress: CheckProgress | None = None,
    most: int | None = None,
) -> Checked:
    ours, findings = _checkpoints(connection, tenant, public)
    walk = ChainVerifier(ours, (each for each in kept if is_ours(each, tenant, public)), progress=progress)
    after = None if progress is None else progress.after
    if not _walked(walk, chain_rows(connection, master, tenant, after), most):
        return _outcome(tenant, walk, ours, [], walk.progress)
    head = _head(connection, master, tenant, findings, begun=bool(ours) or walk.rows > 0)
    walk.end(head)
    if outside := _outside(connection, tenant):
        findings.append(ChainFault(f"{outside} rows stand outside of the chain"))
    return _outcome(tenant, walk, ours, findings, None)


def _walked(walk: ChainVerifier, rows: Iterable[tuple[ChainRow, bytes | None]], most: int | None) -> bool:
    """True if all rows were read; False if it stopped after `most`, which it never does between rows of one number."""
    for seen, (row, _payload) in enumerate(rows):
        if most is not None and seen >= most and row.number != walk.after:
            return False
        walk.see(row)
    return True


def _outcome(
    tenant: str,
    walk: ChainVerifier,
    ours: Sequence[Checkpoint],
    findings: list[ChainFault],
    progress: CheckProgress | None,
) -> Checked:
    wrong, found = len(findings) + walk.wrong, (findings + walk.findings)[:MAX_FINDINGS]
    return Checked(tenant, walk.rows, walk.first, walk.last, len(ours), wrong, found, progress=progress)


def _checkpoints(connection: Connection, tenant: str, public: str) -> tuple[list[Checkpoint], list[ChainFault]]:
    """The checkpoints with a valid signature, in order, and faults for the others."""
    ours, findings = list[Checkpoint](), list[ChainFault]()
    for position, checkpoint in enumerate(checkpoints_of(connection, tenant), start=1):
        if is_ours(checkpoint, tenant, public):
            ours.append(checkpoint)
        else:
            findings.append(ChainFault(f"checkpoint {position} was changed, or is not signed with this service's key"))
    return ours, findings


def _head(
    connection: Connection, master: MasterKey, tenant: str, findings: list[ChainFault], begun: bool
) -> ChainHead | None:
    row = connection.execute(select(ledger_heads).where(ledger_heads.c.tenant == tenant)).one_or_none()
    if row is None:
        if begun:
            findings.append(ChainFault("the chain's end is not written down any more"))
        return None
    head = ChainHead(row.number, row.link)
    if not is_sealed(master, tenant, head, row.sealed):
        findings.append(ChainFault("the chain's end was written down by somebody else, or with a key that is gone"))
        return None
    return head


def _outside(connection: Connection, tenant: str) -> int:
    unnumbered = (ledger_entries.c.tenant == tenant, ledger_entries.c.number.is_(None))
    replies = (
        select(func.count())
        .select_from(ledger_replies)
        .outerjoin(ledger_entries, ledger_entries.c.id == ledger_replies.c.entry)
        .where(ledger_replies.c.number.is_(None), _tenant_of_reply() == tenant)
    )
    counted = connection.execute(select(func.count()).select_from(ledger_entries).where(*unnumbered)).scalar_one()
    return counted + int(connection.execute(replies).scalar_one())


def _tenant_of_reply() -> Any:
    return func.coalesce(ledger_replies.c.tenant, ledger_entries.c.tenant)


def _requests(
    connection: Connection, master: MasterKey, tenant: str, after: int | None
) -> Iterator[tuple[ChainRow, bytes | None]]:
    for page in _pages(connection, ledger_entries, tenant, after):
        for row in page:
            plain = _opened(master, request_context(row), row.sealed)
            payload = None if plain is None else opened_content(plain, row.size)[0]
            content, fits = content_of(REQUEST, row._asdict()), _fits(payload, row)
            yield ChainRow(row.number, row.link, content, row.sealed is not None, fits, row.position), payload


def _replies(
    connection: Connection, master: MasterKey, tenant: str, after: int | None
) -> Iterator[tuple[ChainRow, bytes | None]]:
    for page in _pages(connection, ledger_replies, tenant, after):
        asked = select(ledger_entries).where(ledger_entries.c.id.in_([row.entry for row in page]))
        requests = {row.id: row for row in connection.execute(asked)}
        for row in page:
            request = requests.get(row.entry)
            # A reply whose request was cut can't be opened any more: what its seal is bound to is gone.
            payload = None if request is None else _opened(master, reply_context(request), row.sealed)
            content, fits = content_of(REPLY, row._asdict()), request is None or _fits(payload, row)
            yield ChainRow(row.number, row.link, content, row.sealed is not None, fits), payload


def _pages(connection: Connection, table: Table, tenant: str, after: int | None) -> Iterator[Sequence[Row[Any]]]:
    """Rows by number, in pages, so that a long ledger is not loaded into memory."""
    last = after
    while True:
        query = select(table).where(table.c.tenant == tenant, table.c.number.is_not(None))
        if last is not None:
            query = query.where(table.c.number > last)
        rows = connection.execute(query.order_by(table.c.number).limit(_BATCH_SIZE)).all()
        if not rows:
            return
        yield rows
        last = rows[-1].number


def _opened(master: MasterKey, context: bytes, sealed: bytes | None) -> bytes | None:
    if sealed is None:
        return None
    try:
        return master.open(PURPOSE, context, sealed)
    except MasterKeyError:
        return None


def _fits(payload: bytes | None, row: Row[Any]) -> bool:
    return payload is not None and len(payload) == row.size and sha256(payload).hexdigest() == row.digest
