"""Troubleshooting by error code: problems of the service and codes of the SDK, each with what to do."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

from app.accounts.api_keys import BadGrantError
from app.api.layers import _BY_STATUS
from app.api.problems import _KINDS, INTERNAL, BadRequestError, Problem, RateLimitedError, TooLargeError, problem_of
from app.graphs.jobs import AmbiguousNameError, ErasureUnfinishedError
from kg_store.errors import LoadError, PolicyError

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "troubleshooting.md"
TO_DO: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parents[1] / "troubleshooting.toml").read_text("utf-8")
)  # fmt: skip
_MADE = (
    BadRequestError("", ""), TooLargeError(1, ""), RateLimitedError(1), LoadError(""), PolicyError(""),
    AmbiguousNameError(2), ErasureUnfinishedError(""), BadGrantError(""),
)  # fmt: skip
# The messages of these codes depend on the request, so that the page has a general sentence instead.
_SAYS_ITSELF = {
    "bad_request": "The message names the field that is missing or not allowed.",
    "too_large": "The request is over its limit.",
    "ambiguous_name": "Several things of the graph have that name.",
    "forget_unfinished": "The erasure is not finished.",
    "load_failed": "The message names the file, the line and the reason.",
    "bad_policy": "The message names the field and what is allowed there.",
    "bad_grant": "The message says what is wrong with the grant.",
}
_HEAD = """# Troubleshooting

<!-- Written by `python -m tests.write_docs` from app/api/problems.py and tests/support/troubleshooting.toml. -->

Every error has a code, a sentence and what to do; those of the service have an id too, which its log has beside the
place where it failed. No error quotes a question or a name. In the terminal the sentence is shown, in Python
`error.code` has the code, over HTTP the body has `{"code", "message", "hint", "id"}`.

| what you see | look at |
|---|---|
"""


def page() -> str:
    """Returns the text of docs/troubleshooting.md."""
    seen = [f"| {what} | {where} |" for what, where in TO_DO["seen"].items()]
    parts = [
        _HEAD + "\n".join(seen),
        "",
        "## The service",
        "",
        "| code | status | what it says | what to do |",
        "|---|---|---|---|",
    ]
    parts += [_row(code, told) for code, told in sorted(service_problems().items())]
    parts += ["", "## The SDK, the command line, the proxy", "", "| code | what to do |", "|---|---|"]
    parts += [f"| `{code}` | {TO_DO['sdk'].get(code, '')} |" for code in sorted(sdk_codes())]
    return "\n".join(parts) + "\n"


def service_problems() -> dict[str, list[Problem]]:
    """Returns every problem of the service by its code."""
    found: dict[str, list[Problem]] = {}
    for problem in (*_KINDS.values(), *_BY_STATUS.values(), INTERNAL, *map(problem_of, _MADE)):
        found.setdefault(problem.code, []).append(problem)
    return found


def sdk_codes() -> set[str]:
    """Returns every code that the SDK gives to its own errors."""
    return set(_codes()) - {""}


def _codes() -> Iterator[str]:
    for path in (ROOT / "client_sdk").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                yield str(node.value.value)


def _row(code: str, problems: list[Problem]) -> str:
    statuses = ", ".join(str(status) for status in sorted({problem.status for problem in problems}))
    says = _SAYS_ITSELF.get(code) or " / ".join(dict.fromkeys(problem.message for problem in problems))
    return f"| `{code}` | {statuses} | {says.replace('|', chr(92) + '|')} | {TO_DO['service'].get(code, '')} |"
