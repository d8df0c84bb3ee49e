"""Runs flows: does their I/O, in one driver that blocks and one for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx2

from client_sdk.errors import BadAnswerError
from client_sdk.transport.address import Bearer
from client_sdk.transport.flow import (
    MAX_REPLY_BYTES,
    Flow,
    OnWait,
    Pause,
    Reply,
    ResultT,
    Send,
    error_of_failure,
    log_wait,
    tell_wait,
)


class _Body:
    """Collects a reply's bytes. Raises if they are more than MAX_REPLY_BYTES or still come after the deadline."""

    def __init__(self, deadline: float) -> None:
        self._deadline, self._bytes = deadline, bytearray()

    def add(self, chunk: bytes) -> None:
        self._bytes += chunk
        if len(self._bytes) > MAX_REPLY_BYTES:
            raise BadAnswerError(f"the reply is longer than {MAX_REPLY_BYTES} bytes", code="reply_too_long")
        if time.monotonic() > self._deadline:
            raise httpx2.ReadTimeout("the reply was not whole within the deadline")

    def reply(self, response: httpx2.Response) -> Reply:
        return Reply(response.status_code, bytes(self._bytes), response.headers.get("retry-after"))


class _Bounded(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A response's stream with the limits of `_Body`, because heartbeats alone could keep it open for ever."""

    def __init__(self, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream, deadline: float) -> None:
        self._stream, self._body = stream, _Body(deadline)

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._stream, httpx2.SyncByteStream)
        for chunk in self._stream:
            self._body.add(chunk)
            yield chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._stream, httpx2.AsyncByteStream)
        async for chunk in self._stream:
            self._body.add(chunk)
            yield chunk

    def close(self) -> None:
        assert isinstance(self._stream, httpx2.SyncByteStream)
        self._stream.close()

    async def aclose(self) -> None:
        assert isinstance(self._stream, httpx2.AsyncByteStream)
        await self._stream.aclose()


class _Driver:
    """The parts that both drivers share: address, API key, who is told of waits, and how requests are built."""

    def __init__(self, url: str, api_key: Bearer, on_wait: OnWait) -> None:
        self._url, self._api_key, self._on_wait = url.rstrip("/"), api_key, on_wait

    def _build(self, http: httpx2.Client | httpx2.AsyncClient, send: Send) -> httpx2.Request:
        left_s = max(0.001, send.deadline - time.monotonic())
        accepted = "text/event-stream" if send.call.streamed else "application/json"
        key = self._api_key() if callable(self._api_key) else self._api_key
        headers = {"Accept": accepted, **({"Authorization": f"Bearer {key}"} if key else {})}
        if send.call.body is not None:
            headers["Content-Type"] = "application/json"
        return http.build_request(
            send.call.method,
            self._url + send.call.path,
            params=send.call.params or None,
            content=send.call.body,
            headers=headers,
            timeout=httpx2.Timeout(left_s, connect=min(left_s, send.connect_timeout_s)),
        )


class BlockingDriver(_Driver):
    """Runs flows and blocks during each send and pause. Several threads may use it."""

    def __init__(self, url: str, api_key: Bearer, http: httpx2.Client | None, on_wait: OnWait = log_wait) -> None:
        super().__init__(url, api_key, on_wait)
        self._http, self._owns_http = http or httpx2.Client(), http is None

    def run(self, flow: Flow[ResultT]) -> ResultT:
        return self._run(flow, [])

    @contextmanager
    def streaming(self, flow: Flow[Reply]) -> Iterator[Iterator[httpx2.ServerSentEvent]]:
        """Runs a flow of a `streamed` call, then yields its events as they come. Raises ArogError."""
        opened: list[httpx2.Response] = []
        try:
            self._run(flow, opened)
            with _failures_told():
                yield iter(httpx2.EventSource(opened[0], max_event_size=MAX_REPLY_BYTES))
        finally:
            for response in opened:
                response.close()

    def _run(self, flow: Flow[ResultT], opened: list[httpx2.Response]) -> ResultT:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    tell_wait(step, self._on_wait)
                    time.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    reply = self._ask(step, opened)
                except httpx2.TransportError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: ResultT = done.value
            return result

    def _ask(self, send: Send, opened: list[httpx2.Response]) -> Reply:
        """Sends a request and returns the reply.

        A stream that has begun is added to `opened`, with its body unread.
        """
        response = self._http.send(self._build(self._http, send), stream=True)
        if send.call.streamed and response.status_code == 200:
            response.stream = _Bounded(response.stream, send.deadline)
            opened.append(response)
            return Reply(200, b"")
        body = _Body(send.deadline)
        try:
            with _decoding():
                for chunk in response.iter_bytes():
                    body.add(chunk)
        finally:
            response.close()
        return body.reply(response)

    def close(self) -> None:
        if self._owns_http:
            self._http.close()


class AsyncDriver(_Driver):
    """Runs flows on asyncio."""

    def __init__(self, url: str, api_key: Bearer, http: httpx2.AsyncClient | None, on_wait: OnWait = log_wait) -> None:
        super().__init__(url, api_key, on_wait)
        self._http, self._owns_http = http or httpx2.AsyncClient(), http is None

    async def run(self, flow: Flow[ResultT]) -> ResultT:
        return await self._run(flow, [])

    @asynccontextmanager
    async def streaming(self, flow: Flow[Reply]) -> AsyncIterator[AsyncIterator[httpx2.ServerSentEvent]]:
        """Does the same as BlockingDriver.streaming, for asyncio."""
        opened: list[httpx2.Response] = []
        try:
            await self._run(flow, opened)
            with _failures_told():
                yield aiter(httpx2.EventSource(opened[0], max_event_size=MAX_REPLY_BYTES))
        finally:
            for response in opened:
                await response.aclose()

    async def _run(self, flow: Flow[ResultT], opened: list[httpx2.Response]) -> ResultT:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    tell_wait(step, self._on_wait)
                    await asyncio.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    reply = await self._ask(step, opened)
                except httpx2.TransportError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: ResultT = done.value
            return result

    async def _ask(self, send: Send, opened: list[httpx2.Response]) -> Reply:
        """Sends a request and returns the reply.

        A stream that has begun is added to `opened`, with its body unread.
        """
        if callable(self._api_key):
            # A person's token may have to be renewed first, which blocks.
            request = await asyncio.to_thread(self._build, self._http, send)
        else:
            request = self._build(self._http, send)
        response = await self._http.send(request, stream=True)
        if send.call.streamed and response.status_code == 200:
            response.stream = _Bounded(response.stream, send.deadline)
            opened.append(response)
            return Reply(200, b"")
        body = _Body(send.deadline)
        try:
            with _decoding():
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
        finally:
            await response.aclose()
        return body.reply(response)

    async def close(self) -> None:
        if self._owns_http:
            await self._http.aclose()


@contextmanager
def _decoding() -> Generator[None]:
    try:
        yield
    except httpx2.DecodingError:
        raise BadAnswerError("the reply can't be decompressed", code="bad_answer") from None


@contextmanager
def _failures_told() -> Generator[None]:
    """Raises an ArogError in place of each error of the connection or of the stream's format."""
    try:
        with _decoding():
            yield
    except httpx2.SSEError:
        hint = "is this the service's own address, and of this version?"
        raise BadAnswerError("the reply is no stream of events", code="bad_answer", hint=hint) from None
    except httpx2.TransportError as failure:
        raise error_of_failure(failure) from None
