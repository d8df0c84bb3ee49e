"""The endpoint over real HTTP: bytes as they are, retries, streams, and typed errors that quote nothing."""

from __future__ import annotations

import asyncio
import json
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import structlog

from app.llm.endpoint.model_endpoint import ATTEMPTS, DeadlineExceededError, FairQueue, ModelEndpoint
from app.llm.endpoint.request_body import Completion
from app.llm.endpoint.transport import MAX_REPLY_BYTES
from app.llm.reasoner import ReasonerError, ReasonerRefusedError, ReasonerUnavailableError, ReplyUnusableError
from tests.support.processes.model_server import Canned, ModelServer, completion, failure, in_turn, serving
from tests.support.waiting import until


@dataclass
class Desk:
    """Who held a place, in order, and how many at once."""

    queue: FairQueue
    order: list[str] = field(default_factory=list)
    holding: int = 0
    most: int = 0
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self, who: str) -> None:
        async with self.queue.place(who[0]):
            self.order.append(who)
            self.holding += 1
            self.most = max(self.most, self.holding)
            try:
                await self.end.wait()
                await asyncio.sleep(0)
            finally:
                self.holding -= 1


async def begun(desk: Desk, *who: str) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(desk.hold(each)) for each in who]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_tenants_take_turns_however_many_one_of_them_asks() -> None:
    desk = Desk(FairQueue(1))
    tasks = await begun(desk, "a1", "a2", "a3", "a4", "b1", "b2", "c1")
    desk.end.set()
    await asyncio.gather(*tasks)
    assert desk.order == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]
    assert desk.most == 1


@pytest.mark.parametrize("seed", range(8))
async def test_who_goes_away_takes_no_place_along(seed: int) -> None:
    rng = random.Random(seed)
    desk = Desk(FairQueue(2))
    tasks = await begun(desk, *(rng.choice("abc") + str(n) for n in range(12)))
    for task in rng.sample(tasks, 6):
        task.cancel()
        if rng.random() < 0.5:
            await asyncio.sleep(0)
        desk.end.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    after = Desk(desk.queue)
    again = await begun(after, "a1", "b1", "c1")
    assert after.holding == 2
    after.end.set()
    await asyncio.gather(*again)
    assert after.order == ["a1", "b1", "c1"]


BODY = '{"model":"m", "messages":[],  "odd": "Eq7f2k é"}'.encode()
CANARY = "Canaria Quenby"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_waiting")]


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


async def test_no_header_tells_of_the_machine_or_of_this_shell(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", CANARY)
    monkeypatch.setenv("OPENAI_PROJECT_ID", CANARY)
    server.replies = in_turn(completion("x"))
    await ask(server)
    headers = {name.lower(): value for name, value in server.received[0].headers.items()}
    assert headers.pop("user-agent") == "arog"
    assert set(headers) <= {
        "host", "content-type", "content-length", "accept", "accept-encoding", "connection", "authorization",
    }  # fmt: skip


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_a_busy_endpoint_is_asked_again(server: ModelServer, status: int) -> None:
    server.replies = in_turn(failure(status), completion("x"))
    got = await ask(server)
    assert (got.content, got.retries) == ("x", 1)
    assert [request.body for request in server.received] == [BODY, BODY]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_endpoint_that_stays_busy_is_unavailable_after_its_retries(server: ModelServer, status: int) -> None:
    error = await refusal(server, failure(status, CANARY))
    assert isinstance(error, ReasonerUnavailableError)
    assert str(status) in str(error)
    assert len(server.received) == ATTEMPTS


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_final(server: ModelServer, status: int) -> None:
    error = await refusal(server, failure(status, CANARY))
    assert isinstance(error, ReasonerRefusedError)
    assert str(status) in str(error)
    assert len(server.received) == 1


async def test_a_used_up_quota_is_not_asked_again(server: ModelServer) -> None:
    error = await refusal(server, failure(429, CANARY, code="insufficient_quota"))
    assert isinstance(error, ReasonerRefusedError)
    assert len(server.received) == 1


async def test_a_redirect_is_not_followed(server: ModelServer) -> None:
    with serving(in_turn(completion("x"))) as elsewhere:
        location = ("Location", f"{elsewhere.url}/chat/completions")
        error = await refusal(server, Canned(status=307, headers=(location,)))
        assert isinstance(error, ReasonerRefusedError)
        assert elsewhere.received == []


@pytest.mark.parametrize("canned", [Canned(hangs=True), Canned(drips=True)], ids=["hangs", "drips"])
async def test_an_answer_that_does_not_come_in_time_is_given_up(server: ModelServer, canned: Canned) -> None:
    error = await refusal(server, canned, deadline_s=0.3)
    assert isinstance(error, ReasonerUnavailableError)
    assert "deadline" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices": [{"message": {"content": "Canaria', b"", b"null", b"[1]", b'"Canaria"', b"\xff\xfeCanaria",
        b"{}", b'{"choices": []}', b'{"choices": null}', b'{"choices": "Canaria"}', b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}', b'{"choices": [{"message": "Canaria"}]}',
        b'{"choices": [{"message": {"content": ["Canaria"]}}]}',
    ],
)  # fmt: skip
async def test_what_is_no_completion_is_a_typed_error(server: ModelServer, body: bytes) -> None:
    error = await refusal(
        server, Canned(body, content_type="text/plain" if b"Canaria" in body else "application/json")
    )
    assert isinstance(error, ReplyUnusableError)


