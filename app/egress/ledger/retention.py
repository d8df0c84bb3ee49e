"""Removes old or erased data from the ledger; each removal is signed, so that no other one can pass for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Select, Table, delete, func, insert, select, union, update

from app.egress.ledger.chain import (
    PURPOSE,
    START,
    BrokenHeadError,
    ChainHead,
    Chains,
    access_context,
    ledger_access,
    ledger_checkpoints,
    ledger_entries,
    ledger_heads,
    ledger_replies,
    reply_context,
    request_context,
    sealed_head,
)
from app.egress.ledger.checkpoints import Checkpoint, RetentionCuts, Signer, checkpoints_of, last_cuts
from kg_store.storage.master_key import MasterKey

PAYLOADS: Final = (ledger_entries, ledger_replies)
TABLES: Final = (*PAYLOADS, ledger_access)
_MANY: Final = 500

Cut = Callable[[Connection, ChainHead, RetentionCuts], tuple[int, RetentionCuts]]
"""Removes something from a chain; returns how many rows, and the cuts that a check has to know from then on."""


class LedgerUpkeep:
    """Removes payloads and rows from the tenants' chains, and signs checkpoints of them.

    Promise: a removal and the checkpoint that states it are one transaction, in which no request is added.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        self._chains = Chains(engine, master)
        self.signer = Signer(engine, master)

    def forget_payloads(self, before: dt.datetime) -> int:
        """Removes payloads and replies of rows older than `before`, and returns how many; the rows stay."""
        return self._forget(PAYLOADS, before.astimezone(dt.UTC))

    def forget_access(self, before: dt.datetime) -> int:
        """Removes from access entries older than `before` who asked, why, and for what; returns how many."""
        return self._forget((ledger_access,), before.astimezone(dt.UTC))

    def _forget(self, tables: Sequence[Table], border: dt.datetime) -> int:
        cut = partial(_forget, tables, border)
        return _of_each(self._with_payloads(tables, border), lambda tenant: self._cut(tenant, partial(cut, tenant))[0])

    def erase(self, tenant: str, entries: Sequence[str]) -> int:
        """Removes the payloads of the requests with these ids, and the replies to them; returns the number of rows."""

        def taken(connection: Connection, _head: ChainHead, cuts: RetentionCuts) -> tuple[int, RetentionCuts]:
            numbers: list[int] = []
            for start in range(0, len(entries), _MANY):
                some = list(entries[start : start + _MANY])
                for table, key in ((ledger_entries, ledger_entries.c.id), (ledger_replies, ledger_replies.c.entry)):
                    theirs = (table.c.tenant == tenant, key.in_(some), table.c.sealed.is_not(None))
                    numbers += connection.execute(select(table.c.number).where(*theirs)).scalars()
                    connection.execute(update(table).where(*theirs), {"sealed": None})
            return len(numbers), replace(cuts, erased=tuple(sorted(numbers)))

        return self._cut(tenant, taken)[0]

    def erase_access(self, tenant: str, graph: str, without: Callable[[bytes], bytes | None]) -> int:
        """Writes the access entries of a graph anew, and returns how many changed.

        `without` gets the content of an entry, and returns what is left of it: the same bytes if nothing is to go,
        None if nothing is left.
        """

        ours = (ledger_access.c.tenant == tenant, ledger_access.c.graph == graph, ledger_access.c.sealed.is_not(None))
        query = select(ledger_access).where(*ours).order_by(ledger_access.c.number).limit(_MANY)

        def taken(connection: Connection, _head: ChainHead, cuts: RetentionCuts) -> tuple[int, RetentionCuts]:
            numbers, last = list[int](), 0
            while rows := connection.execute(query.where(ledger_access.c.number > last)).all():
                for row in rows:
                    plain = self._master.open(PURPOSE, access_context(row), row.sealed)
                    left = without(plain)
                    if left != plain:
                        sealed = None if left is None else self._master.seal(PURPOSE, access_context(row), left)
                        this = update(ledger_access).where(ledger_access.c.id == row.id)
                        connection.execute(this, {"sealed": sealed})
                        numbers.append(row.number)
                last = rows[-1].number
            return len(numbers), replace(cuts, erased=tuple(numbers))

        with self._engine.connect() as connection:
            if connection.execute(query).first() is None:
                return 0
        return self._cut(tenant, taken)[0]

    def cut(self, tenant: str, before: dt.datetime) -> int:
        """Deletes the rows at the beginning of the chain that are older than `before`; returns how many."""
        border = before.astimezone(dt.UTC)

        def deleted(connection: Connection, head: ChainHead, cuts: RetentionCuts) -> tuple[int, RetentionCuts]:
            younger = (select(func.min(t.c.number)).where(t.c.tenant == tenant, t.c.at >= border) for t in TABLES)
            kept = [connection.execute(query).scalar() for query in younger]
            first = min((number for number in kept if number is not None), default=head.number + 1)
            if first <= cuts.first:
                return 0, cuts
            link = head.link if first > head.number else _link(connection, tenant, first - 1)
            gone = 0
            for table in TABLES:
                gone += connection.execute(
                    delete(table).where(table.c.tenant == tenant, table.c.number < first)
                ).rowcount
            return gone, replace(cuts, first=first, before=link, erased=_without_request(connection, tenant))

        return self._cut(tenant, deleted)[0]

    def checkpoint(self, tenant: str) -> Checkpoint:
        """Signs the chain as it is now, and returns the checkpoint. Raises BrokenHeadError."""
        return self._cut(tenant, lambda _connection, _head, cuts: (1, cuts))[1]

    def checkpoint_all(self) -> int:
        """Signs every chain that has grown since its last checkpoint; returns how many."""
        signed = select(func.max(ledger_checkpoints.c.number)).where(
            ledger_checkpoints.c.tenant == ledger_heads.c.tenant
        )
        grown = select(ledger_heads.c.tenant).where(ledger_heads.c.number > func.coalesce(signed.scalar_subquery(), 0))
        with self._engine.connect() as connection:
            tenants = list(connection.execute(grown).scalars())
        return _of_each(tenants, lambda tenant: len([self.checkpoint(tenant)]))

    def resume(self, tenant: str) -> Checkpoint:
        """Lets a chain with a broken head go on from its last row, and signs that; a check still shows the fault."""
        self.signer.ready()
        with self._engine.begin() as connection:
            connection.execute(delete(ledger_heads).where(ledger_heads.c.tenant == tenant))
            numbers = [
                connection.execute(select(func.max(t.c.number)).where(t.c.tenant == tenant)).scalar() for t in TABLES
            ]
            number = max((each for each in numbers if each is not None), default=0)
            head = ChainHead(number, _link(connection, tenant, number))
            row = {"tenant": tenant, "number": head.number, "link": head.link}
            connection.execute(insert(ledger_heads), row | {"sealed": sealed_head(self._master, tenant, head)})
            cuts = last_cuts(connection, tenant, self.signer.public())
            return self.signer.sign(connection, tenant, head.number, head.link, cuts)

    def checkpoints(self, tenant: str) -> list[Checkpoint]:
        """Returns every checkpoint of a tenant's chain that can be read, oldest first."""
        with self._engine.connect() as connection:
            return [each for each in checkpoints_of(connection, tenant) if not isinstance(each, int)]

    def tenants(self) -> list[str]:
        """Returns the ids of all tenants that have a ledger: a row, a chain's head or a checkpoint."""
        tables = (ledger_entries, ledger_access, ledger_heads, ledger_checkpoints)
        with self._engine.connect() as connection:
            return sorted(connection.execute(union(*(select(table.c.tenant) for table in tables))).scalars())

    def _cut(self, tenant: str, cut: Cut) -> tuple[int, Checkpoint]:
        # The signing key is made before the transaction: it needs one of its own, and SQLite allows one writer.
        self.signer.ready()
        with self._engine.begin() as connection:
            head = self._chains.locked(connection, tenant)
            done, cuts = cut(connection, head, last_cuts(connection, tenant, self.signer.public()))
            return done, self.signer.sign(connection, tenant, head.number, head.link, cuts)

    def _with_payloads(self, tables: Sequence[Table], border: dt.datetime) -> list[str]:
        """Returns the tenants with rows older than `border` in these tables that still have their payload."""
        old = (
            select(table.c.tenant).where(table.c.at < border, table.c.sealed.is_not(None), table.c.tenant.is_not(None))
            for table in tables
        )
        with self._engine.connect() as connection:
            return sorted(connection.execute(union(*old)).scalars())


