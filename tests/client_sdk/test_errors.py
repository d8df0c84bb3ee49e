from __future__ import annotations

import pytest

from client_sdk.errors import (
    error_of,
)
from client_sdk.protocol import ErrorBody


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
