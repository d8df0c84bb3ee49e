"""Builds the administration of graphs, cases and erasure, which needs no reasoner and can be used by commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.chat.case_admin import CaseAdmin
from app.graphs.access import AccessSearch
from app.graphs.admin import GraphAdmin
from app.graphs.erasure import Eraser, ErasureStores
from app.settings import Settings
from app.wiring.store import ServiceContext
from kg_store.catalog import NameConcepts
from kg_store.formats.files import PackedBounds
from kg_store.terms import Schema

if TYPE_CHECKING:
    from app.chat.fact_offers import FactOffers


def graphs_of(store: ServiceContext, name_concepts: NameConcepts | None = None) -> GraphAdmin:
    """Returns the administration of graphs.

    `name_concepts`: names the concepts of a loaded graph; without it, the sentence model is loaded once it is needed.
    """
    return GraphAdmin(
        store.catalog,
        store.conversations,
        store.cases,
        store.facts,
        store.names_read,
        store.upkeep,
        name_concepts or _namer_of(store.settings),
        PackedBounds(store.settings.max_unpacked_bytes, store.settings.max_packed_facts),
        store.settings.disclosure_k,
    )


def cases_in(store: ServiceContext) -> CaseAdmin:
    """Returns the administration of the cases of all graphs."""
    return CaseAdmin(store.catalog, store.cases)


def offers_in(store: ServiceContext) -> FactOffers:
    """Returns what people offer to the owners of all graphs."""
    # Imported here because it reads conversations, and most commands don't.
    from app.chat.fact_offers import FactOffers

    return FactOffers(store.catalog, store.conversations, store.facts)


def access_search_in(store: ServiceContext) -> AccessSearch:
    """Returns the search of the access record for who read about a thing."""
    return AccessSearch(store.catalog, store.access_record)


def forgetter_of(store: ServiceContext, name_concepts: NameConcepts | None = None) -> Eraser:
    """Returns the eraser of persons' data.

    `name_concepts`: names the concepts of a changed graph; without it, the sentence model is loaded once it is needed.
    """
    return Eraser(erasure_stores_of(store, name_concepts))


def erasure_stores_of(store: ServiceContext, name_concepts: NameConcepts | None = None) -> ErasureStores:
    """Returns the stores that an erasure goes through; `name_concepts` as for `forgetter_of`."""
    settings = store.settings
    return ErasureStores(
        store.catalog,
        store.conversations,
        store.cases,
        store.facts,
        store.names_read,
        store.upkeep,
        store.engine,
        store.master,
        settings.data_dir,
        store.incoming,
        name_concepts or _namer_of(settings),
    )


def _namer_of(settings: Settings) -> NameConcepts:
    def name_concepts(schema: Schema) -> Sequence[str]:
        # Imported here because most commands load no graph, and this import takes a while.
        from app.wiring.chats import namer_of

        return namer_of(settings)(schema)

    return name_concepts