def _of_each(tenants: Sequence[str], work: Callable[[str], int]) -> int:
    """Calls `work` for each tenant and returns the sum of its results.

    A broken chain does not stop the others; its BrokenHeadError is raised at the end.
    """
    done, broken = 0, None
    for tenant in tenants:
        try:
            done += work(tenant)
        except BrokenHeadError as error:
            broken = error
    if broken is not None:
        raise broken
    return done


def _forget(
    tables: Sequence[Table],
    border: dt.datetime,
    tenant: str,
    connection: Connection,
    _head: ChainHead,
    cuts: RetentionCuts,
) -> tuple[int, RetentionCuts]:
    """Removes the payloads of `tables` that are older than `border`; the cuts tell so."""
    gone = 0
    for table in tables:
        old = (table.c.tenant == tenant, table.c.at < border, table.c.sealed.is_not(None))
        gone += connection.execute(update(table).where(*old), {"sealed": None}).rowcount
    if ledger_access in tables:
        return gone, replace(cuts, access_from=max(border, cuts.access_from or border))
    return gone, replace(cuts, payloads_from=max(border, cuts.payloads_from or border))


def _without_request(connection: Connection, tenant: str) -> tuple[int, ...]:
    """Removes the texts of replies whose request is deleted, because they can't be decrypted without the request.

    Returns the row numbers of these replies in the chain.
    """
    requests = select(ledger_entries.c.id).where(ledger_entries.c.tenant == tenant)
    left = (
        ledger_replies.c.tenant == tenant,
        ledger_replies.c.sealed.is_not(None),
        ledger_replies.c.entry.not_in(requests),
    )
    numbers = connection.execute(select(ledger_replies.c.number).where(*left)).scalars().all()
    connection.execute(update(ledger_replies).where(*left), {"sealed": None})
    return tuple(sorted(numbers))


