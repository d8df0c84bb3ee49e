"""No sentence that reaches a user holds a word of our own: over the texts of the page, the service and the SDK."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "app" / "api" / "page" / "src"
OURS = re.compile(r"\b(ways|ways? on|(?<!way )rounds?|told|kin|fits?|in[- ]house|the house)\b", re.IGNORECASE)
# Whence sentences come: replies, errors, notes, reports, commands. Prompts and measures are for models and ourselves.
PLACES = (
    *("app/accounts", "app/api", "app/chat", "app/cli", "app/egress", "app/graphs", "app/main.py", "app/settings"),
    *("app/strategies", "app/wiring", "client_sdk", "kg_store"),
)
FOR_MODELS = ("prompts.py",)
MIN_WORDS = 3
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", re.DOTALL)
# What is put into a text is none of its words.
_PUT_IN = re.compile(r"\$\{[^{}]*\}")
# Between tags, and in quotes of all three kinds.
_SHOWN = re.compile(r">([^<>{}=;]+)<|\"([^\"\n]+)\"|'([^'\n]+)'|`([^`]+)`")


def is_sentence(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", text)) >= MIN_WORDS and " " in text.strip()


def python_files() -> list[Path]:
    found = [
        path
        for place in PLACES
        for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    return [path for path in found if not any(part in path.as_posix() for part in FOR_MODELS)]


def sentences_of(path: Path) -> Iterator[str]:
    """Texts of a module that are no docstrings, with a gap where something is put in."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "…".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | parts:
            yield node.value


def page_sentences(text: str) -> Iterator[str]:
    for found in _SHOWN.finditer(_PUT_IN.sub("…", _COMMENT.sub(" ", text))):
        yield " ".join(next(group for group in found.groups() if group is not None).split())


def ours_in(texts: Iterator[str]) -> list[str]:
    return [text for text in texts if is_sentence(text) and OURS.search(text)]


def test_the_scan_sees_such_words() -> None:
    text = '<p class="x">Nothing of it is told here</p> {n > 0 ? "3 things fit this" : `in ${n} rounds of it`} // told'
    assert len(ours_in(page_sentences(text))) == 3


@pytest.mark.parametrize("ending", ["*.tsx", "*.ts"])
def test_the_page_says_nothing_in_our_own_words(ending: str) -> None:
    files = list(PAGE.rglob(ending))
    assert files
    found = {path.name: ours_in(page_sentences(path.read_text("utf-8"))) for path in files}
    assert not {name: texts for name, texts in found.items() if texts}


def test_no_sentence_of_the_service_or_the_sdk_is_in_our_own_words() -> None:
    found = {path.relative_to(ROOT).as_posix(): ours_in(sentences_of(path)) for path in python_files()}
    assert not {name: texts for name, texts in found.items() if texts}
