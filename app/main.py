"""The ASGI application: routes, their layers, and services that are built in the background while it answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from app.api.errors import add_error_handlers
from app.api.limits import BodyLimit, Deadline, RateLimits
from app.api.middleware import RequestMiddleware
from app.api.problems import error_body
from app.api.response_timing import ResponseTiming
from app.api.routes.routers import administering, asking, owning, watching
from app.api.web_page import page_routes
from app.settings import ConfigurationError, Settings, load_settings
from app.telemetry.logs import event_log, forbid_core_dumps, start_logging
from app.telemetry.metrics import Metrics
from app.wiring.endpoints import status_of, watch
from app.wiring.services import Services, build
from client_sdk.protocol import Readiness
from kg_store.errors import StoreError

Build = Callable[[Settings], Services]
OnReady = Callable[[Services], None]
PURGE_EVERY_S = 3600.0
LET_GO_EVERY_S = 2.0
_NOT_THERE = {
    "unprobed": "a model endpoint has not been probed yet: it is asked in a moment what it can do",
    "unreachable": "a model endpoint can't be asked: `endpoints` says why",
}
log = event_log("main")


def build_services(settings: Settings) -> Services:
    """All services; a job that failed tells what `api.problems` says of its error."""
    return build(settings, error_body)


class ServiceStarter:
    """Builds the services in a thread, and says what is missing while they are not there."""

    def __init__(self, app: FastAPI, settings: Settings, build: Build, on_ready: OnReady) -> None:
        self._app, self._settings, self._build, self._on_ready = app, settings, build, on_ready
        self._missing = "the service is still starting: it opens its data and loads the model"
        self._watching: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Never raises: a service that can't be built stays up and says why in /readyz."""
        try:
            services = await run_in_threadpool(self._build, self._settings)
        except (StoreError, ConfigurationError) as error:
            # Both hold our own words only (see their docstrings).
            self._missing = str(error)
            log.error("not_built", exc_info=error)
        except Exception as error:
            self._missing = f"the service could not be built ({type(error).__name__}); its log says where"
            log.error("not_built", exc_info=error)
        else:
            self._app.state.services = services
            self._app.state.metrics.tell_ready(True)
            log.info("ready")
            self._watching = asyncio.create_task(watch(services.thinking.endpoints))
            await self._tell(services)

    async def end(self) -> None:
        """Ends what goes on in the background."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _tell(self, services: Services) -> None:
        try:
            await run_in_threadpool(self._on_ready, services)
        except Exception as error:
            log.error("not_told", exc_info=error)

    async def readiness(self) -> Readiness:
        services: Services | None = self._app.state.services
        if services is None:
            return Readiness(ready=False, missing=[self._missing])
        try:
            empty = await run_in_threadpool(services.graphs.is_empty)
        except Exception as error:
            log.error("not_ready", exc_info=error)
            return Readiness(ready=False, missing=["the database does not answer"], reasoner=services.reasoner)
        no_graph = "no graph is loaded: POST /admin/graphs/{name} or `arog graph load`"
        told = [status_of(position, each) for position, each in enumerate(services.thinking.endpoints, start=1)]
        missing = ([no_graph] if empty else []) + [_NOT_THERE[each.state] for each in told if each.state in _NOT_THERE]
        # An outage of what all replicas share is told, but takes none of them out of service.
        reached = not told or any(each.was_reached for each in services.thinking.endpoints)
        return Readiness(ready=reached, missing=missing, reasoner=services.reasoner, endpoints=told)


def create_app(
    settings: Settings | None = None, build: Build = build_services, on_ready: OnReady = lambda _services: None
) -> FastAPI:
    """The application for `settings`. Without them it is the whole process's: the environment's settings, logs
    through the allow-list, no core dumps (`uvicorn --factory app.main:create_app`). Raises ConfigurationError.
    """
    if settings is None:
        settings = load_settings()
        forbid_core_dumps()
        start_logging()
    app = _bare_application()
    app.state.services = None
    app.state.metrics = metrics = Metrics()
    app.state.rate_limits = RateLimits(settings.requests_per_minute)
    app.state.pace = ResponseTiming(settings.reply_step_ms / 1000)
    app.state.startup = ServiceStarter(app, settings, build, on_ready)
    app.state.readiness = app.state.startup.readiness
    # The last added is the outermost: frame, deadline, body limit, routes.
    app.add_middleware(BodyLimit, max_body_bytes=settings.max_body_bytes, max_upload_bytes=settings.max_upload_bytes)
    app.add_middleware(Deadline, seconds=settings.request_deadline_s)
    app.add_middleware(RequestMiddleware, metrics=metrics)
    add_error_handlers(app)
    for router in (asking, administering, owning, watching, page_routes()):
        app.include_router(router)
    return app


def _bare_application() -> FastAPI:
    """The framework without its interactive pages, which would load scripts from a CDN, and without its telemetry."""
    return FastAPI(
        title="arog",
        description="Ask a private knowledge graph through a language model that you don't trust.",
        version=_version(),
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # The framework's own traces and logs would carry paths, queries and the text of exceptions.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    starting = asyncio.create_task(app.state.startup.run())
    purging, letting_go = asyncio.create_task(_purge_hourly(app)), asyncio.create_task(_let_go(app))
    yield
    purging.cancel()
    letting_go.cancel()
    # A thread can't be cancelled: wait for it, or it would build on while the process ends.
    await starting
    await app.state.startup.end()
    with contextlib.suppress(asyncio.CancelledError):
        await purging
    with contextlib.suppress(asyncio.CancelledError):
        await letting_go
    if app.state.services is not None:
        await app.state.services.close()


async def _purge_hourly(app: FastAPI) -> None:
    while True:
        services: Services | None = app.state.services
        if services is not None:
            try:
                log.info("purged", expired=await run_in_threadpool(services.store.purge))
            except Exception as error:
                log.error("purge_failed", exc_info=error)
        await asyncio.sleep(PURGE_EVERY_S if services is not None else 1.0)


async def _let_go(app: FastAPI) -> None:
    """A graph that nobody asks would be held as it was, with everybody who was forgotten in it since."""
    while True:
        services: Services | None = app.state.services
        if services is not None:
            try:
                await run_in_threadpool(services.store.catalog.release_replaced_versions)
            except Exception as error:
                log.error("let_go_failed", exc_info=error)
        await asyncio.sleep(LET_GO_EVERY_S)


def _version() -> str:
    try:
        return version("arog")
    except PackageNotFoundError:
        return "0.0.0"
