"""The proxy in front of the real service: whatever the protocol, its client reads names and the model never does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp, Message

from client_sdk import KeyPair
from client_sdk.proxy.app import AccessDecision, create_app
from client_sdk.proxy.sessions import Upstream
from tests.support.service import QUESTION, SECRET_NAMES, Running, running

CHAT = f"USER: {QUESTION}\nASSISTANT: It is Quenby Thistlewood."
CHORES = (
    f'### Task:\nA title.\n### Output:\n{{ "title": "..." }}\n<chat_history>\n{CHAT}\n</chat_history>',
    f'### Task:\nSome tags.\n### Output:\n{{ "tags": ["..."] }}\n<chat_history>\n{CHAT}\n</chat_history>',
    f"Provide a concise title for the conversation.\n\nConversation:\n{CHAT}",
)
# Paths, and the body that asks `text` there.
PROTOCOLS = (
    ("/v1/chat/completions", lambda text: {"messages": [{"role": "user", "content": text}]}),
    ("/v1/responses", lambda text: {"input": text}),
    ("/v1/messages", lambda text: {"max_tokens": 9, "messages": [{"role": "user", "content": text}]}),
)


@asynccontextmanager
async def started(app: ASGIApp) -> AsyncIterator[None]:
    """Runs the lifespan of an application that no server runs."""
    received: asyncio.Queue[Message] = asyncio.Queue()
    sent: asyncio.Queue[Message] = asyncio.Queue()
    life = asyncio.create_task(app({"type": "lifespan", "asgi": {"version": "3.0"}}, received.get, sent.put))
    await received.put({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    yield
    await received.put({"type": "lifespan.shutdown"})
    await life


@asynccontextmanager
async def proxied(folder: Path) -> AsyncIterator[tuple[Running, httpx2.AsyncClient]]:
    async with running(folder) as service:
        service.load()
        key = service.key("default", "clinic")["Authorization"].removeprefix("Bearer ")
        upstream = Upstream("http://127.0.0.1", key, KeyPair.generate())
        to_service = httpx2.AsyncClient(transport=httpx2.ASGITransport(service.app))
        proxy = create_app(upstream, AccessDecision(), http=to_service)
        async with (
            started(proxy),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(proxy), base_url="http://localhost") as http,
        ):
            yield service, http


@pytest.mark.parametrize(("path", "body"), PROTOCOLS, ids=[path for path, _ in PROTOCOLS])
@pytest.mark.parametrize("stream", [False, True])
async def test_its_client_reads_names_and_the_model_reads_none(
    tmp_path: Path, path: str, body: Any, stream: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    async with proxied(tmp_path) as (service, http):
        reply = await http.post(path, json={"model": "clinic", "stream": stream, **body(QUESTION)})
        assert reply.status_code == 200
        assert "Quenby" in reply.text
        sent = b"".join(service.reasoner.sent)
    assert sent
    assert [name for name in SECRET_NAMES if name.encode() in sent] == []
    printed = capfd.readouterr()
    assert [name for name in SECRET_NAMES if name in printed.out + printed.err] == []


@pytest.mark.parametrize(("path", "body"), PROTOCOLS, ids=[path for path, _ in PROTOCOLS])
async def test_a_chore_reaches_no_model_and_its_reply_holds_no_name(tmp_path: Path, path: str, body: Any) -> None:
    async with proxied(tmp_path) as (service, http):
        for chore in CHORES:
            reply = await http.post(path, json={"model": "clinic", **body(chore)})
            assert reply.status_code == 200
            assert reply.json()["arog"]["background"] in ("title", "tags")
            assert [name for name in SECRET_NAMES if name in reply.text] == []
        assert service.reasoner.sent == []


@pytest.mark.parametrize(("path", "body"), PROTOCOLS, ids=[path for path, _ in PROTOCOLS])
async def test_an_error_holds_no_name(tmp_path: Path, path: str, body: Any) -> None:
    async with proxied(tmp_path) as (service, http):
        service.reasoner.before = lambda: json.loads(QUESTION)
        for model, change in (
            ("clinic", {}),
            ("clinic", {"stream": True}),
            ("other", {}),
            ("clinic", {"n": QUESTION}),
        ):
            asked = {"model": model, **body(QUESTION), **change}
            reply = await http.post(path, json=asked)
            assert reply.status_code >= 400 or "error" in reply.text
            assert [name for name in SECRET_NAMES if name in reply.text] == []
