"""Limits of one caller: bytes of a body, seconds of a request, requests a minute."""

from __future__ import annotations

import asyncio
import math
import time

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.accounts.api_keys import Caller
from app.api.problems import RateLimitedError, TooLargeError

UPLOADS = "/admin/graphs/"
PREVIEW = "/admin/preview"


class RateLimits:
    """Requests a minute per API key, in the memory of this process: each replica counts for itself."""

    def __init__(self, per_minute: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._item = RateLimitItemPerMinute(per_minute)

    async def count(self, caller: Caller) -> None:
        """Raises RateLimitedError when the key has used up its minute."""
        if not await self._limiter.hit(self._item, caller.key_id):
            window = await self._limiter.get_window_stats(self._item, caller.key_id)
            raise RateLimitedError(max(1, math.ceil(window.reset_time - time.time())))


class BodyLimit:
    """Stops reading a body at its limit, whatever length it claims; uploads of graphs have their own limit."""

    def __init__(self, app: ASGIApp, max_body_bytes: int, max_upload_bytes: int) -> None:
        self._app = app
        self._body = (max_body_bytes, "AROG_MAX_BODY_BYTES")
        self._upload = (max_upload_bytes, "AROG_MAX_UPLOAD_BYTES")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, setting = self._upload if is_upload(scope) else self._body
        claimed = Headers(scope=scope).get("content-length", "0")
        if not claimed.isdecimal() or int(claimed) > limit:
            raise TooLargeError(limit, setting)
        read = 0

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise TooLargeError(limit, setting)
            return message

        await self._app(scope, receive_counted, send)


class Deadline:
    """Gives a request up after `seconds`, reading its body included; uploads take as long as they take.

    `scope["state"]["timeout"]` is the running limit: a stream, which has to say that it ran out, moves its end.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_upload(scope):
            await self._app(scope, receive, send)
            return
        async with asyncio.timeout(self._seconds) as timeout:
            scope.setdefault("state", {})["timeout"] = timeout
            await self._app(scope, receive, send)


def is_upload(scope: Scope) -> bool:
    """True of POST /admin/graphs/{name} and of POST /admin/preview with files in them."""
    content_type = Headers(scope=scope).get("content-type", "")
    path: str = scope["path"]
    takes_files = path.startswith(UPLOADS) or path == PREVIEW
    return scope["method"] == "POST" and takes_files and content_type.startswith("multipart/form-data")
