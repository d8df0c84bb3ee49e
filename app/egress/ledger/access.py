"""The access record: who had whose names restored, when and why, as rows of the tenant's chain."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from secrets import token_hex
from typing import Any, Final, Literal

from sqlalchemy import Engine, Row, func, insert, select

from app.egress.ledger.chain import (
    ACCESS,
    PURPOSE,
    BrokenHeadError,
    Chains,
    access_context,
    in_utc,
    ledger_access,
)
from app.egress.ledger.ledger import BROKEN, LedgerUnavailableError
from client_sdk.protocol import MAX_GLASS_MINUTES, AccessLine, ExportForm
from kg_store.storage.master_key import MasterKey

AccessEvent = Literal["read", "read_lifted", "break_glass", "alarm"]
ALARM_AGAIN: Final = dt.timedelta(hours=1)
"""The least time between two alarms about one key and graph. Chosen by hand."""
_ADD: Final = insert(ledger_access)
_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One row of the access record.

    `caller`: id of the API key. `event`: "read", or "read_lifted" while a role was lifted; "break_glass", where
    `count` is the minutes; "alarm", where it is the names that were read. `count` of a reading: the names restored.
    `answer`: id of the reply. `person`: who asked, as the key's holder tells; `reason`: why, if they told; `things`:
    ids of the things that were named. These three are sealed, and empty after the retention period.
    """

    tenant: str
    caller: str
    graph: str
    event: AccessEvent
    count: int = 0
    answer: str = ""
    person: str = ""
    reason: str = field(default="", repr=False)
    things: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: token_hex(16))
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


Tell = Callable[[AccessEntry], None]
"""A function that is told of an entry once it is in the record; it may not block."""


def tell_nobody(_entry: AccessEntry) -> None:
    """Tells nobody: used where no webhook is set."""


def thing_id(tenant: str, graph: str, mid: int) -> str:
    """Returns the id of a thing in the access record: a digest of its MID, which reveals neither that nor a name.

    It stays the same in every version of the graph, so that an export can be searched for it.
    """
    return blake2b(f"{tenant}\n{graph}\n{mid}".encode(), digest_size=8).hexdigest()


class AccessRecord:
    """Writes and reads the access record of all tenants.

    Promise: an entry is in the database before `add` returns; nobody without the master key reads who asked, why, or
    for what, or changes it without a check of the ledger telling so. It holds ids of things and no name, apart from
    names that somebody writes into a reason. `tell` is told of alarms and broken glass, `export` of every entry.
    Limit: as that of the ledger, in whose chain the rows stand.
    """

    def __init__(
        self, engine: Engine, master: MasterKey, tell: Tell = tell_nobody, export: Tell = tell_nobody
    ) -> None:
        self._engine, self._master, self._tell, self._export = engine, master, tell, export
        self._chains = Chains(engine, master)

    def add(self, entry: AccessEntry) -> None:
        """Adds an entry. Raises LedgerUnavailableError; then no name may be given out."""
        # The digest stays in clear for good: without a salt, it would confirm a guess at the person or the reason.
        told = {"person": entry.person, "reason": entry.reason, "things": list(entry.things), "salt": token_hex(16)}
        plain = _written(told)
        row = {name: getattr(entry, name) for name in ("id", "caller", "graph", "event", "answer")}
        row |= {"at": in_utc(entry.at), "amount": entry.count, "size": len(plain), "digest": sha256(plain).hexdigest()}
        row["sealed"] = self._master.seal(PURPOSE, access_context(entry), plain)
        try:
            self._chains.append(entry.tenant, (_ADD, ACCESS, [row]))
        except BrokenHeadError:
            raise LedgerUnavailableError(BROKEN) from None
        except Exception:
            raise LedgerUnavailableError("the access record could not be written") from None
        self._export(entry)
        if entry.event in ("alarm", "break_glass"):
            self._tell(entry)

    def alarm(self, entry: AccessEntry) -> bool:
        """Adds an alarm, unless there was one about this key and graph within ALARM_AGAIN; returns True if added."""
        query = select(func.count()).where(ledger_access.c.tenant == entry.tenant, ledger_access.c.event == "alarm")
        query = query.where(ledger_access.c.caller == entry.caller, ledger_access.c.graph == entry.graph)
        query = query.where(ledger_access.c.at > entry.at - ALARM_AGAIN)
        with self._engine.connect() as connection:
            if connection.execute(query).scalar_one():
                return False
        self.add(entry)
        return True

    def lifted(self, tenant: str, caller: str, now: dt.datetime) -> frozenset[str]:
        """Returns the graphs for which a break-glass of this key is in force."""
        ours = (ledger_access.c.tenant == tenant, ledger_access.c.caller == caller)
        recent = ledger_access.c.at > now - dt.timedelta(minutes=MAX_GLASS_MINUTES)
        query = select(ledger_access.c.graph, ledger_access.c.at, ledger_access.c.amount)
        query = query.where(*ours, ledger_access.c.event == "break_glass", recent)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return frozenset(row.graph for row in rows if in_utc(row.at) + dt.timedelta(minutes=row.amount) > now)

    def entries(
        self, tenant: str, graph: str | None = None, things: Collection[str] = (), since: dt.datetime | None = None
    ) -> Iterator[AccessEntry]:
        """Yields entries, the oldest first: of one graph or all, about one of `things` or anything.

        They are read in pages, so that a long record is not loaded into memory at once. Raises MasterKeyError.
        """
        last, sought = 0, set(things)
        query = select(ledger_access).where(ledger_access.c.tenant == tenant)
        if graph is not None:
            query = query.where(ledger_access.c.graph == graph)
        if since is not None:
            query = query.where(ledger_access.c.at >= in_utc(since))
        while True:
            page = query.where(ledger_access.c.number > last).order_by(ledger_access.c.number).limit(_PAGE)
            with self._engine.connect() as connection:
                rows = connection.execute(page).all()
            if not rows:
                return
            for row in rows:
                entry = self._opened(row)
                if not sought or sought.intersection(entry.things):
                    yield entry
            last = rows[-1].number

    def lines(
        self,
        tenant: str,
        graph: str | None = None,
        since: dt.datetime | None = None,
        form: ExportForm = "json",
    ) -> Iterator[str]:
        """Yields entries as lines, each with a line break.

        `form`: "json", our own; "syslog", messages of RFC 5424; "otlp", OpenTelemetry's JSON for logs.
        """
        for entry in self.entries(tenant, graph, since=since):
            if form == "syslog":
                yield from (line + "\n" for line in syslog_lines(entry))
            elif form == "otlp":
                yield otlp_logs([entry]).decode() + "\n"
            else:
                told = line_of(entry).model_dump(mode="json") | {"tenant": tenant, "graph": entry.graph}
                yield json.dumps(told, sort_keys=True) + "\n"

    def _opened(self, row: Row[Any]) -> AccessEntry:
        told: Mapping[str, Any] = {"person": "", "reason": "", "things": ()}
        if row.sealed is not None:
            told = json.loads(self._master.open(PURPOSE, access_context(row), row.sealed))
        return AccessEntry(
            tenant=row.tenant,
            caller=row.caller,
            graph=row.graph,
            event=row.event,
            count=row.amount,
            answer=row.answer,
            person=told["person"],
            reason=told["reason"],
            things=tuple(told["things"]),
            id=row.id,
            at=in_utc(row.at),
        )


