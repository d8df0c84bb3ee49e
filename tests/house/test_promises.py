"""Every promise of docs/privacy.md is kept by tests that exist; docs/promises.md shows which."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.pages.promises_page import PAGE, ExactPromise, PromiseGroup, page, read_groups

ROOT = Path(__file__).parents[2]
GROUPS = read_groups()
EXACTLY = [row for group in GROUPS for row in group.exactly]
KEPT_BY = [(row.says, test) for row in EXACTLY for test in row.kept_by]


def bullets(page: Path, heading: str) -> list[str]:
    """The points of a section, each on one line."""
    section = page.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [" ".join(point.split()) for point in re.split(r"^- ", section, flags=re.M)[1:]]


def test_privacy_gives_each_promise_in_its_sentence_and_no_other() -> None:
    told = [f"{group.promise.rstrip('.')} ([tests](promises.md#{group.anchor}))." for group in GROUPS]
    assert bullets(ROOT / "docs" / "privacy.md", "What is promised") == told


def test_the_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.write_docs`"


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.anchor)
def test_a_promise_is_one_sentence_and_is_told_exactly(group: PromiseGroup) -> None:
    assert re.fullmatch(r"[^.]+\.", group.promise)
    assert group.exactly


@pytest.mark.parametrize("row", EXACTLY, ids=lambda row: row.says[:60])
def test_every_exact_promise_names_a_test(row: ExactPromise) -> None:
    assert row.kept_by
    assert len(set(row.kept_by)) == len(row.kept_by)


@pytest.mark.parametrize(("promise", "test"), KEPT_BY, ids=[test for _, test in KEPT_BY])
def test_the_test_of_a_promise_exists(promise: str, test: str) -> None:
    path, _, name = test.partition("::")
    assert name.startswith("test_"), promise
    assert name in functions_of(path), promise


@cache
def functions_of(path: str) -> frozenset[str]:
    """The functions that pytest finds in a file: those at its top, and methods of its classes."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test"))]
    found = (node for scope in scopes for node in scope.body)
    return frozenset(node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
