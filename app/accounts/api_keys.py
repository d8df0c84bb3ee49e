"""API keys, stored as hashes, with their grants for each graph and their devices. Nothing is allowed by default."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import SecretStr
from sqlalchemy import ColumnElement, Engine, Row, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from app.database.tables import api_keys, devices
from app.egress.ledger.access import AccessEntry, AccessRecord
from client_sdk.crypto.sealing import fingerprint_of, parse_public_key
from client_sdk.protocol import BreakGlass, Device, DeviceList, GlassBroken, KeyRole

KEY_PREFIX = "arog_"
EVERY_GRAPH = "*"
INSPECT = "inspect:"  # stands before a graph's name or `*`; no graph's name may contain a colon
BREAK_GLASS = "break-glass:"  # stands before the name of a graph that is granted by a role
ROLE_MARK = "#"  # stands between a graph's name and a role of its policy: GRAPH#role
OPERATOR_TENANT = "default"
OPERATOR_KEY_ID = "operator"
PERSON_MARK = "p"  # begins the id of a person who signs in; ids of API keys begin with a k

_DOTS_OF_A_TOKEN = 2  # three parts; the keys that `create` makes have none
_USE_IS_KEPT_TO = dt.timedelta(minutes=10)
_NAME = r"[a-z0-9][a-z0-9_-]{0,62}"
_GRANT = re.compile(rf"(?:{INSPECT})?(?:{_NAME}|\*)|{BREAK_GLASS}{_NAME}|{_NAME}{ROLE_MARK}{_NAME}")


class NotAuthenticatedError(Exception):
    """The API key is missing, unknown, expired or revoked. The caller is not told which of these."""


class NotPermittedError(Exception):
    """The caller is known but has no right to this action."""


class NoBreakGlassError(NotPermittedError):
    """The caller may ask the graph in a role, and has no grant to lift that."""


class NoGrantError(Exception):
    """The caller has no grant for a graph of this name. The error is the same if no such graph exists."""


class UnknownAnswerError(Exception):
    """The caller may see no answer with this id. The error is the same if there is none at all."""


class BadGrantError(Exception):
    """A grant is not valid. `reason` tells why in fixed words, and names the grant's position in the list."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownKeyError(Exception):
    """The tenant has no API key with this id."""


# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to find the row.
_BY_DIGEST: Final = select(api_keys).where(api_keys.c.digest == bindparam("digest"))
_DEVICE: Final = select(devices).where(
    *(devices.c[name] == bindparam(name) for name in ("tenant", "key_id", "fingerprint"))
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of an API key, with its rights.

    `grants` may hold: the name of a graph of the tenant, to ask it; `*` for all graphs; `NAME#ROLE` for the part of a
    graph that its policy shows to that role; `inspect:NAME` (or `inspect:*`) to see the names in what the model was
    sent and replied for the caller's own answers; `break-glass:NAME` to see all of NAME for a short time, for a reason
    that is recorded. `lifted`: the graphs for which that was done and is still in force.
    """

    tenant: str
    key_id: str
    role: KeyRole
    grants: frozenset[str]
    lifted: frozenset[str] = frozenset()

    def may_ask(self, graph: str) -> bool:
        return EVERY_GRAPH in self.grants or graph in self.grants or self._role_of(graph) is not None

    def role_in(self, graph: str) -> str | None:
        """Returns the role in which the caller sees a graph, or None if they see all of it or nothing."""
        if EVERY_GRAPH in self.grants or graph in self.grants or graph in self.lifted:
            return None
        return self._role_of(graph)

    def _role_of(self, graph: str) -> str | None:
        start = graph + ROLE_MARK
        return next((grant.removeprefix(start) for grant in sorted(self.grants) if grant.startswith(start)), None)

    @property
    def is_restricted(self) -> bool:
        """True if the caller sees only part of some graph, and is no admin."""
        return not self.is_admin and any(ROLE_MARK in grant for grant in self.grants)

    def may_inspect(self, graph: str | None) -> bool:
        """True if the caller may inspect the graph, where None stands for a deleted one.

        An admin may inspect every graph of the tenant.
        """
        if self.is_admin:
            return True
        asked = graph is None or self.may_ask(graph)
        return asked and (
            INSPECT + EVERY_GRAPH in self.grants or (graph is not None and INSPECT + graph in self.grants)
        )

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"

    @property
    def is_person(self) -> bool:
        """True if an OpenID provider says who this is, so that nobody else acts under the same id."""
        return self.key_id.startswith(PERSON_MARK)

    @property
    def is_operator(self) -> bool:
        """True for the key in the settings, the only one that may create keys for other tenants."""
        return self.key_id == OPERATOR_KEY_ID


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new API key. `key` is the secret, given out only now; the database keeps its hash."""

    key_id: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An API key as stored. `label` is its creator's name for it; `last_used_at` is accurate to ten minutes."""

    key_id: str
    tenant: str
    role: KeyRole
    grants: frozenset[str]
    created_at: dt.datetime
    expires_at: dt.datetime | None
    revoked_at: dt.datetime | None
    label: str = ""
    last_used_at: dt.datetime | None = None


Lifted = Callable[[str, str, dt.datetime], frozenset[str]]
"""Returns the graphs that a break-glass opens at a time, from the record of them: (tenant, key id, time) -> names."""


def nothing_lifted(_tenant: str, _key_id: str, _now: dt.datetime) -> frozenset[str]:
    """Returns no graph: used where no record of break-glasses is kept."""
    return frozenset()


class Access:
    """Creates, checks and revokes API keys, in the database; also knows the operator's key from the settings.

    `sign_in` returns the caller of an OpenID provider's token; without it such tokens are refused.

    Promise: whoever reads the database finds no key to ask with, only hashes of keys. Condition: a key is 32 random
    bytes, so guessing cannot reverse a plain SHA-256 of it, and no slow hash is needed. Limit: a stolen key works for
    whoever holds it.
    """

    def __init__(
        self,
        engine: Engine,
        operator_key: SecretStr | None = None,
        sign_in: Callable[[str], Caller] | None = None,
        lifted: Lifted = nothing_lifted,
    ) -> None:
        self._engine, self._sign_in, self._lifted = engine, sign_in, lifted
        self._operator = _digest(operator_key.get_secret_value()) if operator_key else None

    def authenticate(self, key: str) -> Caller:
        """Returns the caller to whom `key` belongs. Raises NotAuthenticatedError, and the errors of `sign_in`."""
        digest = _digest(key)
        if self._operator is not None and hmac.compare_digest(digest, self._operator):
            return Caller(OPERATOR_TENANT, OPERATOR_KEY_ID, "admin", frozenset({EVERY_GRAPH}))
        if self._sign_in is not None and key.count(".") == _DOTS_OF_A_TOKEN:
            return self._with_lifted(self._sign_in(key))
        with self._engine.connect() as connection:
            row = connection.execute(_BY_DIGEST, {"digest": digest}).one_or_none()
        # The time of the look-up depends on the digest alone, from which nobody can work towards a key.
        if row is None or not hmac.compare_digest(row.digest, digest):
            raise NotAuthenticatedError
        if row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= _now()):
            raise NotAuthenticatedError
        mark_used(self._engine, row)
        return self._with_lifted(Caller(row.tenant, row.key_id, row.role, frozenset(row.grants)))

    def _with_lifted(self, caller: Caller) -> Caller:
        """Returns the caller with the graphs whose role they have lifted by a break-glass that is not over."""
        glass = {each.removeprefix(BREAK_GLASS) for each in caller.grants if each.startswith(BREAK_GLASS)}
        lifted = self._lifted(caller.tenant, caller.key_id, _now()) & glass if glass else frozenset[str]()
        return replace(caller, lifted=lifted)

    def create(
        self, tenant: str, role: KeyRole, grants: Iterable[str], days: float | None = None, label: str = ""
    ) -> IssuedKey:
        """Creates an API key of `tenant` that expires after `days`, or never if None. Raises BadGrantError."""
        grants = sorted(set(grants))
        refuse_bad_grants(grants)
        issued = IssuedKey("k" + secrets.token_hex(8), KEY_PREFIX + secrets.token_urlsafe(32))
        now = _now()
        row = insert(api_keys).values(
            key_id=issued.key_id,
            digest=_digest(issued.key),
            tenant=tenant,
            role=role,
            grants=grants,
            created_at=now,
            expires_at=None if days is None else now + dt.timedelta(days=days),
            label=label,
        )
        with self._engine.begin() as connection:
            connection.execute(row)
        return issued

    def revoke(self, tenant: str, key_id: str) -> None:
        """Revokes a key at once in every replica; a revoked key may be revoked again. Raises UnknownKeyError."""
        ours = (api_keys.c.tenant == tenant) & (api_keys.c.key_id == key_id)
        with self._engine.begin() as connection:
            if connection.execute(select(api_keys.c.key_id).where(ours)).one_or_none() is None:
                raise UnknownKeyError
            connection.execute(update(api_keys).where(ours, api_keys.c.revoked_at.is_(None)).values(revoked_at=_now()))

    def keys(self, tenant: str) -> list[KeyRecord]:
        """Returns every key of `tenant`, oldest first, including revoked ones."""
        query = select(api_keys).where(api_keys.c.tenant == tenant).order_by(api_keys.c.created_at)
        with self._engine.connect() as connection:
            return [
                KeyRecord(
                    row.key_id,
                    row.tenant,
                    row.role,
                    frozenset(row.grants),
                    row.created_at,
                    row.expires_at,
                    row.revoked_at,
                    row.label,
                    row.last_used_at,
                )
                for row in connection.execute(query)
            ]