def line_of(entry: AccessEntry) -> AccessLine:
    """Returns an entry as an export and the reply to a search tell it."""
    return AccessLine(
        id=entry.id,
        at=entry.at,
        key_id=entry.caller,
        event=entry.event,
        answer=entry.answer,
        count=entry.count,
        person=entry.person,
        reason=entry.reason,
        things=list(entry.things),
    )


def without_things(things: Collection[str], holds: Callable[[str], bool]) -> Callable[[bytes], bytes]:
    """Returns a function that takes `things` out of an entry's content, and a reason that `holds` accepts."""
    gone = set(things)

    def left(plain: bytes) -> bytes:
        told = json.loads(plain)
        reason = "" if holds(told["reason"]) else told["reason"]
        return _written({**told, "reason": reason, "things": [each for each in told["things"] if each not in gone]})

    return left


def _written(told: Mapping[str, Any]) -> bytes:
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


_FACILITY: Final = 13  # "log audit" of RFC 5424
_INFORMATIONAL, _WARNING = 6, 4
_ENTERPRISE: Final = "arog@32473"  # The number that RFC 5612 reserves for those who have none of their own.
_THINGS_A_LINE: Final = 50
"""The most ids of things in one syslog line, so that it has less than the 2,048 bytes that receivers should take."""


def syslog_lines(entry: AccessEntry) -> Iterator[str]:
    """Yields an entry as messages of syslog (RFC 5424); one with many things becomes several, numbered by `part`."""
    severity = _INFORMATIONAL if entry.event == "read" else _WARNING
    at = entry.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    parts = [entry.things[start : start + _THINGS_A_LINE] for start in range(0, len(entry.things), _THINGS_A_LINE)]
    for number, part in enumerate(parts or [()], start=1):
        told = {name: str(getattr(entry, name)) for name in ("id", "tenant", "graph", "count", "answer")}
        told |= {"key_id": entry.caller, "person": entry.person, "reason": entry.reason}
        told |= {"things": ",".join(part), "part": str(number)}
        data = " ".join(f'{name}="{_escaped(value)}"' for name, value in told.items())
        yield f"<{_FACILITY * 8 + severity}>1 {at} - arog - {entry.event} [{_ENTERPRISE} {data}]"


def _escaped(value: str) -> str:
    """Returns a value of structured data: the three characters that RFC 5424 names are escaped, line breaks go."""
    line = " ".join(value.split())
    return line.replace("\\", "\\\\").replace('"', '\\"').replace("]", "\\]")


_OTLP_INFO, _OTLP_WARN = (9, "INFO"), (13, "WARN")


def otlp_logs(entries: Sequence[AccessEntry]) -> bytes:
    """Returns entries as an ExportLogsServiceRequest of OTLP (opentelemetry-proto 1.5), in JSON on one line."""
    scope = {"scope": {"name": "arog.access"}, "logRecords": [_log_record(entry) for entry in entries]}
    resource = {"attributes": [_attribute("service.name", "arog")]}
    return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}).encode()


def _log_record(entry: AccessEntry) -> dict[str, object]:
    number, text = _OTLP_INFO if entry.event == "read" else _OTLP_WARN
    told = {name: getattr(entry, name) for name in ("id", "tenant", "graph", "count", "answer", "person", "reason")}
    told |= {"key_id": entry.caller, "things": entry.things}
    at = str(round(entry.at.timestamp() * 1_000_000) * 1_000)  # 64 bits are text in OTLP's JSON.
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": number,
        "severityText": text,
        "eventName": f"arog.access.{entry.event}",
        "body": {"stringValue": entry.event},
        "attributes": [_attribute(f"arog.{name}", value) for name, value in told.items() if value not in ("", ())],
    }


def _attribute(key: str, value: str | int | Sequence[str]) -> dict[str, object]:
    if isinstance(value, str):
        return {"key": key, "value": {"stringValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": each} for each in value]}}}
