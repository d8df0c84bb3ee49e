"""GET /graphs/{name}/suggestions and /outline, POST /graphs/{name}/browse: a graph before and beside questions."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from app.accounts.api_keys import require_grant
from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import BROWSE_ERRORS, GraphName
from app.api.routes.routers import caller_router
from client_sdk.protocol import BrowseRequest, GraphExcerpt, GraphOutline, GraphSuggestions


@caller_router.get("/graphs/{name}/suggestions", response_model=GraphSuggestions, responses=BROWSE_ERRORS)
async def suggest_questions(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphSuggestions:
    """Up to three questions that this graph answers; no name is in them. They are asked inside the service, once."""
    require_grant(caller, name)
    return await services.suggester.suggest(caller, name)


@caller_router.get("/graphs/{name}/outline", response_model=GraphOutline, responses=BROWSE_ERRORS)
async def outline_graph(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphOutline:
    """The concepts and relation words of a graph, for a key with the grant `inspect:GRAPH`, and for an admin."""
    require_grant(caller, name)
    return await run_in_threadpool(services.browser.outline, caller, name)


@caller_router.post("/graphs/{name}/browse", response_model=GraphExcerpt, responses=BROWSE_ERRORS)
async def browse_graph(name: GraphName, wanted: BrowseRequest, caller: CallerOf, services: ServicesOf) -> GraphExcerpt:
    """Things of a concept or of a name, or one thing with its facts; names come sealed to the caller's key.

    For a key with the grant `inspect:GRAPH`, and for an admin.
    """
    require_grant(caller, name)
    await run_in_threadpool(services.store.devices.admit, caller, wanted.public_key)
    return await run_in_threadpool(services.browser.excerpt, caller, name, wanted)
