"""POST /ratings, and /admin/graphs/{name}/cases: what people say of answers, and the cases that this leaves."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool

from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import NOT_FOUND, GraphName
from app.api.routes.routers import admin_router, caller_router, owner_router
from client_sdk.protocol import AnswerRated, AnswerRating, CaseChoice, CaseList, CasesChanged, ErrorBody

_RATING_ERRORS: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "unknown_conversation (not there, another key's, or expired), "
          "not_ratable (no such answer in it, or too long ago) or unknown_graph"},
    409: {"model": ErrorBody, "description": "conversation_busy: send it again"},
}  # fmt: skip


@caller_router.post("/ratings", response_model=AnswerRated, responses=_RATING_ERRORS)
async def rate_answer(rating: AnswerRating, caller: CallerOf, services: ServicesOf) -> AnswerRated:
    """Rates an answer of the caller's own conversation right or wrong; later questions of this key learn from it.

    It may be sent again; the last rating of an answer wins. `correct` names the right answer of a wrong one: these
    names are looked up in the service and kept nowhere.
    """
    return await run_in_threadpool(services.ratings.rate, caller, rating)


@owner_router.get("/graphs/{name}/cases", response_model=CaseList, responses=NOT_FOUND)
async def list_cases(name: GraphName, caller: CallerOf, services: ServicesOf) -> CaseList:
    """The cases that ratings of a graph's answers have left, and what they changed; no text is in them."""
    return await run_in_threadpool(services.cases.listed, caller.tenant, name)


@admin_router.post("/graphs/{name}/cases/approve", response_model=CasesChanged, responses=NOT_FOUND)
async def approve_cases(name: GraphName, wanted: CaseChoice, caller: CallerOf, services: ServicesOf) -> CasesChanged:
    """Lets cases count for every key that may ask the graph, where its role sees their relations."""
    return await run_in_threadpool(services.cases.approve, caller.tenant, name, wanted)


@admin_router.post("/graphs/{name}/cases/forget", response_model=CasesChanged, responses=NOT_FOUND)
async def forget_cases(name: GraphName, wanted: CaseChoice, caller: CallerOf, services: ServicesOf) -> CasesChanged:
    """Deletes cases; questions that come later do not lean on them any more."""
    return await run_in_threadpool(services.cases.forget, caller.tenant, name, wanted)
