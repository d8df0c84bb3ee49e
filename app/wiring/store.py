"""Opens the data folder and its database, and builds the stores in them; none of these needs a reasoner."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from app.accounts.api_keys import Access, Devices
from app.accounts.names_read import NamesRead
from app.accounts.persons import GroupsFileError, Persons, read_groups
from app.accounts.quotas import UNLIMITED, Budgets, RevealBudgets, TenantTokens
from app.chat.conversations import ConversationStore
from app.database.engine import DatabaseExposedError, make_engine, migrate
from app.egress.ledger.access import AccessEntry, AccessRecord, tell_nobody
from app.egress.ledger.audit import LedgerAudit
from app.egress.ledger.ledger import Ledger
from app.egress.ledger.retention import LedgerUpkeep
from app.memory.cases import CaseStore
from app.settings import ConfigurationError, Settings, make_data_folder
from app.telemetry.webhook import AlarmWebhook
from app.wiring.key_services import ring_file_of
from kg_store.catalog import Catalog
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

if TYPE_CHECKING:
    from app.accounts.openid import OpenIdProvider

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


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The settings, the database and the stores in the data folder: all that manages graphs, keys and the ledger.

    None of it needs a reasoner.
    """

    settings: Settings
    engine: Engine
    master: MasterKey
    catalog: Catalog
    access: Access
    provider: OpenIdProvider | None
    persons: Persons | None
    devices: Devices
    conversations: ConversationStore
    cases: CaseStore
    names_read: NamesRead
    ledger: Ledger
    upkeep: LedgerUpkeep
    access_record: AccessRecord
    webhook: AlarmWebhook | None

    @property
    def budgets(self) -> Budgets:
        """The budgets of the settings; unlimited if the embedded reasoner answers, which costs no tokens."""
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

    @property
    def audit(self) -> LedgerAudit:
        return LedgerAudit(self.engine, self.master, self.upkeep)

    def close(self) -> None:
        if self.webhook is not None:
            self.webhook.close()
        self.catalog.close()
        if self.provider is not None:
            self.provider.close()
        self.engine.dispose()


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
    try:
        groups = read_groups(settings.oidc_groups)
    except GroupsFileError as error:
        raise ConfigurationError(f"AROG_OIDC_GROUPS: {error}") from None
    return Persons(engine, master, provider, groups, settings.oidc_groups_claim)


def _migrated(settings: Settings) -> Engine:
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
    engine = _migrated(settings)
    catalog = Catalog(settings.data_dir, engine, master, _RequestWords(), settings.graph_versions_kept)
    if not catalog.key_fits():
        engine.dispose()
        raise MasterKeyError("the master key opens none of the graphs in this folder: set the one that sealed them")
    webhook = _webhook_of(settings)
    record = AccessRecord(engine, master, tell_nobody if webhook is None else partial(_tell, webhook))
    provider = provider_of(settings)
    persons = _persons_of(settings, provider, engine, master)
    return ServiceContext(
        settings=settings,
        engine=engine,
        master=master,
        catalog=catalog,
        access=Access(engine, settings.admin_key, persons.caller_of if persons else None, record.lifted),
        provider=provider,
        persons=persons,
        devices=Devices(engine, settings.require_devices),
        conversations=ConversationStore(engine, master, settings.conversation_days),
        cases=CaseStore(engine, master),
        names_read=NamesRead(engine, partial(master.all_derived, "names read")),
        ledger=Ledger(engine, master),
        upkeep=LedgerUpkeep(engine, master),
        access_record=record,
        webhook=webhook,
    )


def _webhook_of(settings: Settings) -> AlarmWebhook | None:
    if settings.alarm_url is None or settings.alarm_secret is None:
        return None
    return AlarmWebhook(str(settings.alarm_url), settings.alarm_secret.get_secret_value())


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
