"""The ASGI application: its routes, its middleware, and the services, which are built in the background at start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Lifespan

from app.api.layers import BodyLimit, Deadline, RequestMiddleware, error_reply
from app.api.problems import error_body
from app.api.routes.routers import admin_router, caller_router, probe_router
from app.api.state import AppState, RateLimits, ResponseTiming
from app.api.web_page import page_routes
from app.chat.conversations import RetentionDays, purge_expired
from app.settings import ConfigurationError, Settings, load_settings
from app.telemetry.logs import event_log, forbid_core_dumps, start_logging
from app.telemetry.metrics import Metrics
from app.wiring.endpoints import OnProbed, status_of, watch
from app.wiring.services import Services, build, warm_graphs
from client_sdk.protocol import Readiness
from kg_store.errors import KeyServiceError, StoreError

Build = Callable[[Settings], Services]
OnReady = Callable[[Services], None]
PURGE_EVERY_S = 3600.0
LET_GO_EVERY_S = 2.0
KEY_SERVICE_EVERY_S = 10.0
CHECK_PROVIDER_EVERY_S = 60.0
QUESTION_THREADS: Final = 3
"""Threads of one process that work on questions at once. More wait for the interpreter and for each other: 300 chats
took 6.2 to 6.8 s of processor time with 2 threads, 7.1 to 7.3 with 3, 6.8 to 10.2 with 6. A long one must leave
others free."""
_NOT_THERE = {
    "unprobed": "model endpoint {position} has not been checked yet: that happens in a moment",
    "unreachable": "model endpoint {position} can't be used: {problem}",
}
_NO_PROVIDER = "the OpenID provider of AROG_OIDC_ISSUER can't be used: {problem}; persons can't sign in, API keys work"
log = event_log("main")


def build_services(settings: Settings) -> Services:
    """Returns all services; a failed job reports its error as `api.problems` words it."""
    return build(settings, error_body)


class ServiceStarter:
    """Builds the services in a thread, and reports what is missing until they are ready."""

    def __init__(
        self,
        settings: Settings,
        build: Build,
        on_ready: OnReady,
        on_probed: OnProbed,
        listens_early: bool,
        shared: Path | None,
    ) -> None:
        self._settings, self._build, self._on_ready, self._on_probed = settings, build, on_ready, on_probed
        self._listens_early = listens_early
        self.state = AppState(
            Metrics(),
            RateLimits(settings.requests_per_minute, shared),
            ResponseTiming(settings.reply_step_ms / 1000),
            self.readiness,
        )
        self._missing = "the service is still starting: it is opening its data and loading the model"
        self._watching: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def run(self) -> None:
        """Builds the services. Never raises: if they can't be built, the process stays up and /readyz tells why."""
        try:
            services = await self._built()
        except (StoreError, ConfigurationError) as error:
            # The texts of both errors are fixed words of ours (see their docstrings), so they may be shown.
            self._missing = str(error)
            log.error("not_built", exc_info=error)
        except Exception as error:
            self._missing = f"the service could not be built ({type(error).__name__}); its log says where"
            log.error("not_built", exc_info=error)
        else:
            await self._open_to_questions(services)

    async def _built(self) -> Services:
        """Builds the services; while the key service can't be asked, tries again until the application ends."""
        while True:
            try:
                return await run_in_threadpool(self._build, self._settings)
            except KeyServiceError as error:
                self._missing = f"{error}; the service waits for it, and asks again every few seconds"
                log.error("waits_for_key_service", exc_info=error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), KEY_SERVICE_EVERY_S)
                    raise

    async def _open_to_questions(self, services: Services) -> None:
        def tell_warm(done: int, graphs: int) -> None:
            self._missing = f"the service is still starting: {done} of {graphs} graphs are opened"

        await warm_graphs(services, tell_warm)
        self.state.services = services
        self.state.metrics.tell_ready(True)
        log.info("ready")
        self._watching = asyncio.create_task(watch(services.thinking.endpoints, self._on_probed))
        try:
            await run_in_threadpool(self._on_ready, services)
        except Exception as error:
            log.error("not_told", exc_info=error)

    @asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        """Builds the services while the first requests are answered, and closes them after the last.

        Without `listens_early` no request is taken until they are built.
        """
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(QUESTION_THREADS, "question"))
        starting = asyncio.create_task(self.run())
        if not self._listens_early:
            await starting
        background = [
            asyncio.create_task(_every(seconds, self.state, work, failed)) for seconds, work, failed in _UPKEEP
        ]
        yield
        self._ending.set()
        for task in background:
            task.cancel()
        # A thread can't be cancelled, so wait for it: it would go on building while the process ends.
        await starting
        if self._watching is not None:
            self._watching.cancel()
            background.append(self._watching)
        await asyncio.gather(*background, return_exceptions=True)
        self.state.rate_limits.close()
        if self.state.services is not None:
            await self.state.services.close()

    async def readiness(self) -> Readiness:
        services = self.state.services
        if services is None:
            return Readiness(ready=False, missing=[self._missing])
        try:
            empty = await run_in_threadpool(services.graphs.is_empty)
        except Exception as error:
            log.error("not_ready", exc_info=error)
            return Readiness(ready=False, missing=["the database does not answer"], reasoner=services.reasoner)
        problem = services.store.provider and services.store.provider.problem
        no_graph = "no graph is loaded: POST /admin/graphs/{name} or `arog graph load`"
        told = [status_of(position, each) for position, each in enumerate(services.thinking.endpoints, start=1)]
        # API keys work without the provider, so its outage makes no replica unready.
        missing = (
            ([no_graph] if empty else [])
            + ([_NO_PROVIDER.format(problem=problem)] if problem else [])
            + [
                _NOT_THERE[each.state].format(position=each.position, problem=each.problem)
                for each in told
                if each.state in _NOT_THERE
            ]
        )
        # All replicas share the endpoints, so an outage is reported but makes no replica unready.
        reached = not told or any(each.was_reached for each in services.thinking.endpoints)
        return Readiness(
            ready=reached or self._settings.falls_back, missing=missing, reasoner=services.reasoner, endpoints=told
        )


