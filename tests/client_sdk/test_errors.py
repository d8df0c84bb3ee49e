from __future__ import annotations

import pytest

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    BadRequestError,
    ConversationBusyError,
    ModelUnavailableError,
    NotAuthenticatedError,
    NotPermittedError,
    NotReadyError,
    RateLimitedError,
    RefusedError,
    ServerError,
    UnknownConversationError,
    UnknownGraphError,
    error_of,
)
from client_sdk.protocol import ErrorBody

BODY = ErrorBody(code="some_code", message="A sentence.", hint="Do this.", id="id-1").model_dump_json().encode()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, BadAnswerError),
        (401, NotAuthenticatedError),
        (403, NotPermittedError),
        (404, UnknownGraphError),
        (405, RefusedError),
        (409, ConversationBusyError),
        (422, BadRequestError),
        (429, RateLimitedError),
        (500, ServerError),
        (503, NotReadyError),
        (599, ServerError),
    ],
)
def test_each_status_has_its_class(status: int, kind: type[ArogError]) -> None:
    error = error_of(status, BODY)
    assert type(error) is kind
    assert (str(error), error.code, error.hint, error.id) == ("A sentence.", "some_code", "Do this.", "id-1")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "unknown_conversation", UnknownConversationError),
        (404, "unknown_graph", UnknownGraphError),
        (404, "unknown_job", RefusedError),
        (503, "model_unavailable", ModelUnavailableError),
    ],
)
def test_a_code_can_say_more_than_its_status(status: int, code: str, kind: type[ArogError]) -> None:
    body = ErrorBody(code=code, message="", hint="", id="").model_dump_json().encode()
    assert type(error_of(status, body)) is kind


@pytest.mark.parametrize("body", [b"", b"<html>Anna Keller</html>", b'{"detail": "Anna Keller"}', b"[]", b"\xff\xfe"])
def test_a_foreign_body_is_not_shown(body: bytes) -> None:
    error = error_of(502, body)
    assert str(error) == "the language model behind the service is not available (HTTP 502)"
    assert error.code == "http_502"
    assert "Anna" not in repr(error)


def test_a_message_is_one_line_without_control_characters_and_of_bounded_length() -> None:
    told = ErrorBody(code="c", message="a\x1b[31m\nb\u202e " + "x" * 5000, hint="h\r\nh", id="i\x00")
    error = error_of(500, told.model_dump_json().encode())
    assert str(error).startswith("a [31m b x")
    assert str(error).isprintable()
    assert len(str(error)) <= 500
    assert (error.hint, error.id) == ("h h", "i")
