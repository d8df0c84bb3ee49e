"""Authentication: the bearer key is checked before a byte of the body is read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.api_keys import Caller, NotAuthenticatedError, require_admin
from app.api.problems import NotReadyError
from app.api.state import state_of
from app.wiring.services import Services

# Only describes the header in OpenAPI; the check itself is AuthenticatedRoute's.
_BEARER = HTTPBearer(auto_error=False, description="an API key, `arog_...`")
_MAX_KEY_CHARS = 200
# Looking at a job's progress costs little and is done in a loop, so it does not count.
_JOBS = "/admin/jobs/"


class AuthenticatedRoute(APIRoute):
    """A route that answers callers with a valid key, within their rate, and nobody else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def authenticated(request: Request) -> Response:
            request.state.caller = await _authenticate(request)
            return await handle(request)

        return authenticated


class AdminRoute(AuthenticatedRoute):
    """A route that answers keys of the role admin, and nobody else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super(AuthenticatedRoute, self).get_route_handler()

        async def administered(request: Request) -> Response:
            request.state.caller = await _authenticate(request)
            require_admin(request.state.caller)
            return await handle(request)

        return administered


def services_of(request: Request) -> Services:
    """The running services. Raises NotReadyError while they are being built, or when that failed."""
    services = state_of(request.app).services
    if services is None:
        raise NotReadyError
    return services


def _caller_of(request: Request, _header: Annotated[object, Depends(_BEARER)]) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _authenticate(request: Request) -> Caller:
    services = services_of(request)
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key or len(key) > _MAX_KEY_CHARS:
        raise NotAuthenticatedError
    caller = await run_in_threadpool(services.store.access.authenticate, key)
    request.state.key_id = caller.key_id
    if not request.url.path.startswith(_JOBS):
        await state_of(request.app).rate_limits.count(caller)
    return caller


ServicesOf = Annotated[Services, Depends(services_of)]
CallerOf = Annotated[Caller, Depends(_caller_of)]
