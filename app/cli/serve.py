"""`arog serve` after its first checks: loads the demo graph, starts the server, and tells how to ask."""

from __future__ import annotations

import gc
import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from app.accounts.api_keys import INSPECT, Access, NotAuthenticatedError
from app.cli.first_checks import CheckedStart, write_private
from app.cli.output import bar, errors, program, shortest, tell
from app.cli.workers import (
    HANGS_AFTER_S,
    WorkerGroup,
    default_workers,
    end_by,
    end_with_supervisor,
    run_workers,
    worker_group,
)
from app.demo import GRAPH_FILE, GRAPH_NAME, POLICY_FILE
from app.main import build_services, create_app
from app.settings import ConfigurationError, Settings, unknown_names
from app.telemetry.logs import forbid_core_dumps, start_logging
from app.wiring.services import Services
from client_sdk.protocol import EndpointStatus
from kg_store.errors import KeyServiceError, StoreError

TENANT = "default"
DEMO_KEY_FILE = "demo.key"


def demo_key_file(settings: Settings, access: Access) -> Path:
    """Returns the file with an API key that may only ask and inspect the demo graph.

    The key is made if the file is missing or the key is not valid.
    """
    path = settings.data_dir / DEMO_KEY_FILE
    try:
        access.authenticate(path.read_text("ascii").strip())
    except (OSError, UnicodeDecodeError, NotAuthenticatedError):
        path.unlink(missing_ok=True)
        write_private(path, access.create(TENANT, "user", [GRAPH_NAME, INSPECT + GRAPH_NAME]).key + "\n")
    return path


LOOPBACK = ("127.0.0.1", "::1", "localhost")
SHUTDOWN_S = 30
# The embedded reasoner can answer it too, and it contains no quotation mark that a shell would interpret.
DEMO_QUESTION = "Where does Rose live?"


@dataclass
class ServedApplication:
    """Makes the application in the process that serves it; a worker gets this value from its supervisor.

    `group` is None if there is one process alone.
    """

    settings: Settings
    with_demo: bool
    group: WorkerGroup | None = None
    _prepares: bool = True

    def __call__(self) -> FastAPI:
        if self.group is not None:
            end_with_supervisor()
            # No worker inherits these from its supervisor.
            forbid_core_dumps()
            start_logging()
            self._prepares = not self.group.is_prepared and self.group.leads()
        warnings = EndpointWarnings(self.group.leads if self.group else lambda: True)
        # The worker that prepares tells meanwhile how far the start is; others listen only when they are ready.
        shared = self.group.folder if self.group else None
        return create_app(self.settings, self.build, self.welcome, warnings, self._prepares, shared)

    def build(self, settings: Settings) -> Services:
        """Returns all services, which Python's searches for cycles of objects then leave out: they stay to the end."""
        services = self._built(settings)
        gc.collect()
        gc.freeze()
        return services

    def _built(self, settings: Settings) -> Services:
        """Returns all services; one of the workers also prepares the demo graph, and the others wait for that."""
        if self.group is None:
            return build_and_prepare(settings, self.with_demo)
        if self._prepares:
            try:
                return build_and_prepare(settings, self.with_demo)
            finally:
                self.group.tell_prepared()
        services = build_services(settings)
        self._prepares = self.group.wait_for_turn()
        if self._prepares:
            prepare_demo(settings, services, self.with_demo)
            self.group.tell_prepared()
        return services

    def welcome(self, services: Services) -> None:
        """Prints how to ask, in the worker that prepared the demo graph alone."""
        if self._prepares:
            for line in how_to_ask(self.settings, services):
                tell(line)