def mark_used(engine: Engine, row: Row[tuple[object, ...]], **changes: object) -> None:
    """Stores the time of use at most every ten minutes, to save writes; skips it if the database is busy.

    `changes`: other columns of the row, stored with it.
    """
    now = _now()
    if row.last_used_at is not None and now - row.last_used_at < _USE_IS_KEPT_TO:
        return
    with suppress(OperationalError), engine.begin() as connection:
        ours = update(api_keys).where(api_keys.c.key_id == row.key_id)
        connection.execute(ours.values(last_used_at=now, **changes))


def refuse_bad_grants(grants: Sequence[str]) -> None:
    """Raises BadGrantError for a grant of unknown form, or for two that contradict each other about one graph."""
    for position, grant in enumerate(grants, start=1):
        if not _GRANT.fullmatch(grant):
            raise BadGrantError(
                f"grant {position} is not valid: use a graph's name (a to z, 0 to 9, - and _), NAME#ROLE, "
                "inspect:NAME, break-glass:NAME, * or inspect:*"
            )
    restricted = [grant.partition(ROLE_MARK)[0] for grant in grants if ROLE_MARK in grant]
    glass = {grant.removeprefix(BREAK_GLASS) for grant in grants if grant.startswith(BREAK_GLASS)}
    if not glass <= set(restricted):
        raise BadGrantError("break-glass:NAME lifts a role, so NAME#ROLE must be granted beside it")
    if len(set(restricted)) < len(restricted):
        raise BadGrantError(
            "two roles for one graph: a key may have one; define a role in the policy that shows what both show"
        )
    if restricted and EVERY_GRAPH in grants:
        raise BadGrantError("`*` grants every graph as a whole, so that a role beside it restricts nothing")
    if not set(restricted).isdisjoint(grants):
        raise BadGrantError("a graph is granted as a whole and by a role, so that the role restricts nothing")


def require_grant(caller: Caller, graph: str) -> None:
    """Raises NoGrantError if the caller may not ask the graph. Call it before looking whether the graph exists."""
    if not caller.may_ask(graph):
        raise NoGrantError


def require_admin(caller: Caller) -> None:
    """Raises NotPermittedError if the caller is not an admin."""
    if not caller.is_admin:
        raise NotPermittedError


def break_glass(record: AccessRecord, caller: Caller, graph: str, wanted: BreakGlass) -> GlassBroken:
    """Lifts the caller's role in a graph for some minutes, by writing that into the access record.

    Promise: what lifts a role is the row in the record, so it is never lifted without one. Limit: it is lifted for
    whoever uses the key. Raises NoGrantError, NoBreakGlassError, LedgerUnavailableError.
    """
    require_grant(caller, graph)
    if BREAK_GLASS + graph not in caller.grants:
        raise NoBreakGlassError
    entry = AccessEntry(
        caller.tenant, caller.key_id, graph, "break_glass", wanted.minutes, person=wanted.person, reason=wanted.reason
    )
    record.add(entry)
    return GlassBroken(graph=graph, until=entry.at + dt.timedelta(minutes=wanted.minutes))


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


MAX_DEVICES: Final = 100


class DeviceNotAdmittedError(Exception):
    """No capsule is sealed to this public key, because it was revoked, or is not registered where that is required."""


class UnknownDeviceError(Exception):
    """The API key has no device with this fingerprint."""


