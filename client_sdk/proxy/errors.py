"""Errors in the form of OpenAI's and of Anthropic's protocol, and the one map from the SDK's errors to them.

Clients of both raise by the status: 400 BadRequestError, 401 AuthenticationError, 403 PermissionDeniedError, 404
NotFoundError, 409 ConflictError, 429 RateLimitError, 500 and above InternalServerError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from client_sdk.errors import (
    ArogError,
    BadRequestError,
    ConversationBusyError,
    DeadlinePassedError,
    ModelUnavailableError,
    NotAuthenticatedError,
    NotPermittedError,
    NotReadyError,
    RateLimitedError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
    TooLargeError,
    UnknownGraphError,
    UnreachableError,
)

_INVALID, _SERVER = "invalid_request_error", "server_error"
_ANTHROPIC_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}


@dataclass(slots=True)
class ProxyError(Exception):
    """An error reply. Its words are the proxy's or the service's own sentences: no question, answer or name."""

    status: int
    sentence: str
    type: str
    code: str
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def openai_body(self) -> dict[str, Any]:
        return {"error": {"message": self.sentence, "type": self.type, "param": self.param, "code": self.code}}

    @property
    def anthropic_body(self) -> dict[str, Any]:
        kind = _ANTHROPIC_TYPES.get(self.status) or (_INVALID if self.status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": self.sentence, "code": self.code}}


def bad_request(sentence: str, param: str | None = None, code: str = "bad_request") -> ProxyError:
    return ProxyError(400, sentence, _INVALID, code, param)


def unknown_model() -> ProxyError:
    sentence = "there is no such model for this key; GET /v1/models lists those there are"
    return ProxyError(404, sentence, _INVALID, "model_not_found", "model")


def internal() -> ProxyError:
    return ProxyError(500, "something failed inside the proxy", _SERVER, "internal", headers=_no_retry())


_BY_KIND: tuple[tuple[type[ArogError], int, str, str], ...] = (
    (NotAuthenticatedError, 401, "authentication_error", "invalid_api_key"),
    (NotPermittedError, 403, "permission_error", ""),
    (ConversationBusyError, 409, _INVALID, ""),
    (TooLargeError, 400, _INVALID, "context_length_exceeded"),
    (BadRequestError, 400, _INVALID, ""),
    (RateLimitedError, 429, "rate_limit_error", "rate_limit_exceeded"),
    (RefusedError, 400, _INVALID, ""),
    (ModelUnavailableError, 502, _SERVER, ""),
    (NotReadyError, 503, _SERVER, ""),
    (DeadlinePassedError, 504, _SERVER, ""),
    (ServerError, 500, _SERVER, ""),
    (RequestTimeoutError, 504, _SERVER, ""),
    (UnreachableError, 502, _SERVER, ""),
)
_BY_CODE: Mapping[str, tuple[int, str, str]] = {
    "strategy_not_offered": (404, _INVALID, "model_not_found"),
    "budget_used_up": (429, "insufficient_quota", "insufficient_quota"),
}
# For all other errors a retry would cost the same again and fail the same way.
_WORTH_A_RETRY = (RateLimitedError, NotReadyError, ConversationBusyError, UnreachableError)


def error_for(error: ArogError) -> ProxyError:
    """Returns the error that a client gets for an error of the SDK."""
    if isinstance(error, UnknownGraphError):
        return unknown_model()
    found = next(((status, kind, code) for cls, status, kind, code in _BY_KIND if isinstance(error, cls)), None)
    status, kind, code = _BY_CODE.get(error.code) or found or (502, _SERVER, "")
    headers = {} if isinstance(error, _WORTH_A_RETRY) and error.code not in _BY_CODE else _no_retry()
    if error.retry_after_s is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after_s)))
    param = "model" if code == "model_not_found" else None
    return ProxyError(status, _sentence(error), kind, code or error.code, param, headers)


def _sentence(error: ArogError) -> str:
    """Returns one line: what happened, what to do, and the id to look up at the service."""
    told = [str(error), error.hint, f"id {error.id}" if error.id else ""]
    return "; ".join(part.rstrip(". ") for part in told if part)


def _no_retry() -> dict[str, str]:
    """Returns the header that keeps official clients from sending the request again by themselves."""
    return {"x-should-retry": "false"}