def create_app(
    settings: Settings | None = None,
    build: Build = build_services,
    on_ready: OnReady = lambda _services: None,
    on_probed: OnProbed = lambda _status, _address: None,
    listens_early: bool = True,
    shared: Path | None = None,
) -> FastAPI:
    """Returns the application for `settings`; the entry point of `uvicorn --factory app.main:create_app`.

    `listens_early`: the application takes requests while its services are being built, and tells how far that is.
    `shared`: a folder that the workers of one service share, None if there are no others.

    Without `settings` it sets up the whole process: settings from the environment, logs through the allow-list, no
    core dumps. Raises ConfigurationError.
    """
    if settings is None:
        settings = load_settings()
        forbid_core_dumps()
        start_logging()
    starter = ServiceStarter(settings, build, on_ready, on_probed, listens_early, shared)
    app = _framework(starter.lifespan)
    app.state.shared = starter.state
    # The last added is the outermost. From outside: RequestMiddleware, Deadline, BodyLimit, routes.
    app.add_middleware(BodyLimit, max_body_bytes=settings.max_body_bytes, max_upload_bytes=settings.max_upload_bytes)
    app.add_middleware(Deadline, seconds=settings.request_deadline_s)
    app.add_middleware(RequestMiddleware, metrics=starter.state.metrics)
    for kind in (RequestValidationError, HTTPException):
        app.add_exception_handler(kind, error_reply)
    page = page_routes(sign_in_origins=partial(_origins_of_provider, starter.state))
    for router in (caller_router, admin_router, probe_router, page):
        app.include_router(router)
    return app


def _framework(lifespan: Lifespan[FastAPI]) -> FastAPI:
    try:
        installed = version("arog")
    except PackageNotFoundError:
        installed = "0.0.0"
    # No interactive pages, because they would load scripts from a CDN.
    return FastAPI(
        title="arog",
        description="Ask a private knowledge graph through a language model that you don't trust.",
        version=installed,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # The framework's own traces and logs would contain paths, queries and the text of exceptions.
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )


async def _every(seconds: float, state: AppState, work: Callable[[Services], None], failed: str) -> None:
    """Does `work` in a thread, again and again, from the moment at which the services are there.

    An error is logged as `failed`. A cancellation waits for the thread, which may be writing to the database.
    """
    while True:
        if state.services is not None:
            step = asyncio.ensure_future(run_in_threadpool(work, state.services))
            try:
                await asyncio.shield(step)
            except asyncio.CancelledError:
                await asyncio.gather(step, return_exceptions=True)
                raise
            except Exception as error:
                log.error(failed, exc_info=error)
        await asyncio.sleep(seconds if state.services is not None else 1.0)


def _purge(services: Services) -> None:
    store = services.store
    kept = RetentionDays(store.settings.ledger_days, store.settings.names_read_days)
    expired = purge_expired(store.master, store.conversations, store.upkeep, store.names_read, kept)
    log.info("purged", expired=expired)


def _let_go(services: Services) -> None:
    """Releases replaced versions of graphs.

    Without this, a replaced version would stay in memory until the next question about its graph, and with it persons
    who were erased in the meantime.
    """
    services.store.catalog.release_replaced_versions()


def _check_provider(services: Services) -> None:
    """Asks the OpenID provider for its keys, so that /readyz tells an outage without waiting."""
    if (provider := services.store.provider) is not None:
        provider.check()


def _origins_of_provider(state: AppState) -> Sequence[str]:
    provider = None if state.services is None else state.services.store.provider
    return () if provider is None else provider.origins


_UPKEEP: Final = (
    (PURGE_EVERY_S, _purge, "purge_failed"),
    (LET_GO_EVERY_S, _let_go, "let_go_failed"),
    (CHECK_PROVIDER_EVERY_S, _check_provider, "provider_not_checked"),
)
"""The work that the service does in the background: seconds between two runs, the work, the event of a failure."""