class TooManyDevicesError(Exception):
    """The API key already has MAX_DEVICES devices, including revoked ones."""


class Devices:
    """The devices that belong to API keys, each stored as the fingerprint of its public key.

    Promise: a revoked device gets no further capsule from any replica; with `required`, only registered devices get
    one. Limit: without `required` the holder of the API key may send another public key, so if a device is lost with
    its API key, that key must be revoked. Capsules sealed before can still be opened with the device.
    """

    def __init__(self, engine: Engine, required: bool) -> None:
        self._engine, self.required = engine, required

    def admit(self, caller: Caller, public_key: str | None) -> None:
        """Checks a public key before anything is sealed to it; None passes.

        Raises BadPublicKeyError, DeviceNotAdmittedError.
        """
        if public_key is None:
            return
        device = self._find(caller.tenant, caller.key_id, fingerprint_of(public_key))
        if (self.required and device is None) or (device is not None and device.revoked_at is not None):
            raise DeviceNotAdmittedError

    def register(self, tenant: str, key_id: str, public_key: str) -> Device:
        """Registers a device and returns it; a registered device may be registered again, a revoked one may not.

        Raises BadPublicKeyError, UnknownKeyError, DeviceNotAdmittedError, TooManyDevicesError.
        """
        self._require_key(tenant, key_id)
        suite, fingerprint = parse_public_key(public_key).suite.name, fingerprint_of(public_key)
        if self._find(tenant, key_id, fingerprint) is None:
            self._insert(tenant, key_id, fingerprint, suite)
        found = self._find(tenant, key_id, fingerprint)
        if found is None or found.revoked_at is not None:
            raise DeviceNotAdmittedError
        return found

    def revoke(self, tenant: str, key_id: str, fingerprint: str) -> Device:
        """Revokes a device at once in every replica; a revoked device may be revoked again.

        Raises UnknownDeviceError.
        """
        ours = _of_key(tenant, key_id) & (devices.c.fingerprint == fingerprint)
        with self._engine.begin() as connection:
            connection.execute(update(devices).where(ours, devices.c.revoked_at.is_(None)).values(revoked_at=_now()))
        found = self._find(tenant, key_id, fingerprint)
        if found is None:
            raise UnknownDeviceError
        return found

    def of(self, tenant: str, key_id: str) -> DeviceList:
        """Returns every device of the API key, oldest first, including revoked ones. Raises UnknownKeyError."""
        self._require_key(tenant, key_id)
        query = select(devices).where(_of_key(tenant, key_id)).order_by(devices.c.registered_at)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return DeviceList(key_id=key_id, required=self.required, devices=[_device(row) for row in rows])

    def _insert(self, tenant: str, key_id: str, fingerprint: str, suite: str) -> None:
        row = {"tenant": tenant, "key_id": key_id, "fingerprint": fingerprint, "suite": suite, "registered_at": _now()}
        # An IntegrityError means that another request has registered the device meanwhile.
        with suppress(IntegrityError), self._engine.begin() as connection:
            if connection.execute(select(func.count()).where(_of_key(tenant, key_id))).scalar_one() >= MAX_DEVICES:
                raise TooManyDevicesError
            connection.execute(insert(devices).values(row))

    def _find(self, tenant: str, key_id: str, fingerprint: str) -> Device | None:
        with self._engine.connect() as connection:
            wanted = {"tenant": tenant, "key_id": key_id, "fingerprint": fingerprint}
            row = connection.execute(_DEVICE, wanted).one_or_none()
        return None if row is None else _device(row)

    def _require_key(self, tenant: str, key_id: str) -> None:
        if (tenant, key_id) == (OPERATOR_TENANT, OPERATOR_KEY_ID):
            return
        ours = (api_keys.c.tenant == tenant) & (api_keys.c.key_id == key_id)
        with self._engine.connect() as connection:
            if connection.execute(select(api_keys.c.key_id).where(ours)).one_or_none() is None:
                raise UnknownKeyError


def _of_key(tenant: str, key_id: str) -> ColumnElement[bool]:
    return (devices.c.tenant == tenant) & (devices.c.key_id == key_id)


def _device(row: Row[tuple[object, ...]]) -> Device:
    return Device(
        fingerprint=row.fingerprint, suite=row.suite, registered_at=row.registered_at, revoked_at=row.revoked_at
    )
