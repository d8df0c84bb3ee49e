"""Checks on the text of the code that no linter makes: docstrings, and how long functions and files are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 500
PACKAGES = ("app", "client_sdk", "kg_store", "evaluation")
_QUESTION_WORD = re.compile(r"(What|Whether|How)\b")
_DOCSTRING = re.compile(r'^[^\S\n]*"""(\S.*)', re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A module, class or function; `lines` is 0 for what is no function."""

    where: str
    docstring: str
    lines: int


@cache
def texts(*folders: str) -> dict[str, str]:
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def definitions(*folders: str) -> list[Definition]:
    return [one for name, text in texts(*folders).items() for one in defined(name, ast.parse(text, name))]


def defined(name: str, tree: ast.AST) -> Iterator[Definition]:
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            where = f"{name}:{getattr(node, 'name', '')}"
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 if isinstance(node, Function) else 0
            yield Definition(where, ast.get_docstring(node) or "", lines)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all that lies in it but expressions, which hold no definition: most of a tree is left out."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from statements(child)


def test_a_docstring_says_what_the_thing_is_or_does() -> None:
    found = definitions(*PACKAGES, "tests")
    assert len(found) > 1
    assert not [one.where for one in found if _QUESTION_WORD.match(one.docstring)]


def test_a_docstring_of_a_constant_says_what_it_is() -> None:
    found = [(name, said) for name, text in texts(*PACKAGES, "tests").items() for said in _DOCSTRING.findall(text)]
    assert len(found) > 1
    assert not [(name, said) for name, said in found if _QUESTION_WORD.match(said)]


def test_no_function_is_longer_than_forty_lines() -> None:
    long = [one for one in definitions(*PACKAGES, "tests") if one.lines > MAX_FUNCTION_LINES]
    assert not [(one.where, one.lines) for one in long if not re.search("^tests/|/migrations/", one.where)]


def test_no_file_is_longer_than_five_hundred_lines() -> None:
    found = texts(*PACKAGES, "tests").items()
    lengths = {name: len(text.splitlines()) for name, text in found if not name.startswith("tests/")}
    assert len(lengths) > 1
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES}
