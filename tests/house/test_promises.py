"""Every promise of docs/privacy.md is kept by tests that exist; docs/promises.md shows which."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.pages.promises_page import PAGE, page, read_groups

ROOT = Path(__file__).parents[2]
GROUPS = read_groups()
EXACTLY = [row for group in GROUPS for row in group.exactly]


def bullets(page: Path, heading: str) -> list[str]:
    """The points of a section, each on one line."""
    section = page.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [" ".join(point.split()) for point in re.split(r"^- ", section, flags=re.M)[1:]]


def test_privacy_gives_each_promise_in_its_sentence_and_no_other() -> None:
    told = [f"{group.promise.rstrip('.')} ([tests](promises.md#{group.anchor}))." for group in GROUPS]
    assert bullets(ROOT / "docs" / "privacy.md", "What is promised") == told


def test_the_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.write_docs`"


def test_a_promise_is_one_sentence_and_is_told_exactly() -> None:
    assert [each.promise for each in GROUPS if not re.fullmatch(r"[^.]+\.", each.promise) or not each.exactly] == []


def test_every_exact_promise_names_tests_that_exist() -> None:
    assert [row.says for row in EXACTLY if not row.kept_by or len(set(row.kept_by)) < len(row.kept_by)] == []
    named = [test.partition("::") for row in EXACTLY for test in row.kept_by]
    assert [name for path, _, name in named if not name.startswith("test_") or name not in functions_of(path)] == []


@cache
def functions_of(path: str) -> frozenset[str]:
    """The functions that pytest finds in a file: those at its top, and methods of its classes."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test"))]
    found = (node for scope in scopes for node in scope.body)
    return frozenset(node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
