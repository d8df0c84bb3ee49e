"""Checks a tenant's chain row by row, and reports rows that were changed, moved, added or deleted."""

from __future__ import annotations

import datetime as dt
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Table, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.egress.ledger.chain import (
    ACCESS,
    PURPOSE,
    REPLY,
    REQUEST,
    START,
    ChainHead,
    access_context,
    content_of,
    is_sealed,
    ledger_access,
    ledger_entries,
    ledger_heads,
    ledger_replies,
    link_of,
    opened_content,
    reply_context,
    request_context,
)
from app.egress.ledger.checkpoints import Checkpoint, RetentionCuts, Signer, checkpoints_of, is_ours
from app.egress.ledger.ledger import LedgerUnavailableError
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

CHANGED = "was changed"
UNCHECKED = "can't be checked, since what stood before it is missing"
MISPLACED = "stands in another place than it was written"
PAYLOAD_CHANGED = "has a payload that is not the one it was written with"
PAYLOAD_GONE = "has lost its payload, which neither retention nor erasure has taken"
PAYLOAD_OF_BLOCKED = "was blocked, and has a payload"
NOT_SIGNED = "is not what a checkpoint has signed"
WAS_CUT = "was cut, and stands there again"
TWICE = "stands there twice"

MAX_LINKS_BEFORE = 8
"""The greatest number of links that are tried for the row after changed rows; if more would be needed, unchanged rows
after them are reported too. Chosen by hand.
"""

