"""Every promise of docs/privacy.md names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "docs" / "privacy.md").read_text("utf-8").split("## What is promised")[1].split("\n## ")[0]
ROWS = [row.strip("| ").split(" | ") for row in TABLE.splitlines() if row.startswith("| ")][1:]
PROMISES = [(promise, test) for promise, tests in ROWS for test in re.findall(r"`(tests/[^`]+)`", tests)]


def test_every_row_names_a_test() -> None:
    assert ROWS
    assert {promise for promise, _ in ROWS} == {promise for promise, _ in PROMISES}


@pytest.mark.parametrize(("promise", "test"), PROMISES, ids=[test for _, test in PROMISES])
def test_the_test_of_a_promise_exists(promise: str, test: str) -> None:
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in functions, promise
