"""Routes for what the asker told of a graph: its list, its deletion, and offers of it to the graph's owner."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from app.accounts.api_keys import require_grant
from app.api.routes.routers import NOT_ADMITTED, NOT_FOUND, admin_router, caller_router, described
from app.api.routes.routers import GraphName as GraphInPath
from app.api.state import CallerOf, ServicesOf
from client_sdk.protocol import (
    MAX_FACT_ID_CHARS,
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    GraphName,
    MemoryForgotten,
    MemoryPage,
    OfferChoice,
    OfferList,
    OffersChanged,
    PersonSign,
)

AskedGraph = Annotated[GraphName, Query(description="the graph")]
AskingPerson = Annotated[PersonSign, Query()]
FactIdInPath = Annotated[str, Path(max_length=MAX_FACT_ID_CHARS, description="of a sentence, as GET /memory lists it")]
PublicKey = Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)]
_ERRORS = described({404: "unknown_graph: not there, or no grant"})
_FACT_ERRORS = described({404: "unknown_fact: nothing that is remembered for you has that id; or unknown_graph"})


@caller_router.get("/memory", responses=NOT_ADMITTED | _ERRORS)
def list_memory(
    graph: AskedGraph,
    caller: CallerOf,
    services: ServicesOf,
    person: AskingPerson = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    public_key: PublicKey = None,
) -> MemoryPage:
    """Lists what this key, or a person who shares it, told of a graph, newest first, in pages of 50 sentences.

    Only what the key's role still sees. Names are sealed to the caller's key; without one they stay pseudonyms.
    """
    require_grant(caller, graph)
    services.store.devices.admit(caller, public_key)
    return services.memory.page(caller, graph, person, offset, public_key)


@caller_router.delete("/memory/{id}", responses=_FACT_ERRORS)
def forget_fact(
    id: FactIdInPath, graph: AskedGraph, caller: CallerOf, services: ServicesOf, person: AskingPerson = ""
) -> MemoryForgotten:
    """Deletes one sentence that was told."""
    require_grant(caller, graph)
    return services.memory.forget(caller, graph, id, person)


@caller_router.post("/memory/{id}/offer", responses=_FACT_ERRORS)
def offer_fact(
    id: FactIdInPath, graph: AskedGraph, caller: CallerOf, services: ServicesOf, person: AskingPerson = ""
) -> OffersChanged:
    """Offers one sentence to the graph's owner, who then sees it and whose it is."""
    require_grant(caller, graph)
    return services.memory.offer(caller, graph, id, person)


@caller_router.delete("/memory/{id}/offer", responses=_FACT_ERRORS)
def withdraw_offer(
    id: FactIdInPath, graph: AskedGraph, caller: CallerOf, services: ServicesOf, person: AskingPerson = ""
) -> OffersChanged:
    """Withdraws an offer; one that was taken stays."""
    require_grant(caller, graph)
    return services.memory.offer(caller, graph, id, person, is_offered=False)


@admin_router.get("/graphs/{name}/offers", responses=NOT_ADMITTED | NOT_FOUND)
def list_offers(name: GraphInPath, caller: CallerOf, services: ServicesOf, public_key: PublicKey = None) -> OfferList:
    """Lists the sentences that people offer to the graph's owner, newest first, with names sealed to the owner."""
    services.store.devices.admit(caller, public_key)
    return services.offers.listed(caller, name, public_key)


@admin_router.post("/graphs/{name}/offers", responses=NOT_FOUND)
def settle_offers(name: GraphInPath, wanted: OfferChoice, caller: CallerOf, services: ServicesOf) -> OffersChanged:
    """Notes which offers the owner took or refused; who offered them sees that. The graph stays as it is."""
    return services.offers.settle(caller.tenant, name, wanted)


@caller_router.delete("/memory", responses=_ERRORS)
def forget_memory(
    graph: AskedGraph, caller: CallerOf, services: ServicesOf, person: AskingPerson = ""
) -> MemoryForgotten:
    """Deletes all that this key, or a person who shares it, told of a graph, and what is not shown to them too."""
    require_grant(caller, graph)
    return services.memory.forget_all(caller, graph, person)
