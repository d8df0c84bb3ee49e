"""Records which names and facts left the service, for whom and on which day; also lists what the model was sent."""

from __future__ import annotations

import datetime as dt
import hmac
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, bindparam, case, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from app.accounts.api_keys import Caller
from app.accounts.quotas import Clock, renews_in_s, utc_now
from app.database.tables import api_keys, conversations, names_read
from app.egress.ledger.ledger import Ledger
from client_sdk.protocol import LedgerPage, LedgerRow

_DIGEST_CHARS: Final = 32
_HOUR: Final = dt.timedelta(hours=1)
_TRIES: Final = 3
PERSONS_OF_A_KEY: Final = 2
"""The names and facts a day that one API key may read, as a multiple of what one person may.

A limit by key is needed because whoever holds the key can make up persons. Chosen by hand.
"""

# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to find the rows.
_OF_KEY: Final = [names_read.c[name] == bindparam(name) for name in ("tenant", "graph", "key_id")]
_OF_PERSON: Final = names_read.c.person == bindparam("person")
_IS_TODAY: Final = names_read.c.day == bindparam("day")
_IS_KIND: Final = names_read.c.is_fact == bindparam("is_fact")
_KNOWN: Final = select(names_read.c.digest).where(
    *_OF_KEY, _IS_TODAY, _OF_PERSON, names_read.c.digest.in_(bindparam("digests", expanding=True))
)
_COUNTS: Final = select(func.count(), func.sum(case((_OF_PERSON, 1), else_=0)), func.min(names_read.c.at)).where(
    *_OF_KEY, _IS_KIND
)
_OF_TODAY: Final = _COUNTS.where(_IS_TODAY)
# The day is in the primary key, so that older days are not read.
_OF_THE_HOUR: Final = _COUNTS.where(names_read.c.day >= bindparam("day"), names_read.c.at > bindparam("since"))
_ADD: Final = insert(names_read)

Keys = Callable[[], Sequence[bytes]]
"""A function that returns the keys for the digests of names and facts, the newest first."""
ReadKind = Literal["names", "facts"]


class NamesUsedUpError(Exception):
    """The answer was withheld because it holds more new names or facts than the caller may still read now.

    `most` is the number of names or facts (`kind`) a day, or an hour; `renews_in_s` is the number of seconds until
    there are more. `fits_never`: the answer alone has more new ones than that.
    """

    def __init__(
        self,
        most: int,
        renews_in_s: int,
        period: Literal["day", "hour"] = "day",
        fits_never: bool = False,
        kind: ReadKind = "names",
    ) -> None:
        super().__init__(f"{most} {kind} a {period}")
        self.most, self.renews_in_s, self.period = most, renews_in_s, period
        self.fits_never, self.kind = fits_never, kind


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """The most names, or facts, that one person may read on a day (UTC), and the most that are new within any hour.

    `of_key`: what all persons of one API key may read together, as a multiple of both.
    """

    day: int
    hour: int
    of_key: float = PERSONS_OF_A_KEY

    def is_over(self, most: int, by_key: int, by_person: int, fresh: int) -> bool:
        """True if `fresh` more take the person over `most`, or all persons of the key over their multiple of it."""
        return by_person + fresh > most or by_key + fresh > self.of_key * most


@dataclass(frozen=True, slots=True)
class Reader:
    """The caller who reads names of a graph: an API key, and the person who used it.

    `person` is empty if the key's holder does not say which person asks. Names that an admin reads are recorded but
    not limited, because an admin may load and delete the graph anyway.
    """

    tenant: str
    graph: str
    key_id: str
    person: str
    is_admin: bool = False


@dataclass(frozen=True, slots=True)
class DayOfNames:
    """The number of distinct names and facts of a graph that one key and person read on one day.

    `last_hour`: how many of the names they read for the first time within the last hour.
    """

    day: dt.date
    key_id: str
    person: str
    names: int
    last_hour: int = 0
    facts: int = 0


