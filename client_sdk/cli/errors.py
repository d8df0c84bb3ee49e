"""Errors on the command line: the sentence that is shown, and the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    CannotOpenCapsuleError,
    NotConfiguredError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
    UnreachableError,
)

if TYPE_CHECKING:
    from client_sdk.transport.flow import Wait

WRONG_USAGE = 2
STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""

_EXIT_CODES: tuple[tuple[type[ArogError], int], ...] = (
    (NotConfiguredError, WRONG_USAGE),
    (UnreachableError, 3),
    (RequestTimeoutError, 3),
    (RefusedError, 4),
    (ServerError, 5),
    (CannotOpenCapsuleError, 6),
    (BadAnswerError, 6),
)
# The service's own hints speak of HTTP.
_HINTS = {
    "not_authenticated": "Check AROG_API_KEY; whoever runs the service makes keys with `arog api-key create`",
    "unknown_graph": "Name another with --graph, or get a key for it: `arog api-key create --grant GRAPH`",
}


def error_line(error: ArogError) -> str:
    """One line: what happened, what to do, and the id to look it up."""
    parts = [f"arog: {_ended(str(error))}"]
    if hint := _HINTS.get(error.code, error.hint):
        parts.append(_ended(hint[0].upper() + hint[1:]))
    if error.id:
        parts.append(f"(id {error.id})")
    return " ".join(parts)


def tell_wait(wait: Wait) -> None:
    """Says that a question waits, and why, on standard error."""
    print(f"arog: {wait}", file=sys.stderr)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def exit_code_of(error: ArogError) -> int:
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)
