"""The SDK and the service over real sockets: pieces with names, and work that ends when the client goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn

from client_sdk import Answer, AsyncChat, KeyPair, Stage, TextPiece
from tests.support.service import QUESTION, Running

pytestmark = pytest.mark.slow


@asynccontextmanager
async def listening(service: Running) -> AsyncIterator[str]:
    """The service's URL on loopback."""
    config = uvicorn.Config(service.app, host="127.0.0.1", port=0, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
async def chat(service: Running) -> AsyncIterator[AsyncChat]:
    api_key = service.key("default", "clinic", "inspect:clinic")["Authorization"].removeprefix("Bearer ")
    async with listening(service) as url, AsyncChat(url, api_key, "clinic", key=KeyPair.generate()) as chat:
        yield chat


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.005)


async def test_stages_text_with_names_and_the_answer_arrive(chat: AsyncChat) -> None:
    async with chat.stream(QUESTION) as stream:
        pieces = [piece async for piece in stream]
    assert [piece.name for piece in pieces if isinstance(piece, Stage)] == [
        "linking", "finding", "concluding", "sealing",
    ]  # fmt: skip
    answer = pieces[-1]
    assert isinstance(answer, Answer)
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert text == answer.text == "It is Quenby Thistlewood."
    assert (await chat.ask("Where does she live?")).conversation == answer.conversation


async def test_a_client_that_leaves_its_stream_ends_the_work(service: Running, chat: AsyncChat) -> None:
    service.reasoner.wait = asyncio.Event()
    async with chat.stream(QUESTION) as stream:
        async for piece in stream:
            if piece == Stage("finding"):
                break
        await until(lambda: len(service.reasoner.sent) == 1)
    await until(lambda: service.reasoner.given_up == 1)
    service.reasoner.wait = None
    assert (await chat.ask(QUESTION)).text == "It is Quenby Thistlewood."


async def test_a_client_that_stops_waiting_for_its_answer_ends_the_work(service: Running, chat: AsyncChat) -> None:
    service.reasoner.wait = asyncio.Event()
    asking = asyncio.create_task(chat.ask(QUESTION))
    await until(lambda: len(service.reasoner.sent) == 1)
    asking.cancel()
    await until(lambda: service.reasoner.given_up == 1)
