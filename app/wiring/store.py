"""The data folder and its database, opened: all that needs no reasoner."""

from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from app.accounts.api_keys import Access, Caller
from app.accounts.devices import Devices
from app.accounts.quotas import UNLIMITED, Budgets, RevealBudgets, TenantTokens
from app.chat.conversations import ConversationStore
from app.database.engine import DatabaseExposedError, make_engine, migrate
from app.egress.ledger.audit import LedgerAudit
from app.egress.ledger.ledger import Ledger, LedgerEntry
from app.egress.ledger.retention import LedgerUpkeep
from app.settings import ConfigurationError, Settings, make_data_folder
from app.wiring.master_key import read_master_key
from app.wiring.reserved_words import request_words
from client_sdk.protocol import LedgerPage, LedgerRow, TokenBudget
from kg_store.catalog import Catalog
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

INCOMING = "incoming"


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What needs no reasoner: enough to manage graphs and keys in the data folder."""

    settings: Settings
    engine: Engine
    master: MasterKey
    catalog: Catalog
    access: Access
    devices: Devices
    conversations: ConversationStore
    ledger: Ledger
    upkeep: LedgerUpkeep

    @property
    def budgets(self) -> Budgets:
        """None where nobody is paid by tokens."""
        if self.settings.reasoner == "embedded":
            return UNLIMITED
        settings = self.settings
        return Budgets(
            settings.question_tokens,
            TenantTokens(self.engine, settings.tenant_tokens_per_day),
            RevealBudgets(self.engine, settings.conversation_reveals, settings.tenant_reveals),
        )

    def budget_of(self, tenant: str) -> TokenBudget:
        """How the tenant's day stands."""
        budgets = self.budgets
        state = (budgets.tenants or TenantTokens(self.engine)).state(tenant)
        return TokenBudget(
            day=state.day,
            used=state.used,
            limit=state.limit,
            renews_at=state.renews_at,
            per_question=budgets.question,
            revealed=budgets.reveals.shown_today(tenant) if budgets.reveals else 0,
            reveal_limit=budgets.reveals.tenant if budgets.reveals else None,
        )

    @property
    def incoming(self) -> Path:
        """Where uploads lie while they are loaded."""
        return self.settings.data_dir / INCOMING

    def ledger_page(self, caller: Caller, answer_id: str | None, limit: int) -> LedgerPage:
        """The caller's own entries, newest first; an admin's are the whole tenant's."""
        key_id = None if caller.is_admin else caller.key_id
        entries = self.ledger.entries(caller.tenant, key_id, answer_id, limit)
        if caller.is_restricted:
            # What was replaced in a question tells which names the graph has, those too that are withheld.
            entries = [replace(entry, payload=None) for entry in entries]
        return LedgerPage(entries=[_row(entry) for entry in entries])

    @property
    def audit(self) -> LedgerAudit:
        return LedgerAudit(self.engine, self.master, self.upkeep)

    def purge(self) -> int:
        """Deletes expired conversations and payloads of the ledger; how many. Signs the ledgers that have grown."""
        self.master.refresh()
        purged = self.conversations.purge() + self.upkeep.forget_payloads(self._ledger_border)
        self.upkeep.checkpoint_all()
        return purged

    @property
    def _ledger_border(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC) - dt.timedelta(days=self.settings.ledger_days)

    def close(self) -> None:
        self.catalog.close()
        self.engine.dispose()


def open_store(settings: Settings) -> ServiceContext:
    """The data folder and its database, migrated. Raises MasterKeyError, StoreError, ConfigurationError."""
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
    catalog = Catalog(settings.data_dir, engine, master, request_words())
    if not catalog.key_fits():
        engine.dispose()
        raise MasterKeyError("the master key opens none of the graphs in this folder: set the one that sealed them")
    return ServiceContext(
        settings=settings,
        engine=engine,
        master=master,
        catalog=catalog,
        access=Access(engine, settings.admin_key),
        devices=Devices(engine, settings.require_devices),
        conversations=ConversationStore(engine, master, settings.conversation_days),
        ledger=Ledger(engine, master),
        upkeep=LedgerUpkeep(engine, master),
    )


def _delete_uploads(folder: Path) -> None:
    """Uploads of a process that was killed lie there in clear."""
    shutil.rmtree(folder, ignore_errors=True)


def _row(entry: LedgerEntry) -> LedgerRow:
    return LedgerRow(
        id=entry.id,
        at=entry.at,
        answer=entry.answer,
        conversation=entry.conversation,
        step=entry.step,
        size=entry.size,
        digest=entry.digest,
        verdict=entry.verdict,
        payload=None if entry.payload is None else entry.payload.decode("utf-8", "replace"),
    )
