"""Stores the characters of each tenant, one encrypted row each: a name and the episodes of its story."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Engine, Row, delete, insert, select

from app.database.tables import characters
from app.memory.episodes.episode import Episode
from kg_store.errors import StoreError
from kg_store.storage.master_key import MasterKey, bind

PURPOSE: Final = "character"
_ID_BYTES: Final = 12
_PAD_BYTES: Final = 4096


def character_context(row: Row[Any]) -> bytes:
    """Returns what a row's encryption is bound to."""
    return bind(row.tenant, row.id)


class UnknownCharacterError(StoreError):
    """The tenant has no character of that name."""

    def __init__(self) -> None:
        super().__init__("there is no such character: `arog character list` shows those there are")


@dataclass(frozen=True, slots=True)
class KeptCharacter:
    """A character as it is stored."""

    id: str
    made_at: dt.datetime
    name: str = field(repr=False)
    episodes: tuple[Episode, ...] = field(repr=False)


class CharacterStore:
    """Stores the characters of all tenants.

    Promise: a row in the database reveals no word of the story, nor the character's name (AES-256-GCM under the master
    key, bound to the tenant). Condition: the master key is stored elsewhere. Limit: how many characters a tenant has,
    since when, and how long their stories are, is stored in clear.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def keep(self, tenant: str, name: str, episodes: Sequence[Episode]) -> None:
        """Stores a character, in place of the one of the same name. Raises MasterKeyError."""
        same = [each.id for each in self._all(tenant) if each.name == name]
        plain = json.dumps({"name": name, "episodes": [each.to_json() for each in episodes]}).encode()
        new_id = secrets.token_hex(_ID_BYTES)
        sealed = self._master.seal(PURPOSE, bind(tenant, new_id), plain + b" " * (-len(plain) % _PAD_BYTES))
        row = {"id": new_id, "tenant": tenant, "made_at": dt.datetime.now(dt.UTC), "sealed": sealed}
        with self._engine.begin() as connection:
            connection.execute(delete(characters).where(characters.c.id.in_(same)))
            connection.execute(insert(characters), row)

    def all(self, tenant: str) -> list[KeptCharacter]:
        """Returns the tenant's characters by name. Raises MasterKeyError."""
        return sorted(self._all(tenant), key=lambda each: each.name)

    def of_name(self, tenant: str, name: str) -> KeptCharacter:
        """Returns the tenant's character of this name. Raises UnknownCharacterError, MasterKeyError."""
        found = next((each for each in self._all(tenant) if each.name == name), None)
        if found is None:
            raise UnknownCharacterError
        return found

    def forget(self, tenant: str, name: str) -> None:
        """Deletes the tenant's character of this name. Raises UnknownCharacterError, MasterKeyError."""
        found = self.of_name(tenant, name)
        with self._engine.begin() as connection:
            connection.execute(delete(characters).where(characters.c.id == found.id))

    def _all(self, tenant: str) -> Iterator[KeptCharacter]:
        with self._engine.connect() as connection:
            rows = connection.execute(select(characters).where(characters.c.tenant == tenant)).all()
        for row in rows:
            content = json.loads(self._master.open(PURPOSE, character_context(row), row.sealed))
            episodes = tuple(Episode.from_json(each) for each in content["episodes"])
            yield KeptCharacter(row.id, row.made_at, content["name"], episodes)
