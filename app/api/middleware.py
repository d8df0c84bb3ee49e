"""The outermost layer of every request: its id, its log line, security headers, and the last stop for errors."""

from __future__ import annotations

import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import send_error
from app.telemetry.logs import event_log
from app.telemetry.metrics import Metrics

REQUEST_ID = "X-Request-ID"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# Anything else that a client sends as a method is counted under one word, or it could fill the metrics.
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})

log = event_log("http")


class RequestMiddleware:
    """Gives a request its id, logs the route's template (never the path or query), and answers what nobody caught.

    Errors end here: the server above would log their text with the traceback.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = "r" + secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status, started = 0, time.perf_counter()

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_framed)
        except Exception as error:
            log.error("request_failed", id=request_id, exc_info=error)
            if status:
                # Half a reply is out already: closing the connection is all that is left.
                raise ConnectionAbortedError from None
            await send_error(error, scope, receive, send_framed)
        finally:
            self._tell(scope, request_id, status, time.perf_counter() - started)

    def _tell(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = getattr(scope.get("route"), "path", "none")
        self._metrics.count_request(method, route, status)
        log.info(
            "request", id=request_id, method=method, route=route, status=status,
            milliseconds=round(seconds * 1000, 1), caller=scope["state"].get("key_id"),
        )  # fmt: skip
