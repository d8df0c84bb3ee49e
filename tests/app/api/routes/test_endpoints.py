"""The model endpoints as /readyz and the admin API tell of them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import httpx2
import pytest

from app.api.state import state_of
from app.main import create_app
from app.wiring.endpoints import OnProbed
from client_sdk.protocol import EndpointList, EndpointStatus, Readiness
from evaluation.fakes.scripted_endpoint import Received, ScriptedEndpoint
from tests.support.processes.model_server import Canned, ModelServer, failure, in_turn
from tests.support.service import OPERATOR, bearer, settings_in


@asynccontextmanager
async def served(
    folder: Path,
    url: str,
    tell: OnProbed = lambda _status, _address: None,
    fallbacks: tuple[Literal["embedded"], ...] = (),
) -> AsyncIterator[httpx2.AsyncClient]:
    """The real application with a model endpoint, built."""
    settings = settings_in(
        folder, reasoner="endpoint", endpoint_url=url, endpoint_model="Canaria", endpoint_fallbacks=fallbacks
    )
    app = create_app(settings, on_probed=tell)
    async with app.router.lifespan_context(app):
        while state_of(app).services is None:
            await asyncio.sleep(0.005)
            assert "could not be built" not in str((await state_of(app).readiness()).missing)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as http:
            yield http


async def readiness(http: httpx2.AsyncClient, state: str) -> tuple[int, Readiness]:
    """The body of /readyz once the endpoint is in that state."""
    for _ in range(3000):
        reply = await http.get("/readyz")
        told = Readiness.model_validate_json(reply.content)
        if told.endpoints and told.endpoints[0].state == state:
            return reply.status_code, told
    raise AssertionError("the endpoint does not get there")


@pytest.mark.model
async def test_what_the_probe_found_is_told(tmp_path: Path) -> None:
    with ScriptedEndpoint(counts_tokens=True) as scripted:
        async with served(tmp_path, scripted.url) as http:
            status, told = await readiness(http, "ready")
            assert (status, told.ready) == (200, True)
            (found,) = told.endpoints
            assert (found.dialect, found.enforces_schema, found.reports_usage) == ("json_schema", True, True)
            assert (found.streams, found.model, found.problem) == (False, "", "")
            listed = EndpointList.model_validate_json((await http.get("/admin/endpoints", headers=OPERATOR)).content)
            assert listed.endpoints == [found.model_copy(update={"model": "Canaria"})]


@pytest.mark.model
async def test_an_endpoint_that_was_never_reached_makes_the_service_not_ready(
    tmp_path: Path, server: ModelServer
) -> None:
    server.replies = in_turn(failure(401, "Canaria Quenby"))
    async with served(tmp_path, server.url) as http:
        status, told = await readiness(http, "unreachable")
        assert (status, told.ready) == (503, False)
        assert told.endpoints[0].problem == "the endpoint refused the request with status 401"
        assert any("model endpoint" in sentence for sentence in told.missing)
        with ScriptedEndpoint() as scripted:
            server.replies = lambda request: _relayed(scripted, request.body)
            reply = await http.post("/admin/endpoints/probe", headers=OPERATOR)
            assert EndpointList.model_validate_json(reply.content).endpoints[0].state == "ready"
            assert (await http.get("/readyz")).status_code == 200
        server.replies = in_turn(failure(500))
        await http.post("/admin/endpoints/probe", headers=OPERATOR)
        status, told = await readiness(http, "unreachable")
        assert (status, told.ready) == (200, True)


@pytest.mark.model
async def test_a_dead_endpoint_is_told_as_such_and_its_address_to_its_owner_alone(tmp_path: Path) -> None:
    """On the terminal and nowhere else: the probes are open to anybody, and askers may be of other houses."""
    told_owner: list[tuple[EndpointStatus, str]] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        tell = lambda status, address: told_owner.append((status, address))  # noqa: E731
        async with served(tmp_path, f"http://{address}/v1", tell) as http:
            status, told = await readiness(http, "unreachable")
            assert (status, told.ready) == (503, False)
            assert "model endpoint 1 can't be used: connection refused" in told.missing
            assert [(each.problem, where) for each, where in told_owner] == [("connection refused", address)]
            listed = await http.get("/admin/endpoints", headers=OPERATOR)
            assert str(taken.getsockname()[1]) not in told.model_dump_json() + listed.text


@pytest.mark.model
async def test_a_dead_endpoint_beside_the_embedded_reasoner_leaves_the_service_ready(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        async with served(tmp_path, f"http://{address}/v1", fallbacks=("embedded",)) as http:
            status, told = await readiness(http, "unreachable")
    assert (status, told.ready) == (200, True)
    assert "model endpoint 1 can't be used: connection refused" in told.missing


def _relayed(scripted: ScriptedEndpoint, body: bytes) -> Canned:
    status, content = scripted.answer(Received(b"", body))
    return Canned(json.dumps(content).encode(), status)


@pytest.mark.model
async def test_endpoints_are_the_operators_alone(tmp_path: Path) -> None:
    with ScriptedEndpoint() as scripted:
        async with served(tmp_path, scripted.url) as http:
            wanted = {"tenant": "other", "grants": [], "role": "admin"}
            made = await http.post("/admin/keys", json=wanted, headers=OPERATOR)
            for method, path in (("GET", "/admin/endpoints"), ("POST", "/admin/endpoints/probe")):
                reply = await http.request(method, path, headers=bearer(made.json()["key"]))
                assert (reply.status_code, reply.json()["code"]) == (403, "not_permitted")
