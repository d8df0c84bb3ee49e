"""Reasons why no connection to an endpoint came about, in words that hold no address and nothing that was sent."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN)


def connection_reason(error: BaseException) -> str:
    """The reason of the deepest cause that is known; "" for none."""
    return next((reason for each in _causes(error) if (reason := _reason_of(each))), "")


def _reason_of(error: BaseException) -> str:
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case socket.gaierror():
            return "its host name is not known"
        case ssl.SSLCertVerificationError():
            return "its certificate is not trusted"
        case ssl.SSLError():
            return "no TLS connection came about"
        case OSError() if error.errno in _NO_ROUTE:
            return "there is no route to its host"
        case _:
            return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that led to it; several addresses of a host fail as a group."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in error.exceptions:
                yield from _causes(each)
        error = error.__cause__ or error.__context__