MAX_FINDINGS = 1_000
"""The greatest number of faults that one check reports; the others are only counted. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A fault that a check found. `row`: its number in the tenant's chain, None if it concerns no single row."""

    what: str
    row: int | None = None

    def __str__(self) -> str:
        return self.what if self.row is None else f"row {self.row} {self.what}"


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A row of the chain as it is stored. `content`: the columns that its link covers.

    `payload_fits`: False if the payload does not match its digest. `position`: its place in the table, if known.
    """

    number: int
    link: str
    content: Mapping[str, Any]
    has_payload: bool = True
    payload_fits: bool = True
    position: int | None = None


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """The state of a check that takes several calls.

    `first`: the number of the first row. `after`: the number of the last row read. `follows`: the number that the next
    row must have. `before`: the links that it may be linked to, empty after a gap. `position`: the greatest place in
    the table so far. `rows`, `wrong`: the numbers of rows and faults so far.
    """

    first: int
    after: int
    follows: int
    before: tuple[str, ...]
    position: int
    rows: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking one chain.

    `rows` and `checkpoints`: how many were checked. `first` and `last`: numbers of rows. `wrong`: the number of all
    faults; `findings`: the first MAX_FINDINGS of this call. `remarks`: sentences that report no fault. `progress` is
    set if rows are left to be checked.
    """

    tenant: str
    rows: int
    first: int
    last: int
    checkpoints: int
    wrong: int
    findings: list[ChainFault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    progress: CheckProgress | None = None

    @property
    def is_whole(self) -> bool:
        """True if every row was checked and no fault was found."""
        return not self.wrong and self.progress is None


class ChainVerifier:
    """Checks one chain: `see` takes its rows in the order of their numbers, then `end` is told where it must end.

    `checkpoints`: those in the database; `kept`: those kept elsewhere. `progress`: the state of an earlier check.
    """

    def __init__(
        self,
        checkpoints: Sequence[Checkpoint],
        kept: Iterable[Checkpoint] = (),
        looks_at_payloads: bool = True,
        progress: CheckProgress | None = None,
    ) -> None:
        known = [*kept, *checkpoints]
        self._cuts = checkpoints[-1].cuts if checkpoints else RetentionCuts()
        self._erased = {number for each in known for number in each.cuts.erased}
        self._signed: dict[int, set[str]] = {0: {START}}
        for each in known:
            self._signed.setdefault(each.number, set()).add(each.link)
        self._signed_to = max((each.number for each in known), default=0)
        self._looks_at_payloads = looks_at_payloads
        self.findings = list[ChainFault]()
        self._begin(progress)

    def _begin(self, progress: CheckProgress | None) -> None:
        cuts = self._cuts
        if progress is None:
            progress = CheckProgress(cuts.first, 0, cuts.first, (cuts.before,), 0, 0, 0)
        elif progress.follows < cuts.first:
            # Rows were deleted by retention since the last call, beyond the row where that stopped.
            progress = replace(progress, first=cuts.first, follows=cuts.first, before=(cuts.before,))
        self.first, self._next, self._after = progress.first, progress.follows, progress.after
        # The links that the next row may follow: the stored and the right link of the row before; empty after a gap.
        self._before, self._position = progress.before, progress.position
        self.rows, self.wrong = progress.rows, progress.wrong

    @property
    def progress(self) -> CheckProgress:
        """The state from which another check can continue."""
        return CheckProgress(self.first, self._after, self._next, self._before, self._position, self.rows, self.wrong)

    @property
    def last(self) -> int:
        return self._next - 1

    @property
    def after(self) -> int:
        """The number of the last row that `see` took."""
        return self._after

    def see(self, row: ChainRow) -> None:
        self._after = row.number
        if row.number < self._next:
            self._tell(WAS_CUT if row.number < self.first else TWICE, row.number)
            return
        if row.number > self._next:
            self._miss(self._next, row.number - 1)
        self.rows += 1
        self._check_link(row)
        if self._looks_at_payloads:
            self._check_payload(row)
        if row.position is not None:
            if row.position < self._position:
                self._tell(MISPLACED, row.number)
            self._position = max(self._position, row.position)
        self._next = row.number + 1

    def end(self, head: ChainHead | None) -> None:
        """Checks the end of the chain against its head and its checkpoints.

        `head`: None if there is no trustworthy head, which the caller reports as a fault.
        """
        least = max(self._signed_to, 0 if head is None else head.number)
        if self.last < least:
            self._miss(self._next, least)
        elif head is not None and head.number != self.last:
            self._tell(f"the chain's end is written down as row {head.number}, and there are rows up to {self.last}")
        elif head is not None and head.link not in self._before:
            self._tell("the last row is not the one that is written down as the chain's end")

    def _check_link(self, row: ChainRow) -> None:
        right = [link_of(before, row.content) for before in self._before]
        if not right:
            self._tell(UNCHECKED, row.number)
        elif row.link not in right:
            self._tell(CHANGED, row.number)
        signed = self._signed.get(row.number)
        if signed is not None and row.link not in signed:
            self._tell(NOT_SIGNED, row.number)
        if row.link in right:
            self._before = (row.link,)
        else:
            # If the row's content was changed, the next row follows its stored link; if its link was, the right one.
            links = tuple(dict.fromkeys((row.link, *right)))
            self._before = (*links[: MAX_LINKS_BEFORE - 1], links[-1]) if len(links) > MAX_LINKS_BEFORE else links

    def _check_payload(self, row: ChainRow) -> None:
        blocked = row.content.get("verdict") == "blocked"
        if row.has_payload:
            if blocked:
                self._tell(PAYLOAD_OF_BLOCKED, row.number)
            elif not row.payload_fits and row.number not in self._erased:
                self._tell(PAYLOAD_CHANGED, row.number)
        elif not blocked and row.number not in self._erased and not self._is_old(row):
            self._tell(PAYLOAD_GONE, row.number)

    def _is_old(self, row: ChainRow) -> bool:
        is_access = row.content["kind"] == ACCESS.word
        border = self._cuts.access_from if is_access else self._cuts.payloads_from
        return border is not None and dt.datetime.fromisoformat(row.content["at"]) < border

    def _miss(self, first: int, last: int) -> None:
        self._tell(f"row {first} is missing" if first == last else f"rows {first} to {last} are missing")
        self._before = ()

    def _tell(self, what: str, row: int | None = None) -> None:
        self.wrong += 1
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(ChainFault(what, row))


_BATCH_SIZE: Final = 500


def check(
    engine: Engine,
    master: MasterKey,
    signer: Signer,
    tenant: str,
    kept: Iterable[Checkpoint] = (),
    *,
    progress: CheckProgress | None = None,
    most: int | None = None,
) -> Checked:
    """Checks the rows of one tenant's chain and their decrypted payloads. Raises LedgerUnavailableError.

    `progress`: the state of an earlier call to go on from. `most`: the greatest number of rows, None for all. `kept`:
    checkpoints kept elsewhere, which reveal that the whole database was reset to an older state. Limit: in a check of
    several calls, changes to rows of earlier calls are found only by the next check.
    """
    public = signer.public()
    try:
        with one_state(engine) as connection:
            ours, findings = _checkpoints(connection, tenant, public)
            walk = ChainVerifier(ours, (each for each in kept if is_ours(each, tenant, public)), progress=progress)
            after = None if progress is None else progress.after
            is_done = _walked(walk, chain_rows(connection, master, tenant, after), most)
            if is_done:
                walk.end(_head(connection, master, tenant, findings, begun=bool(ours) or walk.rows > 0))
                if outside := _outside(connection, tenant):
                    findings.append(ChainFault(f"{outside} rows stand outside of the chain"))
    except SQLAlchemyError:
        raise LedgerUnavailableError("the ledger could not be read") from None
    told = findings if is_done else []
    wrong, found = len(told) + walk.wrong, (told + walk.findings)[:MAX_FINDINGS]
    left = None if is_done else walk.progress
    return Checked(tenant, walk.rows, walk.first, walk.last, len(ours), wrong, found, progress=left)


@contextmanager
def one_state(engine: Engine) -> Iterator[Connection]:
    """Opens a connection that sees the database as it was at its beginning, whatever is written in the meantime."""
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    with engine.connect().execution_options(**level) as connection:
        if engine.dialect.name == "sqlite":
            # The driver of SQLite begins no transaction for a select.
            connection.exec_driver_sql("BEGIN")
        yield connection
        connection.rollback()


def chain_rows(
    connection: Connection, master: MasterKey, tenant: str, after: int | None = None
) -> Iterator[tuple[ChainRow, bytes | None]]:
    """Yields requests, replies and access entries in the order of their numbers, each with its payload, or None if it
    has none that can be decrypted.

    `after`: only rows with greater numbers are read.
    """
    sources = (rows(connection, master, tenant, after) for rows in (_requests, _replies, _accesses))
    return heapq.merge(*sources, key=lambda each: each[0].number)


def _walked(walk: ChainVerifier, rows: Iterable[tuple[ChainRow, bytes | None]], most: int | None) -> bool:
    """Feeds rows to `walk`; returns True if all were read, False if it stopped after `most`.

    Rows with the same number are never split over two calls.
    """
    for seen, (row, _payload) in enumerate(rows):
        if most is not None and seen >= most and row.number != walk.after:
            return False
        walk.see(row)
    return True


def _checkpoints(connection: Connection, tenant: str, public: str) -> tuple[list[Checkpoint], list[ChainFault]]:
    """Returns the checkpoints with a valid signature, in order, and a fault for each of the others."""
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
    of_tenant = func.coalesce(ledger_replies.c.tenant, ledger_entries.c.tenant) == tenant
    replies = (
        select(func.count())
        .select_from(ledger_replies)
        .outerjoin(ledger_entries, ledger_entries.c.id == ledger_replies.c.entry)
        .where(ledger_replies.c.number.is_(None), of_tenant)
    )
    counted = connection.execute(select(func.count()).select_from(ledger_entries).where(*unnumbered)).scalar_one()
    accesses = select(func.count()).where(ledger_access.c.tenant == tenant, ledger_access.c.number.is_(None))
    return counted + int(connection.execute(replies).scalar_one()) + connection.execute(accesses).scalar_one()


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
            # A reply whose request was deleted can't be decrypted, because its encryption is bound to that one's ids.
            payload = None if request is None else _opened(master, reply_context(request), row.sealed)
            content, fits = content_of(REPLY, row._asdict()), request is None or _fits(payload, row)
            yield ChainRow(row.number, row.link, content, row.sealed is not None, fits), payload


def _accesses(
    connection: Connection, master: MasterKey, tenant: str, after: int | None
) -> Iterator[tuple[ChainRow, bytes | None]]:
    for page in _pages(connection, ledger_access, tenant, after):
        for row in page:
            payload = _opened(master, access_context(row), row.sealed)
            content, fits = content_of(ACCESS, row._asdict()), _fits(payload, row)
            yield ChainRow(row.number, row.link, content, row.sealed is not None, fits), payload


def _pages(connection: Connection, table: Table, tenant: str, after: int | None) -> Iterator[Sequence[Row[Any]]]:
    """Yields pages of rows in the order of their numbers, so that a long ledger is not loaded into memory at once."""
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
