"""Writes and reads checkpoints: signed statements of a chain's length and end, and of what was removed from it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import IntegrityError

from app.egress.ledger.chain import START, ledger_checkpoints, ledger_signers
from kg_store.storage.master_key import MasterKey, bind

SIGNER_PURPOSE: Final = "ledger signer"
_SIGNER_ID: Final = "ledger"
_MESSAGE: Final = b"arog ledger checkpoint 1\n"


@dataclass(frozen=True, slots=True)
class RetentionCuts:
    """The part of a chain that retention or erasure removed, so that a check does not report it as missing.

    `first`: the number of the first row that still exists; `before`: the link of the row before it, which was deleted.
    `payloads_from`: requests and replies older than this time have no payload, `access_from`: nor have older access
    entries. `erased`: the numbers of the rows whose payload was removed, or written anew without what was erased, when
    this checkpoint was signed.
    """

    first: int = 1
    before: str = START
    payloads_from: dt.datetime | None = None
    erased: tuple[int, ...] = ()
    access_from: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed statement that row `number` of a tenant's chain had the link `link`. `body`: the signed text."""

    tenant: str
    number: int
    link: str
    at: dt.datetime
    cuts: RetentionCuts
    body: str
    signature: str

    def is_signed_by(self, public: str) -> bool:
        """Returns True if the signature is valid for the public key `public` (hex)."""
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
            key.verify(bytes.fromhex(self.signature), _MESSAGE + self.body.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


def read_checkpoint(body: str, signature: str) -> Checkpoint:
    """Reads a checkpoint from its signed text. Raises ValueError if `body` is not one."""
    try:
        told = json.loads(body)
        until, access = told["payloads_from"], told.get("access_from")
        cuts = RetentionCuts(
            int(told["first"]),
            str(told["before"]),
            None if until is None else dt.datetime.fromisoformat(until),
            tuple(int(number) for number in told["erased"]),
            None if access is None else dt.datetime.fromisoformat(access),
        )
        at = dt.datetime.fromisoformat(told["at"])
        return Checkpoint(str(told["tenant"]), int(told["number"]), str(told["link"]), at, cuts, body, signature)
    except (KeyError, TypeError):
        raise ValueError("no checkpoint") from None


class Signer:
    """Signs checkpoints with an Ed25519 key, which is created once and stored encrypted with the master key."""

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        self._key: Ed25519PrivateKey | None = None

    def public(self) -> str:
        """Returns the public key that checks the signatures, in hex. Raises MasterKeyError."""
        return self._private().public_key().public_bytes_raw().hex()

    def sign(
        self,
        connection: Connection,
        tenant: str,
        number: int,
        link: str,
        cuts: RetentionCuts,
        at: dt.datetime | None = None,
    ) -> Checkpoint:
        """Signs and stores a checkpoint in the caller's transaction. `ready` must be called before that begins."""
        body = _body(tenant, number, link, cuts, at or dt.datetime.now(dt.UTC))
        signature = self._private().sign(_MESSAGE + body.encode()).hex()
        row = {"tenant": tenant, "number": number, "body": body, "signature": signature}
        connection.execute(insert(ledger_checkpoints), row)
        return read_checkpoint(body, signature)

    def ready(self) -> None:
        """Creates the signing key if there is none, in a transaction of its own. Raises MasterKeyError."""
        self._private()

    def _private(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = self._read() or self._made()
        return self._key

    def _read(self) -> Ed25519PrivateKey | None:
        with self._engine.connect() as connection:
            sealed = connection.execute(select(ledger_signers.c.sealed).where(_OURS)).scalar_one_or_none()
        if sealed is None:
            return None
        return Ed25519PrivateKey.from_private_bytes(self._master.open(SIGNER_PURPOSE, signer_context(), sealed))

    def _made(self) -> Ed25519PrivateKey:
        fresh = Ed25519PrivateKey.generate()
        sealed = self._master.seal(SIGNER_PURPOSE, signer_context(), fresh.private_bytes_raw())
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(ledger_signers), {"id": _SIGNER_ID, "sealed": sealed})
        except IntegrityError:
            # Another process has stored a key at the same moment; that one is used.
            fresh = self._read() or fresh
        return fresh


def signer_context() -> bytes:
    return bind(_SIGNER_ID)


def checkpoints_of(connection: Connection, tenant: str, newest_first: bool = False) -> Iterator[Checkpoint | int]:
    """Yields every checkpoint of a tenant in order; in place of one that can't be read, its position (an int)."""
    position = ledger_checkpoints.c.position
    query = select(ledger_checkpoints).where(ledger_checkpoints.c.tenant == tenant)
    for row in connection.execute(query.order_by(position.desc() if newest_first else position)):
        try:
            yield read_checkpoint(row.body, row.signature)
        except ValueError:
            yield row.position


def last_cuts(connection: Connection, tenant: str, public: str) -> RetentionCuts:
    """Returns the cuts made so far, as the last checkpoint with a valid signature states them; `erased` is empty."""
    for checkpoint in checkpoints_of(connection, tenant, newest_first=True):
        if is_ours(checkpoint, tenant, public):
            return replace(checkpoint.cuts, erased=())
    return RetentionCuts()


def is_ours(checkpoint: Checkpoint | int, tenant: str, public: str) -> TypeGuard[Checkpoint]:
    """Returns True for a checkpoint of this tenant's chain that was signed with the key `public`."""
    return not isinstance(checkpoint, int) and checkpoint.tenant == tenant and checkpoint.is_signed_by(public)


_OURS: Final = ledger_signers.c.id == _SIGNER_ID


def _body(tenant: str, number: int, link: str, cuts: RetentionCuts, at: dt.datetime) -> str:
    told: dict[str, Any] = {
        "tenant": tenant,
        "number": number,
        "link": link,
        "at": at.astimezone(dt.UTC).isoformat(timespec="microseconds"),
        "first": cuts.first,
        "before": cuts.before,
        "payloads_from": None if cuts.payloads_from is None else cuts.payloads_from.isoformat(timespec="microseconds"),
        "access_from": None if cuts.access_from is None else cuts.access_from.isoformat(timespec="microseconds"),
        "erased": list(cuts.erased),
    }
    return json.dumps(told, sort_keys=True, separators=(",", ":"))
