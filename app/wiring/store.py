"""Opens the data folder and its database, and builds the stores in them; none of these needs a reasoner."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from app.database.engine import DatabaseExposedError, make_engine, migrate
from app.settings import ConfigurationError, Settings, make_data_folder
from app.wiring.key_services import ring_file_of
from kg_store.errors import MasterKeyError
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.versions import GraphRows

if TYPE_CHECKING:
    from app.accounts.api_keys import Access, Devices
    from app.accounts.names_read import NamesRead
    from app.accounts.openid import OpenIdProvider
    from app.accounts.persons import Persons
    from app.accounts.quotas import Budgets
    from app.chat.conversations import ConversationStore
    from app.egress.ledger.access import AccessEntry, AccessRecord
    from app.egress.ledger.audit import LedgerAudit
    from app.egress.ledger.ledger import Ledger
    from app.egress.ledger.retention import LedgerUpkeep
    from app.memory.cases import CaseStore
    from app.memory.stated_facts import StatedFactStore
    from app.telemetry.webhook import AlarmWebhook, PostQueue
    from kg_store.catalog import Catalog
    from kg_store.storage.ties import GraphTies
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

        persons = self.persons
        caller_of = persons.caller_of if persons else None
        return Access(self.engine, self.settings.admin_key, caller_of, self.access_record.lifted)

    @cached_property
    def provider(self) -> OpenIdProvider | None:
        return provider_of(self.settings)

    @cached_property
    def persons(self) -> Persons | None:
        return _persons_of(self.settings, self.provider, self.engine, self.master)

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
    def facts(self) -> StatedFactStore:
        from app.memory.stated_facts import StatedFactStore

        return StatedFactStore(self.engine, self.master)

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

    @cached_property
    def access_record(self) -> AccessRecord:
        from app.egress.ledger.access import AccessRecord, tell_nobody

        webhook, export = self.webhook, self.access_export
        return AccessRecord(
            self.engine,
            self.master,
            tell_nobody if webhook is None else partial(_tell, webhook),
            tell_nobody if export is None else export.put,
        )

    @cached_property
    def access_export(self) -> PostQueue[AccessEntry] | None:
        return _access_export_of(self.settings)

    @cached_property
    def webhook(self) -> AlarmWebhook | None:
        return _webhook_of(self.settings)

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

    @property
    def ties(self) -> GraphTies:
        """The public graphs that stand beside others."""
        from kg_store.storage.ties import GraphTies

        return GraphTies(self.engine)

    def close(self) -> None:
        built = self.__dict__
        for name in ("webhook", "access_export"):
            if built.get(name) is not None:
                built[name].close()
        if "catalog" in built:
            self.catalog.close()
        if built.get("provider") is not None:
            built["provider"].close()
        self.engine.dispose()


def _rows_of(settings: Settings, engine: Engine, master: MasterKey) -> GraphRows:
    return GraphRows(engine, master, DataFolder(settings.data_dir).id, settings.graph_versions_kept)


def read_master_key(settings: Settings) -> MasterKey:
    """Returns the master key from the environment, else from its file, which a key service may wrap.

    Raises ConfigurationError, MasterKeyError, KeyServiceError.
    """
    settings.require_master_key()
    if settings.master_key is not None:
        return MasterKey.from_text(settings.master_key.get_secret_value())
    return MasterKey.from_file(ring_file_of(settings))


def provider_of(settings: Settings) -> OpenIdProvider | None:
    """Returns the OpenID provider of the settings, or None; nothing is fetched yet."""
    if not (settings.oidc_issuer and settings.oidc_client_id):
        return None
    # Imported late, because most installations have no provider.
    from app.accounts.openid import OpenIdProvider

    return OpenIdProvider(
        settings.oidc_issuer, settings.oidc_client_id, settings.oidc_audience or settings.oidc_client_id
    )


def _persons_of(
    settings: Settings, provider: OpenIdProvider | None, engine: Engine, master: MasterKey
) -> Persons | None:
    if provider is None or settings.oidc_groups is None:
        return None
    from app.accounts.persons import GroupsFileError, Persons, read_groups

    try:
        groups = read_groups(settings.oidc_groups)
    except GroupsFileError as error:
        raise ConfigurationError(f"AROG_OIDC_GROUPS: {error}") from None
    return Persons(engine, master, provider, groups, settings.oidc_groups_claim)


def open_database(settings: Settings) -> Engine:
    """Returns the engine of the database, migrated to this version. Raises ConfigurationError."""
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
    return engine


def open_store(settings: Settings) -> ServiceContext:
    """Opens the data folder, migrates its database to this version, and returns the stores in them.

    Raises MasterKeyError, StoreError, ConfigurationError.
    """
    master = read_master_key(settings)
    make_data_folder(settings)
    engine = open_database(settings)
    if not _rows_of(settings, engine, master).key_fits():
        engine.dispose()
        raise MasterKeyError("the master key opens none of the graphs in this folder: set the one that sealed them")
    store = ServiceContext(settings, engine, master)
    if settings.oidc_groups is not None:
        _ = store.persons  # Tells a broken file of groups at once.
    return store


def _webhook_of(settings: Settings) -> AlarmWebhook | None:
    if settings.alarm_url is None or settings.alarm_secret is None:
        return None
    from app.telemetry.webhook import AlarmWebhook

    return AlarmWebhook(str(settings.alarm_url), settings.alarm_secret.get_secret_value())


MAX_EXPORTED: Final = 10_000
"""The most entries of the access record that wait to be exported. Chosen by hand."""
_AT_ONCE: Final = 500


def _access_export_of(settings: Settings) -> PostQueue[AccessEntry] | None:
    if settings.access_otlp_url is None:
        return None
    from app.egress.ledger.access import otlp_logs
    from app.telemetry.webhook import PostQueue

    url = str(settings.access_otlp_url)
    return PostQueue(url, lambda each: (otlp_logs(each), {}), "access_not_exported", MAX_EXPORTED, _AT_ONCE)


def _tell(webhook: AlarmWebhook, entry: AccessEntry) -> None:
    """Sends an alarm or a break-glass to the webhook: ids and a count, neither names nor the reason."""
    told: dict[str, str | int] = {"type": entry.event, "tenant": entry.tenant, "key_id": entry.caller}
    webhook.post(entry.id, entry.at, told | {"graph": entry.graph, "count": entry.count})


def delete_uploads(folder: Path) -> None:
    """Deletes uploads that a killed process left in `folder`, as they are not encrypted.

    Uploads that a running process holds locked are left alone.
    """
    for upload in folder.glob("*"):
        with suppress(OSError), (upload / UPLOAD_LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # Raises OSError if a process holds the lock.
            shutil.rmtree(upload, ignore_errors=True)
