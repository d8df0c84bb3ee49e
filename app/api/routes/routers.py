"""The routers for callers, admins and probes, and the errors and parameters that several routes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as InPath

from app.api.state import AdminRoute, AuthenticatedRoute
from client_sdk.protocol import ErrorBody

Errors = dict[int | str, dict[str, Any]]


def described(errors: Mapping[int, str]) -> Errors:
    """Returns a route's `responses` for FastAPI: for each status in `errors`, an ErrorBody and its description."""
    return {status: {"model": ErrorBody, "description": words} for status, words in errors.items()}


GraphName = Annotated[str, InPath(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
NOT_FOUND = described({404: "nothing with that id"})
NOT_ADMITTED = described({403: "device_not_admitted: the public key was revoked, or is not registered"})
_OF_ALL = described(
    {
        400: "bad_request: the request can't be read, for it is not UTF-8",
        401: "not_authenticated: no valid API key",
        413: "too_large: the body is over its limit",
        422: "bad_request: a field is missing or not allowed",
        429: "rate_limited: see the header Retry-After",
        500: "internal; or blocked: the guard stopped the request",
        503: "not_ready: see /readyz",
    }
)
_OF_ADMINS = _OF_ALL | described({403: "not_permitted: it takes a key of the role admin"})

caller_router = APIRouter(route_class=AuthenticatedRoute, responses=_OF_ALL)
admin_router = APIRouter(prefix="/admin", route_class=AdminRoute, responses=_OF_ADMINS)
probe_router = APIRouter()
