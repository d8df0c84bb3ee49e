"""TenantNames: the words of all names that a tenant's graphs hold, whichever of them is asked."""

from __future__ import annotations

from sqlalchemy import Engine

from kg_store.names.name_words import NameWords, NameWordsVersionError
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import Vault, VaultScope
from kg_store.storage.versions import GraphRows, VersionRow
from kg_store.version_builder import WORDS_FILE, VersionCipher


class TenantNames:
    """Safe to use from several threads: two that begin at once do the same work, and come to the same."""

    def __init__(self, rows: GraphRows, sealer: VersionCipher, engine: Engine, master: MasterKey) -> None:
        self._rows, self._sealer, self._engine, self._master = rows, sealer, engine, master
        self._united: dict[str, tuple[tuple[str, ...], NameWords]] = {}
        self._of_version: dict[str, dict[str, NameWords]] = {}

    def of(self, tenant: str) -> NameWords:
        """The current versions' words together. Raises MasterKeyError where one of them can't be opened: then nobody
        knows which words are names."""
        rows = self._rows.current(tenant)
        versions = tuple(row.id for row in rows)
        known, united = self._united.get(tenant, ((), NameWords()))
        if known != versions:
            before = self._of_version.get(tenant, {})
            each = {row.id: before[row.id] if row.id in before else self._read(row) for row in rows}
            united = NameWords.union(each.values())
            # What is not current any more is let go: names may have been forgotten with it.
            self._of_version[tenant], self._united[tenant] = each, (versions, united)
        return united

    def forget(self) -> None:
        """Forgets all that was read; it is read again when it is asked for."""
        self._united, self._of_version = {}, {}

    def _read(self, row: VersionRow) -> NameWords:
        scope = VaultScope(row.tenant, row.name, row.id)
        try:
            return NameWords.from_bytes(self._sealer.read(scope, WORDS_FILE))
        except (FileNotFoundError, NameWordsVersionError):
            # In another data folder, swept since its row was read, or of before these words were kept so.
            records = Vault(self._engine, self._master, scope).all_records()
            return NameWords.of(record for _, record in records)