def run_service(checked: CheckedStart, demo: bool | None) -> None:
    """Runs the service until a signal comes."""
    settings, listening, written = checked.settings, checked.listening, checked.written
    for name in unknown_names(os.environ):
        tell(
            f"arog: {name} is not a setting of the service and has no effect; docs/operations/settings.md lists them."
        )
    if written:
        tell(f"Wrote a master key to {written} (mode 0600). Keep a copy elsewhere: without it, names are lost.")
    start_logging()
    with_demo = settings.host in LOOPBACK if demo is None else demo
    workers = settings.workers or default_workers()
    # The workers share what is bounded for the whole service.
    settings = settings.model_copy(
        update={"workers": workers, "endpoint_concurrency": max(1, settings.endpoint_concurrency // workers)}
    )
    if workers == 1:
        uvicorn.Server(_server_of(ServedApplication(settings, with_demo))).run(sockets=[listening])
        return
    with worker_group() as group:
        ended_by = run_workers(_server_of(ServedApplication(settings, with_demo, group), workers), listening)
    if ended_by is not None:
        end_by(ended_by)


def _server_of(application: ServedApplication, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        factory=True,
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
        timeout_worker_healthcheck=HANGS_AFTER_S,
    )


def build_and_prepare(settings: Settings, with_demo: bool) -> Services:
    """Returns all services, after loading the demo graph if it is wanted, and making its key.

    An error is printed as a sentence before it is raised.
    """
    try:
        with errors.status("Loading the model ..."):
            services = build_services(settings)
        prepare_demo(settings, services, with_demo)
    except KeyServiceError:
        # Told at start, and tried again every few seconds.
        raise
    except (ConfigurationError, StoreError) as error:
        tell(f"arog: {error}. Until this is fixed the service answers no questions.")
        raise
    except Exception:
        tell("arog: the service can't answer; the log says why, and so does /readyz.")
        raise
    return services


def prepare_demo(settings: Settings, services: Services, with_demo: bool) -> None:
    """Loads the demo graph if it is wanted and there is no graph, and makes its key."""
    if with_demo and services.graphs.is_empty():
        with bar(errors, "demo graph") as progress:
            policy = POLICY_FILE.read_text("utf-8")
            services.graphs.load(TENANT, GRAPH_NAME, [GRAPH_FILE], policy).run(progress)
    if GRAPH_NAME in services.graphs.names(TENANT):
        # Made before /readyz reports readiness, because scripts wait for that and then read the key.
        demo_key_file(settings, services.store.access)


class EndpointWarnings:
    """Prints on the terminal that a model endpoint can't be used, and when it can be used again.

    It shows the endpoint's address, because whoever reads the terminal has set it. `leads`: returns True in the worker
    that prints; each one probes its endpoints.
    """

    def __init__(self, leads: Callable[[], bool] = lambda: True) -> None:
        self._failing: set[int] = set()
        self._leads = leads

    def __call__(self, status: EndpointStatus, address: str) -> None:
        if not self._leads():
            return
        if status.problem:
            self._failing.add(status.position)
            tell(
                f"Warning: model endpoint {status.position} at {address} can't be used: {status.problem}. Until one "
                "can be, the service answers by itself, unless AROG_ENDPOINT_FALLBACKS says otherwise. It is tried "
                "again; check that it runs, and AROG_ENDPOINT_URL."
            )
        elif status.position in self._failing:
            self._failing.remove(status.position)
            tell(f"Model endpoint {status.position} at {address} can be used now.")


def how_to_ask(settings: Settings, services: Services) -> list[str]:
    """Returns lines that tell how to ask the demo graph, or how to get a key; the commands work when pasted."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}"
    lines = ["", f"The service runs at {url} (reasoner: {services.reasoner}).", *_told_outside(settings)]
    if GRAPH_NAME not in services.graphs.names(TENANT):
        return [*lines, "Make a key with: " + program() + " api-key create --grant GRAPH"]
    key = f"$(cat {shlex.quote(str(shortest(demo_key_file(settings, services.store.access))))})"
    body = json.dumps({"graph": GRAPH_NAME, "messages": [{"role": "user", "content": DEMO_QUESTION}]})
    at = "" if settings.port == 8000 else f" --url {url}"
    return [
        *lines,
        "Ask, with names restored on this machine:",
        f'  AROG_API_KEY="{key}" {program()} ask {shlex.quote(DEMO_QUESTION)}{at}',
        "The bare service, which answers in pseudonyms:",
        f'  curl -s {url}/chat -H "Authorization: Bearer {key}"'
        f" -H 'Content-Type: application/json' -d {shlex.quote(body)}",
        "",
    ]


_PROFILES = {
    "kind": "what all things of a kind have in common, and of a question its common words and the graph's relations; "
    "every other word and number goes as a stand-in",
    "strict": "what all things of a kind have in common, and no word of a question",
    "open": "also which relations each single thing has, and of a question its common words: whoever knows the graph "
    "can recognise things by that",
}


def _told_outside(settings: Settings) -> list[str]:
    """Returns one line that says what the privacy profile lets an endpoint see, and if that profile is the default.

    Empty if no endpoint is used.
    """
    if settings.reasoner != "endpoint":
        return []
    chosen = "as you set it" if settings.profile else "the default for an endpoint, since it is not trusted"
    profile = settings.effective_profile
    return [f"The endpoint is shown {_PROFILES[profile]} (AROG_PROFILE={profile}, {chosen})."]
