"""The four routers: for callers, for admins, for owners of graphs, and for probes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.auth import AdminRoute, AuthenticatedRoute
from app.api.routes.descriptions import ERRORS
from client_sdk.protocol import ErrorBody

caller_router = APIRouter(route_class=AuthenticatedRoute, responses=ERRORS)


probe_router = APIRouter()


admin_router = APIRouter(prefix="/admin", route_class=AdminRoute, responses={
    **ERRORS, 403: {"model": ErrorBody, "description": "not_permitted: it takes a key of the role admin"},
})  # fmt: skip


owner_router = APIRouter(prefix="/admin", route_class=AdminRoute, responses={
    **ERRORS, 403: {"model": ErrorBody, "description": "not_permitted: it takes a key of the role admin"},
})  # fmt: skip


Cursor = Annotated[str | None, Query(max_length=4_096, description="where the call before stopped")]
