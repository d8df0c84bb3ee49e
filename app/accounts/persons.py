"""Persons: those who sign in at an OpenID provider, their rights by their groups, and the ids under which they act."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from sqlalchemy import Engine, Row, insert, select
from sqlalchemy.exc import IntegrityError

from app.accounts.api_keys import (
    EVERY_GRAPH,
    PERSON_MARK,
    ROLE_MARK,
    BadGrantError,
    Caller,
    NotAuthenticatedError,
    mark_used,
    refuse_bad_grants,
)
from app.accounts.quotas import utc_now
from app.database.tables import api_keys, person_secret
from client_sdk.protocol import KeyRole

PURPOSE: Final = "person secret"
CONTEXT: Final = b"persons"
MAX_GROUPS: Final = 1_000
_ONLY: Final = 1
_SECRET_BYTES: Final = 32


class ProviderUnreachableError(Exception):
    """The provider's keys can't be fetched. The text says why in fixed words."""


class NoGroupError(Exception):
    """The person is who they say, but none of their groups has a right here."""


class GroupsFileError(Exception):
    """The file of groups can't be used. The text says why, and quotes nothing but the number of the group."""


class Sealer(Protocol):
    """The part of the master key that keeps the secret of the ids."""

    def seal(self, purpose: str, context: bytes, plain: bytes) -> bytes: ...

    def open(self, purpose: str, context: bytes, sealed: bytes) -> bytes: ...


class TokenReader(Protocol):
    """An OpenID provider, as `Persons` needs it."""

    issuer: str

    def claims_of(self, token: str) -> Mapping[str, Any]:
        """Returns the claims of a valid token. Raises NotAuthenticatedError, ProviderUnreachableError."""


class GroupRights(BaseModel):
    """The rights of one group of the provider: a table `[[group]]` of the file of AROG_OIDC_GROUPS."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    tenant: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")] = "default"
    role: KeyRole = "user"
    grants: list[str] = Field(default_factory=list, max_length=MAX_GROUPS)


@dataclass(frozen=True, slots=True)
class Rights:
    """The tenant, role and grants of a person."""

    tenant: str
    role: KeyRole
    grants: frozenset[str]


def read_groups(path: Path) -> tuple[GroupRights, ...]:
    """Returns the groups of a TOML file, in its order. Raises GroupsFileError."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError:
        raise GroupsFileError("the file can't be read") from None
    except ValueError:
        raise GroupsFileError("the file is not TOML") from None
    listed = content.get("group")
    if set(content) != {"group"} or not isinstance(listed, list) or not 0 < len(listed) <= MAX_GROUPS:
        raise GroupsFileError("the file must hold tables [[group]], and nothing else")
    return tuple(_group(position, each) for position, each in enumerate(listed, start=1))


def _group(position: int, content: object) -> GroupRights:
    try:
        group = GroupRights.model_validate(content)
        refuse_bad_grants(group.grants)
    except ValidationError:
        raise GroupsFileError(
            f"group {position} is not valid: it has a name, and may have a tenant, role (user or admin) and grants"
        ) from None
    except BadGrantError as error:
        raise GroupsFileError(f"group {position}: {error.reason}") from None
    return group


def rights_of(groups: Sequence[GroupRights], claimed: frozenset[str]) -> Rights:
    """Returns the rights of a person whose groups are `claimed`. Raises NoGroupError.

    The first group in the file decides the tenant; groups of other tenants don't count. Grants add up: what shows most
    of a graph counts, and of two roles for one graph the one that stands first.
    """
    found = [group for group in groups if group.name in claimed]
    if not found:
        raise NoGroupError
    ours = [group for group in found if group.tenant == found[0].tenant]
    grants = [grant for group in ours for grant in group.grants]
    kept = {grant for grant in grants if ROLE_MARK not in grant}
    roles: dict[str, str] = {}
    for grant in grants:
        graph, mark, _role = grant.partition(ROLE_MARK)
        if mark and kept.isdisjoint((graph, EVERY_GRAPH)):
            roles.setdefault(graph, grant)
    role: KeyRole = "admin" if any(group.role == "admin" for group in ours) else "user"
    return Rights(found[0].tenant, role, frozenset(kept | set(roles.values())))


