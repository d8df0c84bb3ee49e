"""Errors as replies: every one an ErrorBody, and none with a word of the request in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

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
from client_sdk.protocol import ErrorBody, ErrorEvent

MAX_FIELDS_TOLD = 5
log = event_log("errors")

_BY_STATUS = {
    400: Problem(400, "bad_request", "The request can't be read.", "Send JSON in UTF-8; see /openapi.json."),
    404: Problem(404, "not_found", "There is nothing at this address.", "See /openapi.json for the addresses."),
    405: Problem(405, "bad_method", "This address does not take that method.", "See /openapi.json for the methods."),
}
# What is allowed, by pydantic's name of the rule that failed; the rule's own limits are filled in.
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


def add_error_handlers(app: FastAPI) -> None:
    """Turns the framework's own exceptions into an ErrorBody; all others pass on to the middleware around it."""
    app.add_exception_handler(RequestValidationError, _reply)
    app.add_exception_handler(HTTPException, _reply)


async def send_error(error: BaseException, scope: Scope, receive: Receive, send: Send) -> None:
    """The reply to `error`, for the layers outside the routes."""
    await _reply_to(error, Request(scope))(scope, receive, send)


async def _reply(request: Request, error: Exception) -> Response:
    return _reply_to(error, request)


def error_event(error: BaseException, scope: Scope) -> ErrorEvent:
    """`error`, counted and logged, as the end of a stream that has begun."""
    status, body = _counted(error, scope)
    return ErrorEvent(status=status, **body.model_dump())


def _reply_to(error: BaseException, request: Request) -> Response:
    status, body = _counted(error, request.scope)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if (seconds := _retry_after_s(error)) is not None:
        headers["Retry-After"] = str(seconds)
    return JSONResponse(body.model_dump(), status, headers)


_RENEWED = TenantBudgetUsedUpError | TenantRevealsUsedUpError | NamesUsedUpError


def _retry_after_s(error: BaseException) -> int | None:
    if isinstance(error, RateLimitedError):
        return error.retry_after_s
    return error.renews_in_s if isinstance(error, _RENEWED) else None


def _counted(error: BaseException, scope: Scope) -> tuple[int, ErrorBody]:
    """The status and body of `error`, counted; those of the service itself are logged."""
    problem = _problem_of(error)
    body = error_body(error, scope["state"]["request_id"], problem)
    state_of(scope["app"]).metrics.count_error(body.code)
    if problem.status >= 500:
        log.warning("error", id=body.id, code=body.code, status=problem.status, exc_info=error)
    return problem.status, body


def _problem_of(error: BaseException) -> Problem:
    if isinstance(error, RequestValidationError):
        # Only places and rules: errors() quotes the input, which may hold names.
        return problem_of(BadRequestError(*_broken_rules(error.errors())))
    if isinstance(error, HTTPException):
        if isinstance(error.__cause__, TooLargeError):
            return problem_of(error.__cause__)
        return _BY_STATUS.get(error.status_code, INTERNAL)
    return problem_of(error)


def _broken_rules(errors: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The fault, and a hint. Field names that the caller made up are left out."""
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
        # The last part is the caller's own word.
        return f"{_field(place[:-1])} has an unknown field"
    words = "must be an object" if rule in _OBJECT_RULES else _RULES.get(rule, "is not valid")
    limits = {key: value for key, value in found.get("ctx", {}).items() if isinstance(value, (int, float, str))}
    with suppress(KeyError):
        return f"{_field(place)} {words.format_map(limits)}"
    return f"{_field(place)} is not valid"


def _field(place: Sequence[str | int]) -> str:
    """`messages[3].content` from ("body", "messages", 3, "content")."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:]).lstrip(".")
    return f"`{text}`" if text else "The body"
