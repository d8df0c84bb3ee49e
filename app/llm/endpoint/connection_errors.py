"""Explains why no connection to an endpoint was made, in words without any address and without
anything that was sent.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN)


def connection_reason(error: BaseException) -> str:
    """Returns the reason of the deepest known cause; an empty text if none is known."""
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
    """Yields the error and all its causes, including the members of groups, since each address of a host may fail."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in error.exceptions:
                yield from _causes(each)
        error = error.__cause__ or error.__context__
