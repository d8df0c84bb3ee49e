"""Checks on the text of the code that no linter makes: docstrings, and how long functions and files are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 300
_QUESTION_WORD = re.compile(r"(What|Whether|How)\b")

FILES = [
    path.relative_to(ROOT).as_posix()
    for package in ("app", "client_sdk", "kg_store")
    for path in sorted((ROOT / package).rglob("*.py"))
]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def nodes(name: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse((ROOT / name).read_text("utf-8"), name))


@pytest.mark.parametrize("name", FILES)
def test_a_docstring_says_what_the_thing_is_or_does(name: str) -> None:
    documented = (node for node in nodes(name) if isinstance(node, ast.Module | ast.ClassDef | Function))
    says = (ast.get_docstring(node) or "" for node in documented)
    assert not [text for text in says if _QUESTION_WORD.match(text)]


@pytest.mark.parametrize("name", [name for name in FILES if "/migrations/" not in name])
def test_no_function_is_longer_than_forty_lines(name: str) -> None:
    functions = (node for node in nodes(name) if isinstance(node, Function))
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert not {function: lines for function, lines in lengths.items() if lines > MAX_FUNCTION_LINES}


@pytest.mark.parametrize("name", FILES)
def test_no_file_is_longer_than_three_hundred_lines(name: str) -> None:
    assert len((ROOT / name).read_text("utf-8").splitlines()) <= MAX_FILE_LINES