def _link(connection: Connection, tenant: str, number: int) -> str:
    """Returns the link of row `number` of a tenant's chain; START if there is no such row."""
    for table in TABLES:
        link: str | None = connection.execute(
            select(table.c.link).where(table.c.tenant == tenant, table.c.number == number)
        ).scalar()
        if link is not None:
            return link
    return START


_BATCH_SIZE = 500


def requests_about(
    engine: Engine, master: MasterKey, tenant: str, conversations: Collection[str], holds: Callable[[bytes], bool]
) -> list[str]:
    """Returns the ids of the requests that belong to `conversations`, or whose decrypted bytes `holds` accepts.

    `holds` is called with the payload of each request, and with the reply to it. Raises MasterKeyError if one can't be
    decrypted.
    """
    found: dict[str, None] = {}
    for row in _rows(engine, _REQUESTS, tenant):
        if row.conversation in conversations or holds(master.open(PURPOSE, request_context(row), row.sealed)):
            found[row.id] = None
    for row in _rows(engine, _REPLIES, tenant):
        if row.conversation in conversations or holds(master.open(PURPOSE, reply_context(row), row.sealed)):
            found[row.id] = None
    return list(found)


_IDS = [ledger_entries.c[name] for name in ("position", "id", "tenant", "caller", "answer", "conversation", "step")]
_REQUESTS = select(*_IDS, ledger_entries.c.digest, ledger_entries.c.sealed).where(ledger_entries.c.sealed.is_not(None))
_REPLIES = (
    select(*_IDS, ledger_entries.c.digest, ledger_replies.c.sealed)
    .join(ledger_replies, ledger_replies.c.entry == ledger_entries.c.id)
    .where(ledger_replies.c.sealed.is_not(None))
)


def _rows(engine: Engine, query: Select[Any], tenant: str) -> Iterator[Row[Any]]:
    """Yields the rows of a query, read in pages so that a long ledger is not loaded into memory at once."""
    last = -1
    while True:
        page = query.where(ledger_entries.c.tenant == tenant, ledger_entries.c.position > last)
        with engine.connect() as connection:
            rows = connection.execute(page.order_by(ledger_entries.c.position).limit(_BATCH_SIZE)).all()
        if not rows:
            return
        yield from rows
        last = rows[-1].position
