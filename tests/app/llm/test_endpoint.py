"""The endpoint over real HTTP: bytes as they are, one retry, and typed errors that quote nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import structlog

from app.llm.endpoint import ModelEndpoint
from app.llm.prompted import Completion
from app.llm.reasoner import ReasonerError, ReasonerRefused, ReasonerUnavailable, ReplyUnusable
from tests.support.model_server import Canned, ModelServer, completion, failure, in_turn, serving

BODY = '{"model":"m", "messages":[],  "odd": "Eq7f2k é"}'.encode()
CANARY = "Canaria Quenby"

pytestmark = pytest.mark.usefixtures("no_waiting")


@asynccontextmanager
async def endpoint(url: str, key: str = "", deadline_s: float = 10.0) -> AsyncIterator[ModelEndpoint]:
    opened = ModelEndpoint(url, "m", key, deadline_s)
    try:
        yield opened
    finally:
        await opened.close()


async def ask(server: ModelServer, key: str = "", deadline_s: float = 10.0) -> Completion:
    async with endpoint(server.url, key, deadline_s) as opened:
        return await opened.complete(BODY)


async def refusal(server: ModelServer, *canned: Canned, deadline_s: float = 10.0) -> ReasonerError:
    """The error that these responses end in; neither it nor anything logged quotes them."""
    server.replies = in_turn(*canned)
    with structlog.testing.capture_logs() as logs, pytest.raises(ReasonerError) as caught:
        await ask(server, deadline_s=deadline_s)
    assert "Canaria" not in f"{caught.value!r} {caught.value.__cause__!r} {logs}"
    return caught.value


async def test_exactly_the_cleared_bytes_are_sent_with_the_key(server: ModelServer) -> None:
    server.replies = in_turn(completion("Eq7f2k", usage=(30, 4)))
    assert await ask(server, key="k-123") == Completion("Eq7f2k", "stop", 30, 4)
    (request,) = server.received
    assert request.body == BODY
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert (headers["authorization"], headers["content-type"]) == ("Bearer k-123", "application/json")


async def test_an_endpoint_without_a_key_is_asked_all_the_same(server: ModelServer) -> None:
    server.replies = in_turn(completion("x"))
    assert await ask(server) == Completion("x", "stop", None, None)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_a_busy_endpoint_is_asked_once_more(server: ModelServer, status: int) -> None:
    server.replies = in_turn(failure(status), completion("x"))
    assert (await ask(server)).content == "x"
    assert [request.body for request in server.received] == [BODY, BODY]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_endpoint_that_stays_busy_is_unavailable_after_one_retry(server: ModelServer, status: int) -> None:
    error = await refusal(server, failure(status, CANARY))
    assert isinstance(error, ReasonerUnavailable)
    assert str(status) in str(error)
    assert len(server.received) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_final(server: ModelServer, status: int) -> None:
    error = await refusal(server, failure(status, CANARY))
    assert isinstance(error, ReasonerRefused)
    assert str(status) in str(error)
    assert len(server.received) == 1


async def test_a_used_up_quota_is_not_asked_again(server: ModelServer) -> None:
    error = await refusal(server, failure(429, CANARY, code="insufficient_quota"))
    assert isinstance(error, ReasonerRefused)
    assert len(server.received) == 1


async def test_a_redirect_is_not_followed(server: ModelServer) -> None:
    with serving(in_turn(completion("x"))) as elsewhere:
        location = ("Location", f"{elsewhere.url}/chat/completions")
        error = await refusal(server, Canned(status=307, headers=(location,)))
        assert isinstance(error, ReasonerRefused)
        assert elsewhere.received == []


@pytest.mark.parametrize("canned", [Canned(hangs=True), Canned(drips=True)], ids=["hangs", "drips"])
async def test_an_answer_that_does_not_come_in_time_is_given_up(server: ModelServer, canned: Canned) -> None:
    error = await refusal(server, canned, deadline_s=0.3)
    assert isinstance(error, ReasonerUnavailable)
    assert "deadline" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": [{"message": {"content": "Canaria', b"", b"null", b"[1]", b'"Canaria"', b"\xff\xfeCanaria",
        b"{}", b'{"choices": []}', b'{"choices": null}', b'{"choices": "Canaria"}', b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}', b'{"choices": [{"message": "Canaria"}]}',
        b'{"choices": [{"message": {"content": ["Canaria"]}}]}', b'{"error": {"message": "Canaria"}}',
        b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "Canaria"}}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
async def test_what_is_no_completion_is_a_typed_error(server: ModelServer, body: bytes, content_type: str) -> None:
    error = await refusal(server, Canned(body, content_type=content_type))
    assert isinstance(error, ReplyUnusable)


async def test_a_body_that_can_not_be_unpacked_is_a_typed_error(server: ModelServer) -> None:
    packed = Canned(CANARY.encode(), headers=(("Content-Encoding", "gzip"),))
    assert isinstance(await refusal(server, packed), ReasonerUnavailable)


async def test_absent_content_and_half_a_usage_are_told_as_they_are(server: ModelServer) -> None:
    body = {"choices": [{"message": {"content": None, "reasoning": "x"}}], "usage": {"prompt_tokens": 3}}
    server.replies = in_turn(Canned(json.dumps(body).encode()))
    assert await ask(server) == Completion("", "", 3, None)


async def test_an_unreachable_port_is_a_typed_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        async with endpoint(f"http://127.0.0.1:{port}/v1", key=CANARY) as opened:
            with pytest.raises(ReasonerUnavailable) as caught:
                await opened.complete(BODY)
    assert "Canaria" not in str(caught.value)
