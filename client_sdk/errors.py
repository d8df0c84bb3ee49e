"""The SDK's error tree, and the one map from the service's status and code to a class.

ArogError
├── NotConfiguredError           a setting, the key file or client.toml is missing or not usable
├── UnreachableError             no connection, or it broke
│   └── StreamCutError           a stream ended before its answer was whole
├── RequestTimeoutError          no reply within the deadline
├── RefusedError                 the service will not do this request as it stands (other 4xx)
│   ├── NotAuthenticatedError    401
│   ├── NotPermittedError        403
│   ├── UnknownGraphError        404
│   ├── UnknownConversationError 404, code unknown_conversation
│   ├── ConversationBusyError    409
│   ├── TooLargeError            413
│   ├── BadRequestError          400, 422
│   └── RateLimitedError         429, with retry_after_s
├── ServerError                  500 and other 5xx
│   ├── ModelUnavailableError    502, and 503 with code model_unavailable
│   ├── NotReadyError            503, with retry_after_s
│   └── DeadlinePassedError      504
├── CannotOpenCapsuleError       sealed for another key or answer
└── BadAnswerError               what came back is no answer of this service
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from client_sdk.protocol import ErrorBody

_MAX_SENTENCE = 500


class ArogError(Exception):
    """The base of every error of the SDK. It never contains the text of a question or an answer.

    `code` is for programs, `hint` says what to do, `id` lets the service's operator find the error in the log.
    """

    def __init__(self, message: str, *, code: str = "", hint: str = "", id: str = "") -> None:
        super().__init__(message)
        self.code, self.hint, self.id = code, hint, id
        self.retry_after_s: float | None = None


class NotConfiguredError(ArogError):
    """A setting, the key file or client.toml is missing or can't be used."""


class UnreachableError(ArogError):
    """There is no connection to the service, or it broke before the reply was complete."""


class StreamCutError(UnreachableError):
    """A stream ended before the answer was complete.

    The text it gave is right but not all; the dialogue is unchanged.
    """


class RequestTimeoutError(ArogError):
    """The deadline passed. The service may have answered the question nevertheless."""


class RefusedError(ArogError):
    """The service refuses this request; sending the same again will not help."""


class NotAuthenticatedError(RefusedError):
    """The API key is missing, unknown or revoked."""


class NotPermittedError(RefusedError):
    """The API key has no right to this."""


class UnknownGraphError(RefusedError):
    """There is no graph of this name that the key may ask."""


class UnknownConversationError(RefusedError):
    """The conversation has expired or belongs to another key; `chat.reset()` begins a new one."""


class ConversationBusyError(RefusedError):
    """Another question of the same conversation is still being answered."""


class TooLargeError(RefusedError):
    """The question, the dialogue or the body is over a limit."""


class BadRequestError(RefusedError):
    """A field of the request is not valid; the message says which."""


class RateLimitedError(RefusedError):
    """There were too many requests; wait `retry_after_s` seconds, which is None if the service did not say."""


class ServerError(ArogError):
    """The service failed; its operator finds the failure in the log by `id`."""


class ModelUnavailableError(ServerError):
    """The language model behind the service did not give a usable reply."""


class NotReadyError(ServerError):
    """The service is starting or overloaded."""


class DeadlinePassedError(ServerError):
    """The service stopped work on the request at its own deadline."""


class CannotOpenCapsuleError(ArogError):
    """The names are sealed for another key or another answer, or were changed on the way."""


class BadAnswerError(ArogError):
    """The reply is not an answer of this service; the URL may be wrong."""


_BY_CODE: dict[tuple[int, str], type[ArogError]] = {
    (404, "unknown_conversation"): UnknownConversationError,
    (404, "unknown_answer"): RefusedError,
    (404, "not_ratable"): RefusedError,
    (404, "unknown_case"): RefusedError,
    (404, "unknown_job"): RefusedError,
    (404, "unknown_key"): RefusedError,
    (404, "unknown_device"): RefusedError,
    (409, "too_many_devices"): RefusedError,
    (503, "model_unavailable"): ModelUnavailableError,
}
_BY_STATUS: dict[int, tuple[type[ArogError], str]] = {
    400: (BadRequestError, "the request is not valid"),
    401: (NotAuthenticatedError, "the API key is missing or unknown"),
    403: (NotPermittedError, "this API key may not do that"),
    404: (UnknownGraphError, "there is no such graph, or the URL is not the service's own"),
    409: (ConversationBusyError, "another question of this conversation is still being answered"),
    413: (TooLargeError, "the request is too large"),
    422: (BadRequestError, "the request is not valid"),
    429: (RateLimitedError, "too many requests"),
    502: (ModelUnavailableError, "the language model behind the service is not available"),
    503: (NotReadyError, "the service is not ready"),
    504: (DeadlinePassedError, "the service ran out of time"),
}


def error_of(status: int, body: bytes, retry_after_s: float | None = None) -> ArogError:
    """Returns the error for a reply with `status`. From `body` only the fields of an ErrorBody are used."""
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
        return RefusedError, "the service refused the request"
    if status >= 500:
        return ServerError, "the service failed"
    return BadAnswerError, "unexpected reply; is this the service's own address?"


def _read_body(body: bytes) -> ErrorBody:
    # Imported late, because commands that ask no service do not need them.
    from pydantic import ValidationError

    from client_sdk.protocol import ErrorBody

    try:
        return ErrorBody.model_validate_json(body, extra="ignore")
    except ValidationError:
        # The body is no ErrorBody, for example a proxy's page; none of it is shown.
        return ErrorBody(code="", message="", hint="", id="")


def _one_line(text: str) -> str:
    """Returns `text` as one line without control characters, because errors are printed on terminals and logged."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[:_MAX_SENTENCE])
    return " ".join(line.split())


def in_sentences(error: ArogError, hints: Mapping[str, str]) -> str:
    """Returns one line: what happened, what to do (from `hints` by the code, else the error's own), and the id."""
    hint = hints.get(error.code, error.hint)
    told = [part for part in (str(error), hint[:1].upper() + hint[1:]) if part]
    ended = [part if part.endswith((".", "?", "!")) else f"{part}." for part in told]
    return " ".join([*ended, f"(id {error.id})"] if error.id else ended)


def tell_failure(error: BaseException, program: str) -> None:
    """Prints where something failed inside `program`, without the error's text, which may contain names."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    print(f"arog: something failed inside {program}: {type(error).__name__}{where}", file=sys.stderr)
