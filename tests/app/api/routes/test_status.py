"""Health, readiness, metrics and OpenAPI; and that neither they nor the logs nor error bodies tell a name."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.api.state import state_of
from app.main import build_services, create_app
from app.settings import ConfigurationError, Settings
from app.wiring.services import Services
from tests.support.service import CLINIC, OPERATOR, SECRET_NAMES, Running, logging_to, question, running, settings_in

pytestmark = pytest.mark.slow

CANARIES = (*SECRET_NAMES, "Canaria", "Birdsong")


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    with logging_to(io.StringIO(), logging.DEBUG) as stream:
        yield stream


async def test_a_running_service_is_healthy_and_ready(service: Running) -> None:
    assert (await service.http.get("/healthz")).json() == {"status": "ok"}
    reply = await service.http.get("/readyz")
    assert reply.status_code == 200
    assert reply.json() == {"ready": True, "missing": [], "reasoner": "scripted", "endpoints": []}


async def test_a_service_without_a_graph_is_ready_and_says_so(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        reply = await service.http.get("/readyz")
        assert reply.status_code == 200
        (missing,) = reply.json()["missing"]
        assert missing.startswith("no graph is loaded")


async def readiness_of(settings: Settings, build: object) -> tuple[httpx2.Response, httpx2.Response]:
    app = create_app(settings, build)  # type: ignore[arg-type]
    async with app.router.lifespan_context(app):
        for _ in range(400):
            await asyncio.sleep(0.005)
            if "starting" not in str((await state_of(app).readiness()).missing):
                break
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as http:
            return await http.get("/readyz"), await http.post("/chat", json=question(), headers=OPERATOR)


async def test_a_missing_master_key_is_told_by_readyz_and_nothing_is_answered(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, master_key_file=tmp_path / "none")
    ready, chat = await readiness_of(settings, build_services)
    assert ready.status_code == chat.status_code == 503
    assert ready.json()["missing"][0].startswith("no master key: set AROG_MASTER_KEY")
    assert chat.json()["code"] == "not_ready"


async def test_a_database_out_of_reach_is_told_without_its_address(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, database_url="sqlite:////nonexistent/Canaria/arog.db")
    ready, _ = await readiness_of(settings, build_services)
    assert ready.status_code == 503
    assert "AROG_DATABASE_URL" in ready.json()["missing"][0]
    assert "Canaria" not in ready.text


async def test_another_failure_to_build_is_told_by_its_type(tmp_path: Path) -> None:
    def fail(_settings: Settings) -> Services:
        raise OSError("/home/Canaria/model")

    ready, _ = await readiness_of(settings_in(tmp_path), fail)
    assert "OSError" in ready.json()["missing"][0]
    assert "Canaria" not in ready.text


async def test_a_service_that_still_loads_says_so(tmp_path: Path) -> None:
    gate = threading.Event()

    def wait(_settings: Settings) -> Services:
        gate.wait(10)
        raise ConfigurationError("enough")

    app = create_app(settings_in(tmp_path), wait)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as http,
    ):
        reply = await http.get("/readyz")
        assert (reply.status_code, "starting" in reply.text) == (503, True)
        assert (await http.get("/healthz")).status_code == 200
        gate.set()


async def test_metrics_count_without_telling_of_graphs_or_tenants(service: Running) -> None:
    key = service.key("default", "clinic")
    await service.http.post("/chat", json=question(), headers=key)
    await service.http.post("/chat", json=question("Who is Canaria?"), headers=key)
    await service.http.delete("/admin/graphs/clinic-of-birdsong", headers=OPERATOR)
    text = (await service.http.get("/metrics")).text
    assert 'arog_requests_total{method="POST",route="/chat",status="200"} 2.0' in text
    assert 'arog_questions_total{outcome="grounded",strategy="sets"} 1.0' in text
    assert 'arog_questions_total{outcome="not_in_graph",strategy="sets"} 1.0' in text
    assert 'arog_errors_total{code="unknown_graph"} 1.0' in text
    assert "arog_ready 1.0" in text
    assert not any(word in text for word in (*CANARIES, "clinic", "default", "birdsong"))


async def test_unknown_paths_and_methods_do_not_fill_the_metrics(service: Running) -> None:
    for number in range(5):
        await service.http.request(f"BREW{number}", f"/canaria{number}")
    text = (await service.http.get("/metrics")).text
    assert 'arog_requests_total{method="other",route="none",status="404"} 5.0' in text
    assert "canaria" not in text.lower()


async def test_only_what_the_service_fails_at_is_logged_as_an_error(tmp_path: Path, logs: io.StringIO) -> None:
    async with running(tmp_path) as service:
        service.load()

        def fail() -> None:
            raise ValueError

        refused = [
            await service.http.post("/chat", json=question(options={"width": "wide"}), headers=OPERATOR),
            await service.http.get("/admin/graphs/none/report", headers=OPERATOR),
            await service.http.post("/admin/graphs/x", files=[("policy", (None, "["))], headers=OPERATOR),
        ]
        service.reasoner.before = fail
        failed = await service.http.post("/chat", json=question(), headers=OPERATOR)
    told = [json.loads(line) for line in logs.getvalue().splitlines()]
    assert {reply.status_code // 100 for reply in refused} == {4}
    for reply in (*refused, failed):
        levels = {line["level"] for line in told if line.get("id") == reply.json()["id"]}
        assert levels == ({"error", "info"} if reply is failed else {"info"})


async def test_no_log_metric_header_or_error_tells_a_name(tmp_path: Path, logs: io.StringIO) -> None:
    async with running(tmp_path) as service:
        service.load()
        seen: list[str] = []

        async def call(method: str, path: str, **more: object) -> None:
            reply = await service.http.request(method, path, headers={**OPERATOR, "X-Request-ID": "Canaria"}, **more)  # type: ignore[arg-type]
            seen.append(reply.text + str(dict(reply.headers)))

        def fail() -> None:
            raise ValueError("Canaria Birdsong")

        for text in (f"Who is {name} treated by?" for name in CANARIES):
            await call("POST", "/chat", json=question(text))
        service.reasoner.before = fail
        await call("POST", "/chat", json=question())
        await call("POST", "/chat", json=question(options={"width": "Canaria"}))
        await call("POST", "/chat?Canaria=Birdsong", content=b"Canaria")
        await call("GET", "/Canaria?Birdsong")
        await call("POST", "/admin/graphs/Canaria", content=b"Birdsong")
        await call("POST", "/admin/graphs/x", files=[("file", ("Canaria.exe", CLINIC.encode()))])
        await call("POST", "/admin/graphs/x", files=[("Canaria", ("Birdsong.ttl", CLINIC.encode()))])
        broken = CLINIC + ':p9 rdfs:label "Canaria Birdsong'
        files = [("file", ("Canaria.ttl", broken.encode()))]
        job = (await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)).json()["id"]
        seen.append(json.dumps(await service.ended(job, OPERATOR)))
        await call("GET", "/metrics")
        await call("GET", "/ledger")
        await call("GET", "/admin/graphs")
    told = "\n".join([*seen, logs.getvalue()])
    assert "request" in logs.getvalue()
    assert '"error": "ValueError"' in logs.getvalue()
    assert [name for name in CANARIES if name.lower() in told.lower()] == []
    assert b"Canaria" not in b"".join(service.reasoner.sent)


async def test_openapi_has_examples_for_chat_and_every_error(service: Running) -> None:
    told = (await service.http.get("/openapi.json")).json()
    chat = told["paths"]["/chat"]["post"]
    assert {"first", "follow_up"} <= set(chat["requestBody"]["content"]["application/json"]["examples"])
    assert {"401", "404", "409", "413", "422", "429", "500", "502", "503", "504"} <= set(chat["responses"])
    assert chat["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorBody")
    assert chat["security"]
    uploads = told["paths"]["/admin/graphs/{name}"]["post"]["requestBody"]["content"]
    assert set(uploads) == {"multipart/form-data", "application/json"}


async def test_the_examples_of_openapi_are_valid_requests(service: Running) -> None:
    from app.api.routes.chat import CHAT_EXAMPLES
    from client_sdk.crypto.sealing import parse_public_key
    from client_sdk.protocol import ChatRequest

    for example in CHAT_EXAMPLES.values():
        wanted = ChatRequest.model_validate(example["value"])
        if wanted.public_key:
            parse_public_key(wanted.public_key)


async def test_the_frameworks_own_traces_and_logs_are_off(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    for app in (service.app, create_app(service.services.store.settings)):
        kinds = ("tracing", "metrics", "logs", "operation_spans", "auto_configure")
        assert not any(app._telemetry[kind] for kind in kinds)  # type: ignore[literal-required]


async def test_the_service_ends_when_its_upkeep_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upkeep that still wrote after the end would write into a database that is closed, or just copied."""
    began, may_end, order = threading.Event(), threading.Event(), list[str]()

    def purge(*_given: object) -> int:
        began.set()
        may_end.wait(10)
        order.append("purged")
        return 0

    monkeypatch.setattr("app.main.purge_expired", purge)
    async with running(tmp_path):
        await asyncio.to_thread(began.wait, 10)
        close = Services.close

        async def closing(services: Services) -> None:
            order.append("closed")
            await close(services)

        monkeypatch.setattr(Services, "close", closing)
        asyncio.get_running_loop().call_later(0.3, may_end.set)
    assert order == ["purged", "closed"]
