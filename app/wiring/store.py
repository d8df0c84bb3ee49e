"""Opens the data folder and its database, and builds the stores in them; none of these needs a reasoner."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from app.database.engine import DatabaseExposedError, make_engine, migrate
from app.settings import ConfigurationError, Settings, make_data_folder
from kg_store.errors import MasterKeyError
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.versions import GraphRows

if TYPE_CHECKING:
    from app.accounts.api_keys import Access, Devices
    from app.accounts.names_read import NamesRead
    from app.accounts.quotas import Budgets
    from app.chat.conversations import ConversationStore
    from app.egress.ledger.audit import LedgerAudit
    from app.egress.ledger.ledger import Ledger
    from app.egress.ledger.retention import LedgerUpkeep
    from app.memory.cases import CaseStore
    from kg_store.catalog import Catalog
    from kg_store.storage.version_reports import GraphInfo

INCOMING, JOBS = "incoming", "jobs"
UPLOAD_LOCK = ".lock"
"""The name of a file in an upload's folder; the process that loads the upload holds it locked."""


class _RequestWords:
    """Iterates over `app.wiring.chats.request_words`, imported only when a graph is built.

    That module imports the whole service, which most commands do not need.
    """

    def __iter__(self) -> Iterator[str]:
        from app.wiring.chats import request_words

        return iter(request_words())


@dataclass(frozen=True)
class ServiceContext:
    """The settings, the database and the stores in the data folder: all that manages graphs, keys and the ledger.

    None of it needs a reasoner. Each store is imported and built when it is first used: a command waits for the few
    that it needs.
    """

    settings: Settings
    engine: Engine
    master: MasterKey

    @cached_property
    def catalog(self) -> Catalog:
        from kg_store.catalog import Catalog

        settings = self.settings
        return Catalog(settings.data_dir, self.engine, self.master, _RequestWords(), settings.graph_versions_kept)

    @cached_property
    def access(self) -> Access:
        from app.accounts.api_keys import Access

        return Access(self.engine, self.settings.admin_key)

    @cached_property
    def devices(self) -> Devices:
        from app.accounts.api_keys import Devices

        return Devices(self.engine, self.settings.require_devices)

    @cached_property
    def conversations(self) -> ConversationStore:
        from app.chat.conversations import ConversationStore

        return ConversationStore(self.engine, self.master, self.settings.conversation_days)

    @cached_property
    def cases(self) -> CaseStore:
        from app.memory.cases import CaseStore

        return CaseStore(self.engine, self.master)

    @cached_property
    def names_read(self) -> NamesRead:
        from app.accounts.names_read import NamesRead

        return NamesRead(self.engine, partial(self.master.all_derived, "names read"))

    @cached_property
    def ledger(self) -> Ledger:
        from app.egress.ledger.ledger import Ledger

        return Ledger(self.engine, self.master)

    @cached_property
    def upkeep(self) -> LedgerUpkeep:
        from app.egress.ledger.retention import LedgerUpkeep

        return LedgerUpkeep(self.engine, self.master)

    @property
    def audit(self) -> LedgerAudit:
        from app.egress.ledger.audit import LedgerAudit

        return LedgerAudit(self.engine, self.master, self.upkeep)

    @property
    def budgets(self) -> Budgets:
        """The budgets of the settings; unlimited if the embedded reasoner answers, which costs no tokens."""
        from app.accounts.quotas import UNLIMITED, Budgets, RevealBudgets, TenantTokens

        if self.settings.reasoner == "embedded":
            return UNLIMITED
        settings = self.settings
        return Budgets(
            settings.question_tokens,
            TenantTokens(self.engine, settings.tenant_tokens_per_day),
            RevealBudgets(self.engine, settings.conversation_reveals, settings.tenant_reveals),
        )

    @property
    def incoming(self) -> Path:
        """The folder that holds uploads while they are loaded into a graph."""
        return self.settings.data_dir / INCOMING

    def graph_reports(self, tenant: str) -> list[GraphInfo]:
        """Returns the reports of a tenant's graphs, sorted by name; no graph is opened. Raises MasterKeyError."""
        return _rows_of(self.settings, self.engine, self.master).reports(tenant)

    def close(self) -> None:
        if "catalog" in self.__dict__:
            self.catalog.close()
        self.engine.dispose()


def _rows_of(settings: Settings, engine: Engine, master: MasterKey) -> GraphRows:
    return GraphRows(engine, master, DataFolder(settings.data_dir).id, settings.graph_versions_kept)


def read_master_key(settings: Settings) -> MasterKey:
    """Returns the master key from the environment, else from its file. Raises ConfigurationError, MasterKeyError."""
    settings.require_master_key()
    if settings.master_key is not None:
        return MasterKey.from_text(settings.master_key.get_secret_value())
    return MasterKey.from_file(settings.key_file)


def open_store(settings: Settings) -> ServiceContext:
    """Opens the data folder, migrates its database to this version, and returns the stores in them.

    Raises MasterKeyError, StoreError, ConfigurationError.
    """
    master = read_master_key(settings)
    make_data_folder(settings)
    try:
        engine = make_engine(settings.database)
        migrate(engine)
    except ImportError:
        raise ConfigurationError("the driver that AROG_DATABASE_URL names is not installed") from None
    except DatabaseExposedError:
        raise ConfigurationError(
            "others may read the database's file, and this user may not change that: give the file to this user"
        ) from None
    except (SQLAlchemyError, ArgumentError):
        raise ConfigurationError("the database of AROG_DATABASE_URL can't be opened or migrated") from None
    if not _rows_of(settings, engine, master).key_fits():
        engine.dispose()
        raise MasterKeyError("the master key opens none of the graphs in this folder: set the one that sealed them")
    return ServiceContext(settings, engine, master)


def delete_uploads(folder: Path) -> None:
    """Deletes uploads that a killed process left in `folder`, as they are not encrypted.

    Uploads that a running process holds locked are left alone.
    """
    for upload in folder.glob("*"):
        with suppress(OSError), (upload / UPLOAD_LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # Raises OSError if a process holds the lock.
            shutil.rmtree(upload, ignore_errors=True)
