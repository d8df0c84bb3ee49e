"""VersionHistory: the versions of a graph that are kept, the differences between two, and the way back to one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kg_store.errors import UnknownGraphError, VersionError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.schema import masks_of, read_schema
from kg_store.open_graphs import OpenGraphs, PrivateGraph
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.vault import VaultScope
from kg_store.storage.version_reports import GraphInfo
from kg_store.storage.versions import GraphRows, VersionRow
from kg_store.terms import Mids, NodeKind, Schema
from kg_store.version_builder import SCHEMA_FILE, VersionCipher

MIN_ID_CHARS = 6
"""The fewest characters of an id that stand for a version: shorter texts of digits are numbers."""


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version that is live or kept. `number` counts from 1, the oldest; `bytes` is its size on disk."""

    number: int
    info: GraphInfo
    bytes: int
    is_live: bool


@dataclass(frozen=True, slots=True)
class VersionOutline:
    """The parts of a version that are compared: the MIDs of its entities, and its schema."""

    entities: Mids = field(repr=False)
    schema: Schema = field(repr=False)

    @classmethod
    def of(cls, adjacency: Adjacency, schema: Schema) -> VersionOutline:
        is_entity = np.array([each.kind is NodeKind.ENTITY for each in schema.signatures], dtype=np.bool_)
        return cls(adjacency.mids[is_entity[adjacency.signatures]], schema)


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """The differences between two versions: numbers of entities, and labels of relations.

    Labels of masked relations mean nothing outside of their version, so that these are counted only.
    """

    entities_gained: int
    entities_lost: int
    relations_gained: tuple[str, ...]
    relations_lost: tuple[str, ...]
    masked_gained: int
    masked_lost: int

    @classmethod
    def between(cls, before: VersionOutline, after: VersionOutline) -> VersionChanges:
        of_old, of_new = _labels(before.schema), _labels(after.schema)
        masks_old, masks_new = masks_of(before.schema).keys(), masks_of(after.schema).keys()
        return cls(
            entities_gained=len(np.setdiff1d(after.entities, before.entities)),
            entities_lost=len(np.setdiff1d(before.entities, after.entities)),
            relations_gained=tuple(sorted(of_new - of_old)),
            relations_lost=tuple(sorted(of_old - of_new)),
            masked_gained=len(masks_new - masks_old),
            masked_lost=len(masks_old - masks_new),
        )


def _labels(schema: Schema) -> frozenset[str]:
    return frozenset(each.label for each in schema.relations if each.mask is None)


class VersionHistory:
    """The live and the kept versions of every graph.

    Promise: a kept version is never answered from until it is made live, and nothing that was erased from its graph
    comes back with it.
    """

    def __init__(self, folder: DataFolder, rows: GraphRows, cipher: VersionCipher, opened: OpenGraphs) -> None:
        self._folder, self._rows, self._cipher, self._opened = folder, rows, cipher, opened

    def versions(self, tenant: str, name: str) -> list[StoredVersion]:
        """Returns the versions of a graph, the oldest first. Raises UnknownGraphError."""
        live = self._live(tenant, name).id
        return [
            StoredVersion(number, self._rows.report(row), self._bytes(row), row.id == live)
            for number, row in enumerate(self._rows.stored(tenant, name), start=1)
        ]

    def kept(self, tenant: str, name: str) -> list[VersionRow]:
        """Returns the rows of a graph's versions that are not live, the newest first; empty if there is no graph."""
        live = {row.id for row in self._rows.current(tenant, name)}
        return [row for row in reversed(self._rows.stored(tenant, name)) if row.id not in live]

    def keeps(self, tenant: str, name: str, version_id: str) -> bool:
        """Returns True if the version is kept, so that `roll_back` can make it live."""
        return any(row.id == version_id for row in self.kept(tenant, name))

    def open(self, row: VersionRow) -> PrivateGraph | None:
        """Opens a kept version, which no question finds; returns None if its files are not in this data folder."""
        return self._opened.open_apart(row)

    def chosen(self, tenant: str, name: str, version: str | None) -> tuple[StoredVersion, StoredVersion]:
        """Returns (the live version, the one that `version` means): a number, an id, or the beginning of one.

        Without `version` it is the one loaded before the live one. Raises UnknownGraphError, VersionError if there is
        none, or it is live already.
        """
        stored = self.versions(tenant, name)
        live = next(each for each in stored if each.is_live)
        if version is None:
            found = [each for each in stored if each.number == live.number - 1]
        elif version.isdecimal() and len(version) < MIN_ID_CHARS:
            found = [each for each in stored if each.number == int(version)]
        else:
            found = [each for each in stored if len(version) >= MIN_ID_CHARS and each.info.version.startswith(version)]
        if len(found) != 1:
            missing = (
                "no version before the live one is kept" if version is None else "the graph keeps no such version"
            )
            raise VersionError(f"{missing}: `arog graph versions` lists those that are kept")
        if found[0].is_live:
            raise VersionError("that version is live already")
        return live, found[0]

    def changes(self, tenant: str, name: str, before: str, after: str) -> VersionChanges:
        """Returns the differences between two versions, given by their ids. Raises VersionError if one is gone."""
        rows = {row.id: row for row in self._rows.stored(tenant, name)}
        try:
            return VersionChanges.between(self.outline(rows[before]), self.outline(rows[after]))
        except (KeyError, FileNotFoundError):
            raise VersionError("that version was deleted meanwhile, or is not in this data folder") from None

    def live_outline(self, tenant: str, name: str) -> VersionOutline | None:
        """Returns the outline of the live version; None if there is none in this data folder."""
        try:
            return self.outline(self._live(tenant, name))
        except (UnknownGraphError, FileNotFoundError):
            return None

    def outline(self, row: VersionRow) -> VersionOutline:
        """Raises FileNotFoundError if the version's files are not in this data folder."""
        scope = VaultScope(row.tenant, row.name, row.id)
        schema = read_schema(self._cipher.read(scope, SCHEMA_FILE))
        return VersionOutline.of(Adjacency.map_from(self._folder.path_of(row.id)), schema)

    def roll_back(self, tenant: str, name: str, live: str, to: str) -> GraphInfo:
        """Makes the kept version `to` live instead of `live`, which is kept, in one transaction.

        Questions in flight finish on the version that they began with. Raises VersionError, and then changes nothing.
        """
        row = next((row for row in self._rows.stored(tenant, name) if row.id == to), None)
        if row is None or self.open(row) is None:
            raise VersionError("that version was deleted meanwhile, or is not in this data folder")
        self._rows.roll_back(tenant, name, to, instead_of=live)
        return self._rows.report(row)

    def _live(self, tenant: str, name: str) -> VersionRow:
        rows = self._rows.current(tenant, name)
        if not rows:
            raise UnknownGraphError("no graph of that name in this data folder")
        return rows[0]

    def _bytes(self, row: VersionRow) -> int:
        files = (path.stat().st_size for path in self._folder.path_of(row.id).glob("*"))
        return sum(files) + self._rows.vault_bytes(row.id)
