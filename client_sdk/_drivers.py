"""What does the I/O of a flow: one driver that blocks and one for asyncio."""

from __future__ import annotations

import asyncio
import time

import httpx2

from client_sdk._flow import MAX_REPLY_BYTES, Flow, ModelT, Pause, Reply, Send
from client_sdk.errors import BadAnswer

_CONNECT_S = 10.0


class _Target:
    """Where requests go, with the key that they carry."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url, self._api_key = url.rstrip("/"), api_key

    def build(self, http: httpx2.Client | httpx2.AsyncClient, send: Send) -> httpx2.Request:
        left_s = max(0.001, send.deadline - time.monotonic())
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json"}
        if send.call.body is not None:
            headers["Content-Type"] = "application/json"
        return http.build_request(
            send.call.method,
            self._url + send.call.path,
            params=send.call.params or None,
            content=send.call.body,
            headers=headers,
            timeout=httpx2.Timeout(left_s, connect=min(left_s, _CONNECT_S)),
        )


class _Body:
    """Gathers a reply's bytes, and stops one that is endless or that drips past the deadline."""

    def __init__(self, deadline: float) -> None:
        self._deadline, self._bytes = deadline, bytearray()

    def add(self, chunk: bytes) -> None:
        self._bytes += chunk
        if len(self._bytes) > MAX_REPLY_BYTES:
            raise BadAnswer(f"the reply is longer than {MAX_REPLY_BYTES} bytes", code="reply_too_long")
        if time.monotonic() > self._deadline:
            raise httpx2.ReadTimeout("the reply was not whole within the deadline")

    def reply(self, response: httpx2.Response) -> Reply:
        return Reply(response.status_code, bytes(self._bytes), response.headers.get("retry-after"))


class BlockingDriver:
    """Runs flows, waiting for each send and pause. Safe to use from several threads."""

    def __init__(self, url: str, api_key: str, http: httpx2.Client | None) -> None:
        self._target, self._owns_http = _Target(url, api_key), http is None
        self._http = http or httpx2.Client()

    def run(self, flow: Flow[ModelT]) -> ModelT:
        try:
            step = next(flow)
            while True:
                try:
                    reply = self._do(step)
                except httpx2.TransportError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: ModelT = done.value
            return result

    def _do(self, step: Send | Pause) -> Reply | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        body = _Body(step.deadline)
        response = self._http.send(self._target.build(self._http, step), stream=True)
        try:
            for chunk in response.iter_bytes():
                body.add(chunk)
        except httpx2.DecodingError:
            raise BadAnswer("the reply can't be decompressed", code="bad_answer") from None
        finally:
            response.close()
        return body.reply(response)

    def close(self) -> None:
        if self._owns_http:
            self._http.close()


class AsyncDriver:
    """Runs flows on asyncio."""

    def __init__(self, url: str, api_key: str, http: httpx2.AsyncClient | None) -> None:
        self._target, self._owns_http = _Target(url, api_key), http is None
        self._http = http or httpx2.AsyncClient()

    async def run(self, flow: Flow[ModelT]) -> ModelT:
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._do(step)
                except httpx2.TransportError as failure:
                    step = flow.throw(failure)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: ModelT = done.value
            return result

    async def _do(self, step: Send | Pause) -> Reply | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        body = _Body(step.deadline)
        response = await self._http.send(self._target.build(self._http, step), stream=True)
        try:
            async for chunk in response.aiter_bytes():
                body.add(chunk)
        except httpx2.DecodingError:
            raise BadAnswer("the reply can't be decompressed", code="bad_answer") from None
        finally:
            await response.aclose()
        return body.reply(response)

    async def close(self) -> None:
        if self._owns_http:
            await self._http.aclose()