async def test_a_body_that_can_not_be_unpacked_is_a_typed_error(server: ModelServer) -> None:
    packed = Canned(CANARY.encode(), headers=(("Content-Encoding", "gzip"),))
    assert isinstance(await refusal(server, packed), ReasonerUnavailableError)


async def test_absent_content_and_half_a_usage_are_told_as_they_are(server: ModelServer) -> None:
    body = {"choices": [{"message": {"content": None, "reasoning": "x"}}], "usage": {"prompt_tokens": 3}}
    server.replies = in_turn(Canned(json.dumps(body).encode()))
    assert await ask(server) == Completion("", "", 3, None)


async def test_an_unreachable_port_is_a_typed_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        async with endpoint(f"http://127.0.0.1:{port}/v1", key=CANARY) as opened:
            with pytest.raises(ReasonerUnavailableError) as caught:
                await opened.complete(BODY)
            assert opened.address == f"127.0.0.1:{port}"
    assert (str(caught.value), caught.value.reason) == ("connection refused", "connection refused")


async def test_an_endpoint_that_rests_still_says_why_it_could_not_be_reached() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        async with endpoint(f"http://user:{CANARY}@127.0.0.1:{free.getsockname()[1]}/v1") as opened:
            for _ in range(5):
                with pytest.raises(ReasonerUnavailableError), opened.breaker.watch():
                    await opened.complete(BODY)
            with pytest.raises(ReasonerUnavailableError) as caught:
                await opened.complete(BODY)
            assert CANARY not in opened.address
    assert caught.value.reason == "connection refused"


@pytest.mark.parametrize("body", [b'{"error": {"message": "Canaria", "code": 3}}', b'{"object": "error", "code": 3}'])
async def test_an_error_that_comes_as_a_success_is_one(server: ModelServer, body: bytes) -> None:
    error = await refusal(server, Canned(body))
    assert isinstance(error, ReasonerUnavailableError)
    assert len(server.received) == ATTEMPTS


async def test_a_reply_without_end_is_given_up(server: ModelServer) -> None:
    error = await refusal(server, Canned(b" " * (MAX_REPLY_BYTES + 1)))
    assert isinstance(error, ReplyUnusableError)


def streamed(*events: object, done: bool = True) -> Canned:
    """A stream of chunks, each given as what stands in it, or as a piece of content."""
    chunks = [{"choices": [{"delta": {"content": each}}]} if isinstance(each, str) else each for each in events]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"] * done
    return Canned("".join(lines).encode(), content_type="text/event-stream; charset=utf-8")


END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("done", [True, False])
async def test_a_stream_is_put_together(server: ModelServer, done: bool) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 4}}
    role = {"choices": [{"delta": {"role": "assistant", "content": None, "reasoning": "Canaria"}}]}
    canned = streamed(role, "Eq7", {"choices": []}, "f2k", END, usage, done=done)
    server.replies = in_turn(Canned(b": keep-alive Canaria\n\n" + canned.body, content_type=canned.content_type))
    assert await ask(server) == Completion("Eq7f2k", "stop", 30, 4)


@pytest.mark.parametrize(
    "error", [{"error": {"message": "Canaria", "code": 500}}, {"error": "Canaria"}, {"object": "error"}], ids=str
)
async def test_an_error_inside_a_stream_is_one(server: ModelServer, error: dict[str, object]) -> None:
    assert isinstance(await refusal(server, streamed("Canaria", error)), ReasonerUnavailableError)
    assert len(server.received) == ATTEMPTS


@pytest.mark.parametrize("line", ["data: Canaria\n\n", "data: [1, 2]\n\n", 'data: {"choices": "Canaria"}\n\n'])
async def test_a_stream_of_something_else_is_a_typed_error(server: ModelServer, line: str) -> None:
    canned = Canned(line.encode(), content_type="text/event-stream")
    assert isinstance(await refusal(server, canned), ReplyUnusableError)


async def test_white_space_without_end_is_ended_at_once(server: ModelServer) -> None:
    error = await refusal(server, streamed('{"thought": "', *[" \n\t "] * 20))
    assert isinstance(error, ReplyUnusableError)
    assert "white space" in str(error)


async def test_a_caller_who_goes_away_takes_the_request_along(server: ModelServer) -> None:
    server.replies = in_turn(Canned(drips=True))
    async with endpoint(server.url) as opened:
        asking = asyncio.create_task(opened.complete(BODY))
        await until(lambda: bool(server.received))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: server.hung_up == 1)
        server.replies = in_turn(completion("x"))
        assert (await opened.complete(BODY)).content == "x"
        assert opened.breaker.state == "closed"


async def test_a_place_that_never_comes_ends_at_the_deadline(server: ModelServer) -> None:
    opened = ModelEndpoint(server.url, "m", deadline_s=0.2, concurrency=1)
    async with opened._queue.place("other"):
        with pytest.raises(DeadlineExceededError, match="no place"):
            await opened.complete(BODY, "mine")
    await opened.close()
    assert (server.received, opened.is_ready) == ([], True)