class NamesRead:
    """Records and counts the names and facts of a graph that persons read, in a table that all replicas share.

    What a person reads several times on a day counts once. Promise: a row contains no name, only a digest of it, or of
    a fact, under a key that is derived from the master key; no answer goes out beyond the limit. Condition: the master
    key is stored elsewhere. Limit: answers of one person at the same moment may exceed the limit by one answer each. A
    search by name misses rows written under a master key that has left the key ring since.
    """

    def __init__(self, engine: Engine, keys: Keys, now: Clock = utc_now) -> None:
        self._engine, self._keys, self._now = engine, keys, now

    def take(
        self, reader: Reader, told: Mapping[ReadKind, Collection[str]], most: Mapping[ReadKind, ReadLimit]
    ) -> dict[ReadKind, tuple[int, int]]:
        """Records what an answer tells as read by `reader`, and returns two counts for each kind of it.

        Both count what they have read today, the first without this answer, the second with it. Raises
        NamesUsedUpError, and records nothing, if anything new takes the person over `most`, or all persons of the key
        over their multiple of it. An admin has no limit. What the person has read on this day already is not new.
        """
        key = self._keys()[0]
        digests = {kind: {_digest(key, each) for each in texts} for kind, texts in told.items()}
        for _ in range(_TRIES):
            with suppress(IntegrityError):  # The same person read one of the names at the same moment.
                return self._take(reader, digests, most)
        return self._take(reader, digests, most)

    def _take(
        self, reader: Reader, digests: Mapping[ReadKind, set[str]], most: Mapping[ReadKind, ReadLimit]
    ) -> dict[ReadKind, tuple[int, int]]:
        now = self._now()
        counts: dict[ReadKind, tuple[int, int]] = {}
        rows: list[dict[str, Any]] = []
        with self._engine.begin() as connection:
            for kind, told in digests.items():
                row: dict[str, Any] = {"tenant": reader.tenant, "graph": reader.graph, "key_id": reader.key_id}
                row |= {"person": reader.person, "day": now.date(), "is_fact": kind == "facts"}
                fresh = told - set(connection.execute(_KNOWN, {**row, "digests": list(told)}).scalars())
                by_key, before, _ = connection.execute(_OF_TODAY, row).one()
                counts[kind] = before or 0, (before or 0) + len(fresh)
                if fresh and not reader.is_admin:
                    limit = most[kind]
                    if limit.is_over(limit.day, by_key, before or 0, len(fresh)):
                        fits_never = len(fresh) > limit.day
                        raise NamesUsedUpError(limit.day, renews_in_s(now), "day", fits_never, kind)
                    _refuse_over_hour(connection, row, now, len(fresh), limit, kind)
                rows += [{**row, "digest": digest, "at": now} for digest in sorted(fresh)]
            if rows:
                connection.execute(_ADD, rows)
        return counts

    def days(self, tenant: str, graph: str, name: str | None = None) -> list[DayOfNames]:
        """Returns who read names of a graph, or only `name`, on which day; newest first."""
        chosen: Any = _of_graph(tenant, graph)
        if name is not None:
            chosen &= names_read.c.digest.in_([_digest(key, name) for key in self._keys()])
        columns = names_read.c.day, names_read.c.key_id, names_read.c.person
        is_recent = names_read.c.at > self._now() - _HOUR
        names, recent, facts = (
            func.sum(case((each, 1), else_=0))
            for each in (~names_read.c.is_fact, ~names_read.c.is_fact & is_recent, names_read.c.is_fact)
        )
        query = (
            select(*columns, names, recent, facts)
            .where(chosen)
            .group_by(*columns)
            .order_by(*(each.desc() for each in columns))
        )
        with self._engine.connect() as connection:
            return [DayOfNames(*row) for row in connection.execute(query)]

    def forget(self, tenant: str, graph: str, names: Collection[str] | None = None) -> int:
        """Deletes the rows of a graph, or only those of `names` and of all facts, and returns their number.

        A fact's row does not tell whose it is, so that those about a name are not found among them.
        """
        chosen: Any = _of_graph(tenant, graph)
        if names is not None:
            digests = [_digest(key, name) for key in self._keys() for name in names]
            chosen &= names_read.c.digest.in_(digests) | names_read.c.is_fact
        with self._engine.begin() as connection:
            return connection.execute(delete(names_read).where(chosen)).rowcount

    def purge(self, before: dt.date) -> int:
        """Deletes the rows of days before `before`, and returns their number."""
        with self._engine.begin() as connection:
            return connection.execute(delete(names_read).where(names_read.c.day < before)).rowcount


def _refuse_over_hour(
    connection: Connection, row: Mapping[str, Any], now: dt.datetime, fresh: int, limit: ReadLimit, kind: ReadKind
) -> None:
    """Raises NamesUsedUpError if `fresh` more names or facts take the reader over the limit of an hour."""
    since = now - _HOUR
    by_key, by_person, first = connection.execute(_OF_THE_HOUR, {**row, "day": since.date(), "since": since}).one()
    if limit.is_over(limit.hour, by_key, by_person or 0, fresh):
        wait_s = math.ceil(((first or now) + _HOUR - now).total_seconds())
        raise NamesUsedUpError(limit.hour, max(1, wait_s), "hour", fresh > limit.hour, kind)


def _of_graph(tenant: str, graph: str) -> Any:
    return (names_read.c.tenant == tenant) & (names_read.c.graph == graph)


def _digest(key: bytes, name: str) -> str:
    folded = " ".join(name.split()).casefold()
    return hmac.digest(key, folded.encode(), "sha256").hex()[:_DIGEST_CHARS]


def read_ledger_page(ledger: Ledger, engine: Engine, caller: Caller, answer_id: str | None, limit: int) -> LedgerPage:
    """Returns the newest entries of the ledger: the caller's own, or those of the whole tenant for an admin.

    Promise: a caller who sees only part of a graph gets no payload, because the words replaced in a question reveal
    which names the graph has, including hidden ones.
    """
    key_id = None if caller.is_admin else caller.key_id
    entries = ledger.entries(caller.tenant, key_id, answer_id, limit)
    met = conversations.c.id.in_({entry.conversation for entry in entries})
    asking = api_keys.c.key_id.in_({entry.caller for entry in entries})
    with engine.connect() as connection:
        graphs = {
            row.id: row.graph
            for row in connection.execute(select(conversations.c.id, conversations.c.graph).where(met))
        }
        labels = {
            row.key_id: row.label
            for row in connection.execute(select(api_keys.c.key_id, api_keys.c.label).where(asking))
        }
    rows = [
        LedgerRow(
            id=entry.id,
            at=entry.at,
            answer=entry.answer,
            conversation=entry.conversation,
            step=entry.step,
            size=entry.size,
            digest=entry.digest,
            verdict=entry.verdict,
            payload=None
            if caller.is_restricted or entry.payload is None
            else entry.payload.decode("utf-8", "replace"),
            key_id=entry.caller,
            asker=labels.get(entry.caller, ""),
            graph=graphs.get(entry.conversation),
        )
        for entry in entries
    ]
    return LedgerPage(entries=rows)
