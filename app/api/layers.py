"""The ASGI middleware around the routes: ids, logs, headers and limits of requests, and every error as an ErrorBody.

No log, header or error contains text of the request.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.accounts.names_read import NamesUsedUpError
from app.api.problems import (
    INTERNAL,
    BadRequestError,
    Problem,
    RateLimitedError,
    TooLargeError,
    error_body,
    problem_of,
)
from app.api.state import state_of
from app.egress.budgets import TenantBudgetUsedUpError, TenantRevealsUsedUpError
from app.telemetry.logs import event_log
from app.telemetry.metrics import Metrics
from client_sdk.protocol import ErrorBody, ErrorEvent

MAX_FIELDS_TOLD = 5
log, _http_log = event_log("errors"), event_log("http")

_BY_STATUS = {
    400: Problem(400, "bad_request", "The request can't be read.", "Send JSON in UTF-8; see /openapi.json."),
    404: Problem(404, "not_found", "There is nothing at this address.", "See /openapi.json for the addresses."),
    405: Problem(405, "bad_method", "This address does not take that method.", "See /openapi.json for the methods."),
}
# Messages by pydantic's name of the rule that failed; the rule's own limits are filled in.
_RULES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "json_invalid": "is not valid JSON",
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_unicode": "holds characters that are no valid Unicode",
    "string_type": "must be text",
    "literal_error": "must be one of {expected}",
    "too_long": "has more than {max_length} items",
    "too_short": "has fewer than {min_length} items",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "list_type": "must be a list",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
}
_OBJECT_RULES = ("model_attributes_type", "model_type", "dict_type")


def error_event(error: BaseException, scope: Scope) -> ErrorEvent:
    """Returns `error` as the last event of a stream, after counting and logging it."""
    status, body = _counted(error, scope)
    return ErrorEvent(status=status, **body.model_dump())


async def error_reply(request: Request, error: Exception) -> Response:
    """Returns the reply for `error`; also for the framework's exceptions, whose own text may quote the request."""
    status, body = _counted(error, request.scope)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, RateLimitedError):
        headers["Retry-After"] = str(error.retry_after_s)
    elif isinstance(error, TenantBudgetUsedUpError | TenantRevealsUsedUpError | NamesUsedUpError):
        headers["Retry-After"] = str(error.renews_in_s)
    return JSONResponse(body.model_dump(), status, headers)


def _counted(error: BaseException, scope: Scope) -> tuple[int, ErrorBody]:
    """Returns the status and body for `error`, and counts and logs it: only those of the service itself as errors."""
    problem = _problem_of(error)
    body = error_body(error, scope["state"]["request_id"], problem)
    state_of(scope["app"]).metrics.count_error(body.code)
    if problem.status >= 500:
        log.error("error", id=body.id, code=body.code, status=problem.status, exc_info=error)
    else:
        log.info("refused", id=body.id, code=body.code, status=problem.status)
    return problem.status, body


def _problem_of(error: BaseException) -> Problem:
    if isinstance(error, RequestValidationError):
        # Only places and rules are told, because errors() quotes the input, which may contain names.
        return problem_of(BadRequestError(*_broken_rules(error.errors())))
    if isinstance(error, HTTPException):
        if isinstance(error.__cause__, TooLargeError):
            return problem_of(error.__cause__)
        return _BY_STATUS.get(error.status_code, INTERNAL)
    return problem_of(error)


def _broken_rules(errors: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Returns the faults as a sentence, and a hint.

    Unknown field names are left out, because the caller made them up.
    """
    told = list(dict.fromkeys(_sentence(found) for found in errors))
    more = len(told) - MAX_FIELDS_TOLD
    sentence = "; ".join(told[:MAX_FIELDS_TOLD]) + (f"; and {more} more" if more > 0 else "")
    return sentence + ".", "Correct these fields; /openapi.json says what each may hold."


def _sentence(found: Mapping[str, Any]) -> str:
    place = list(found["loc"])
    rule = found["type"]
    if rule == "json_invalid":
        return f"The body is not valid JSON (character {place[-1]})"
    if rule == "extra_forbidden":
        # The last part is left out: the caller made it up.
        return f"{_field(place[:-1])} has an unknown field"
    words = "must be an object" if rule in _OBJECT_RULES else _RULES.get(rule, "is not valid")
    limits = {key: value for key, value in found.get("ctx", {}).items() if isinstance(value, (int, float, str))}
    with suppress(KeyError):
        return f"{_field(place)} {words.format_map(limits)}"
    return f"{_field(place)} is not valid"


def _field(place: Sequence[str | int]) -> str:
    """Returns a field's path as it is written in code: `messages[3].content` of ("body", "messages", 3, "content")."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:]).lstrip(".")
    return f"`{text}`" if text else "The body"


REQUEST_ID = "X-Request-ID"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# All other methods are counted as "other", or clients could fill the metrics with words of theirs.
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


class RequestMiddleware:
    """Gives each request an id, logs its route's template (never path or query), and replies to uncaught errors.

    No exception goes on to the server, which would log its text with the traceback.
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
            if status:
                _http_log.error("reply_cut", id=request_id, exc_info=error)
                # Part of the reply has been sent, so only closing the connection is left.
                raise ConnectionAbortedError from None
            reply = await error_reply(Request(scope), error)
            await reply(scope, receive, send_framed)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.count_request(method, route, status)
            _http_log.info(
                "request",
                id=request_id,
                method=method,
                route=route,
                status=status,
                milliseconds=round((time.perf_counter() - started) * 1000, 1),
                caller=scope["state"].get("key_id"),
            )


class BodyLimit:
    """Refuses a body over its limit, both by its Content-Length and while it is read.

    Uploads of graphs have a limit of their own. Raises TooLargeError.
    """

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


MIN_UPLOAD_BYTES_A_S: Final = 10_000
"""The slowest upload that is not given up, in bytes a second. Chosen by hand: slower than any line that people use."""

_STALLED: Final = "The upload stopped, or came too slowly."
_STALLED_HINT: Final = "Send it again over a faster line, or packed as .gz."


class Deadline:
    """Ends a request after `seconds`, including the time to read its body.

    An upload may take a second more for each MIN_UPLOAD_BYTES_A_S that have come, and has no deadline after its end.

    `scope["state"]["timeout"]` is the running timeout. A streamed reply extends it, so that an error can still be sent
    as the last event when the time is over.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if is_upload(scope):
            await self._app(scope, self._steady(receive), send)
            return
        async with asyncio.timeout(self._seconds) as timeout:
            scope.setdefault("state", {})["timeout"] = timeout
            await self._app(scope, receive, send)

    def _steady(self, receive: Receive) -> Receive:
        until, is_open = asyncio.get_running_loop().time() + self._seconds, True

        async def receive_in_time() -> Message:
            nonlocal until, is_open
            if not is_open:
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise BadRequestError(_STALLED, _STALLED_HINT) from None
            until += len(message.get("body", b"")) / MIN_UPLOAD_BYTES_A_S
            is_open = message.get("more_body", False)
            return message

        return receive_in_time


def is_upload(scope: Scope) -> bool:
    """True for a multipart POST to /admin/graphs/{name} or to /admin/preview."""
    content_type = Headers(scope=scope).get("content-type", "")
    path: str = scope["path"]
    takes_files = path.startswith("/admin/graphs/") or path == "/admin/preview"
    return scope["method"] == "POST" and takes_files and content_type.startswith("multipart/form-data")