class Persons:
    """Finds the caller of a provider's token, and keeps a row beside the API keys for each person who has asked.

    Promise: no row holds a person's name, e-mail or subject at the provider, only a keyed digest of the subject; a
    revoked person is refused by every replica at once. Condition: the digest's secret stays sealed by the master key.
    Limit: whoever opens the master key can test for each subject of the provider which id is theirs.
    """

    def __init__(
        self, engine: Engine, sealer: Sealer, provider: TokenReader, groups: Sequence[GroupRights], claim: str
    ) -> None:
        self._engine, self._sealer, self._provider, self._groups = engine, sealer, provider, groups
        self._claim = claim
        self._secret: bytes | None = None

    def caller_of(self, token: str) -> Caller:
        """Returns the caller to whom a token belongs.

        Raises NotAuthenticatedError, also for a revoked person; ProviderUnreachableError, NoGroupError.
        """
        claims = self._provider.claims_of(token)
        rights = rights_of(self._groups, groups_in(claims, self._claim))
        digest = self._digest(rights.tenant, claims["sub"])
        row = self._find(digest) or self._added(digest, rights)
        if row.revoked_at is not None:
            raise NotAuthenticatedError
        mark_used(self._engine, row, role=rights.role, grants=sorted(rights.grants))
        return Caller(rights.tenant, row.key_id, rights.role, rights.grants)

    def id_of(self, tenant: str, subject: str) -> str | None:
        """Returns the id of a person by their subject at the provider, or None if they have never asked."""
        row = self._find(self._digest(tenant, subject))
        return None if row is None else row.key_id

    def _find(self, digest: str) -> Row[Any] | None:
        with self._engine.connect() as connection:
            return connection.execute(select(api_keys).where(api_keys.c.digest == digest)).one_or_none()

    def _added(self, digest: str, rights: Rights) -> Row[Any]:
        row = {
            "key_id": PERSON_MARK + secrets.token_hex(8),
            "digest": digest,
            "tenant": rights.tenant,
            "role": rights.role,
            "grants": sorted(rights.grants),
            "created_at": utc_now(),
        }
        # An IntegrityError means that another request of the person has added the row meanwhile.
        with suppress(IntegrityError), self._engine.begin() as connection:
            connection.execute(insert(api_keys).values(row))
        with self._engine.connect() as connection:
            return connection.execute(select(api_keys).where(api_keys.c.digest == digest)).one()

    def _digest(self, tenant: str, subject: str) -> str:
        if self._secret is None:
            self._secret = self._read_secret() or self._made_secret()
        parts = [tenant, self._provider.issuer, subject]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in (each.encode() for each in parts))
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()

    def _read_secret(self) -> bytes | None:
        with self._engine.connect() as connection:
            sealed = connection.execute(select(person_secret.c.sealed)).scalar_one_or_none()
        return None if sealed is None else self._sealer.open(PURPOSE, CONTEXT, sealed)

    def _made_secret(self) -> bytes:
        sealed = self._sealer.seal(PURPOSE, CONTEXT, secrets.token_bytes(_SECRET_BYTES))
        with suppress(IntegrityError), self._engine.begin() as connection:
            connection.execute(insert(person_secret).values(id=_ONLY, sealed=sealed))
        made = self._read_secret()
        assert made is not None
        return made


def groups_in(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    """Returns the groups in a claim. `realm_access.roles` is looked for as a claim, then as a path into one."""
    found: Any = claims.get(claim)
    if found is None:
        found = claims
        for part in claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(each for each in listed if isinstance(each, str))
