"""The SDK's error tree, and the one map from the service's status and code to a class.

ArogError
├── NotConfigured               a setting, the key file or client.toml is missing or not usable
├── Unreachable                 no connection, or it broke
│   └── StreamCut               a stream ended before its answer was whole
├── Timeout                     no reply within the deadline
├── Refused                     the service will not do this request as it stands (other 4xx)
│   ├── NotAuthenticated        401
│   ├── NotPermitted            403
│   ├── UnknownGraph            404
│   ├── UnknownConversation     404, code unknown_conversation
│   ├── ConversationBusy        409
│   ├── TooLarge                413
│   ├── BadRequest              400, 422
│   └── RateLimited             429, with retry_after_s
├── ServerError                 500 and other 5xx
│   ├── ModelUnavailable        502, and 503 with code model_unavailable
│   ├── NotReady                503, with retry_after_s
│   └── DeadlinePassed          504
├── CannotOpenCapsule           sealed for another key or answer
└── BadAnswer                   what came back is no answer of this service
"""

from __future__ import annotations

from pydantic import ValidationError

from client_sdk.protocol import ErrorBody

_MAX_SENTENCE = 500


class ArogError(Exception):
    """Base of every error of the SDK. Never holds a question's or an answer's text.

    `code` is for programs, `hint` says what to do, `id` is what the service's operator can look up.
    """

    def __init__(self, message: str, *, code: str = "", hint: str = "", id: str = "") -> None:
        super().__init__(message)
        self.code, self.hint, self.id = code, hint, id
        self.retry_after_s: float | None = None


class NotConfigured(ArogError):
    """A setting, the key file or client.toml is missing or can't be used."""


class Unreachable(ArogError):
    """No connection to the service, or it broke before a whole reply was there."""


class StreamCut(Unreachable):
    """A stream ended before the answer was whole. What it gave is true, and not all; the dialogue is as before."""


class Timeout(ArogError):
    """The deadline passed. The service may have answered the question all the same."""


class Refused(ArogError):
    """The service will not do this request as it stands; asking the same again will not help."""


class NotAuthenticated(Refused):
    """The API key is missing, unknown or revoked."""


class NotPermitted(Refused):
    """The API key has no grant for this."""


class UnknownGraph(Refused):
    """No graph of this name for this key."""


class UnknownConversation(Refused):
    """The conversation has expired or is another's; `chat.reset()` begins a new one."""


class ConversationBusy(Refused):
    """Another question of the same conversation is still being answered."""


class TooLarge(Refused):
    """The question, the dialogue or the body is over a limit."""


class BadRequest(Refused):
    """A field of the request is not valid; the message says which."""


class RateLimited(Refused):
    """Too many requests; `retry_after_s` says when to come back, where the service said so."""


class ServerError(ArogError):
    """The service failed; `id` finds the failure in its log."""


class ModelUnavailable(ServerError):
    """The language model behind the service did not give a usable reply."""


class NotReady(ServerError):
    """The service is starting or overloaded."""


class DeadlinePassed(ServerError):
    """The service gave up on its own deadline."""


class CannotOpenCapsule(ArogError):
    """The names are sealed for another key or another answer, or were changed on the way."""


class BadAnswer(ArogError):
    """What came back is not an answer of this service; is the URL right?"""


_BY_CODE: dict[tuple[int, str], type[ArogError]] = {
    (404, "unknown_conversation"): UnknownConversation,
    (404, "unknown_answer"): Refused,
    (404, "unknown_job"): Refused,
    (404, "unknown_key"): Refused,
    (404, "unknown_device"): Refused,
    (409, "too_many_devices"): Refused,
    (503, "model_unavailable"): ModelUnavailable,
}
_BY_STATUS: dict[int, tuple[type[ArogError], str]] = {
    400: (BadRequest, "the request is not valid"),
    401: (NotAuthenticated, "the API key is missing or unknown"),
    403: (NotPermitted, "this API key may not do that"),
    404: (UnknownGraph, "there is no such graph, or the URL is not the service's own"),
    409: (ConversationBusy, "another question of this conversation is still being answered"),
    413: (TooLarge, "the request is too large"),
    422: (BadRequest, "the request is not valid"),
    429: (RateLimited, "too many requests"),
    502: (ModelUnavailable, "the language model behind the service is not available"),
    503: (NotReady, "the service is not ready"),
    504: (DeadlinePassed, "the service ran out of time"),
}


def error_of(status: int, body: bytes, retry_after_s: float | None = None) -> ArogError:
    """The error that a reply with `status` stands for. Only an ErrorBody's own fields are taken from `body`."""
    told = _read_body(body)
    kind, sentence = _BY_STATUS.get(status, _fallback(status))
    kind = _BY_CODE.get((status, told.code), kind)
    error = kind(
        _one_line(told.message) or f"{sentence} (HTTP {status})",
        code=_one_line(told.code) or f"http_{status}",
        hint=_one_line(told.hint),
        id=_one_line(told.id),
    )
    error.retry_after_s = retry_after_s
    return error


def _fallback(status: int) -> tuple[type[ArogError], str]:
    if 400 <= status < 500:
        return Refused, "the service refused the request"
    if status >= 500:
        return ServerError, "the service failed"
    return BadAnswer, "unexpected reply; is this the service's own address?"


def _read_body(body: bytes) -> ErrorBody:
    try:
        return ErrorBody.model_validate_json(body, extra="ignore")
    except ValidationError:
        # A proxy's page, for one: nothing of it is shown.
        return ErrorBody(code="", message="", hint="", id="")


def _one_line(text: str) -> str:
    """Errors are printed on terminals and written to logs: one line, no control characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[:_MAX_SENTENCE])
    return " ".join(line.split())
