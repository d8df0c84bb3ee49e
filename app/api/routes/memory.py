"""Routes for what the asker told of a graph: its list and its deletion."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from app.accounts.api_keys import require_grant
from app.api.routes.routers import NOT_ADMITTED, caller_router, described
from app.api.state import CallerOf, ServicesOf
from client_sdk.protocol import (
    MAX_FACT_ID_CHARS,
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    GraphName,
    MemoryForgotten,
    MemoryPage,
    PersonSign,
)

AskedGraph = Annotated[GraphName, Query(description="the graph")]
AskingPerson = Annotated[PersonSign, Query()]
_ERRORS = described({404: "unknown_graph: not there, or no grant"})
_FACT_ERRORS = described({404: "unknown_fact: nothing that is remembered for you has that id; or unknown_graph"})


@caller_router.get("/memory", responses=NOT_ADMITTED | _ERRORS)
def list_memory(
    graph: AskedGraph,
    caller: CallerOf,
    services: ServicesOf,
    person: AskingPerson = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    public_key: Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)] = None,
) -> MemoryPage:
    """Lists what this key, or a person who shares it, told of a graph, newest first, in pages of 50 sentences.

    Only what the key's role still sees. Names are sealed to the caller's key; without one they stay pseudonyms.
    """
    require_grant(caller, graph)
    services.store.devices.admit(caller, public_key)
    return services.memory.page(caller, graph, person, offset, public_key)


@caller_router.delete("/memory/{id}", responses=_FACT_ERRORS)
def forget_fact(
    id: Annotated[str, Path(max_length=MAX_FACT_ID_CHARS, description="of a sentence, as GET /memory lists it")],
    graph: AskedGraph,
    caller: CallerOf,
    services: ServicesOf,
    person: AskingPerson = "",
) -> MemoryForgotten:
    """Deletes one sentence that was told."""
    require_grant(caller, graph)
    return services.memory.forget(caller, graph, id, person)


@caller_router.delete("/memory", responses=_ERRORS)
def forget_memory(
    graph: AskedGraph, caller: CallerOf, services: ServicesOf, person: AskingPerson = ""
) -> MemoryForgotten:
    """Deletes all that this key, or a person who shares it, told of a graph, and what is not shown to them too."""
    require_grant(caller, graph)
    return services.memory.forget_all(caller, graph, person)
