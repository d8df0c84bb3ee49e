"""Why no connection came about, from the errors as libraries chain and group them."""

from __future__ import annotations

import errno
import socket
import ssl
from itertools import pairwise

import pytest

from app.llm.endpoint.transport import connection_reason


def chained(*errors: BaseException) -> BaseException:
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "127.0.0.1:9"), "connection refused"),
        (socket.gaierror(-2, "box.internal"), "its host name is not known"),
        (ssl.SSLCertVerificationError("box.internal"), "its certificate is not trusted"),
        (OSError(errno.EHOSTUNREACH, "box.internal"), "there is no route to its host"),
        (
            ExceptionGroup("all", [OSError("x"), ConnectionRefusedError(errno.ECONNREFUSED, "::1")]),
            "connection refused",
        ),
        (OSError("box.internal"), ""),
    ],
)
def test_the_reason_is_that_of_the_deepest_cause_and_holds_no_address(cause: BaseException, reason: str) -> None:
    assert connection_reason(chained(RuntimeError("a"), OSError("b"), cause)) == reason
