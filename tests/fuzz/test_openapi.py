"""The service as its OpenAPI describes it: any request that fits or breaks it gets a reply that it describes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.api.routes.routers import admin_router, caller_router, probe_router
from app.api.state import state_of
from app.main import create_app
from tests.fuzz.examples import drawing
from tests.support.service import CLINIC, OPERATOR, QUESTION, ScriptedReasoner, bearer, build_with, settings_in

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ROUTES = [
    (method, route.path)  # type: ignore[attr-defined]
    for route in (*caller_router.routes, *admin_router.routes, *probe_router.routes)
    for method in sorted(route.methods)  # type: ignore[attr-defined]
]
OPEN = {"/healthz", "/readyz", "/metrics", "/sign-in"}
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
# What takes no parameter has no request that breaks its description.
CASES = [(*route, mode) for route in ROUTES for mode in MODES if route[1] not in OPEN or mode is MODES[0]]
CLOSED = [case for case in CASES if case[1] not in OPEN]
_LEAST_QUOTED = 5


@dataclass(frozen=True, slots=True)
class Described:
    """A service that runs in this process, its description, and headers of callers."""

    app: FastAPI
    schema: BaseSchema
    user: dict[str, str]
    own_words: str

    def cases(self, method: str, path: str, mode: GenerationMode) -> st.SearchStrategy[Case]:
        return self.schema[path][method].as_strategy(generation_mode=mode)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    folder = tmp_path_factory.mktemp("described")
    settings = settings_in(folder, requests_per_minute=1_000_000)
    app = create_app(settings, build_with(ScriptedReasoner()))
    with asgi.get_client(app):
        while state_of(app).services is None:
            time.sleep(0.01)
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        issued = state_of(app).services.store.access.create("default", "user", ["clinic"])
        yield Described(app, schema, bearer(issued.key), json.dumps(app.openapi()))
    asgi.shutdown_lifespans()


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_every_reply_is_one_that_is_described(
    service: Described, method: str, path: str, mode: GenerationMode
) -> None:
    @drawing(8)
    @given(service.cases(method, path, mode), st.sampled_from(["user", "operator"]), st.booleans())
    def ask(case: Case, caller: str, known: bool) -> None:
        if known:
            _about_what_is_there(case)
        reply = case.call(headers=service.user if caller == "user" else OPERATOR)
        case.validate_response(reply, checks=CHECKS)
        if reply.status_code >= 400:
            assert not quoted(case, reply.text, service.own_words)

    _clinic(service)
    ask()


@pytest.mark.parametrize(("method", "path", "mode"), CLOSED)
def test_nobody_learns_more_than_that_a_key_is_missing(
    service: Described, method: str, path: str, mode: GenerationMode
) -> None:
    @drawing(3)
    @given(service.cases(method, path, mode))
    def ask(case: Case) -> None:
        case.headers.pop("Authorization", None)
        reply = case.call()
        case.validate_response(reply, checks=CHECKS)
        assert reply.status_code in (401, 404, 405, 413)
        assert not quoted(case, reply.text, service.own_words)

    ask()


@pytest.mark.parametrize("path", ["/chat", "/admin/keys"])
def test_a_body_that_breaks_the_description_is_refused(service: Described, path: str) -> None:
    @drawing(12)
    @given(service.schema[path]["POST"].as_strategy(GenerationMode.NEGATIVE, headers=OPERATOR))
    def ask(case: Case) -> None:
        case.validate_response(case.call(headers=OPERATOR), checks=[negative_data_rejection])

    ask()


def quoted(case: Case, reply: str, own_words: str) -> list[str]:
    """Texts of the request that stand in `reply` and that are not words of the description."""
    sent = {*_texts(case.body), *_texts(dict(case.path_parameters or {})), *_texts(dict(case.query or {}))}
    return [text for text in sent if len(text) >= _LEAST_QUOTED and text in reply and text not in own_words]


def _texts(part: object) -> Iterator[str]:
    """Every text of a JSON value, keys too."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, bytes):
        yield part.decode("utf-8", "replace")
    elif isinstance(part, dict):
        for key, value in part.items():
            yield from _texts(key)
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


def _about_what_is_there(case: Case) -> None:
    """Turns a request to the graph that is loaded: most of what is drawn at random names none."""
    body: Any = case.body
    if isinstance(body, dict) and "graph" in body:
        body["graph"] = "clinic"
        body.pop("conversation", None)
        messages = body.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            messages[-1]["role"] = "user"
            messages.insert(0, {"role": "user", "content": QUESTION})
    if case.path_parameters and "name" in case.path_parameters:
        case.path_parameters["name"] = "clinic"


def _clinic(service: Described) -> None:
    """Loads the graph that another test may have deleted."""
    services = state_of(service.app).services
    if "clinic" not in services.graphs.names("default"):
        file = services.store.settings.data_dir.parent / "clinic.ttl"
        file.write_text(CLINIC)
        services.graphs.load("default", "clinic", [file], None).run(lambda _step, _percent: None)
