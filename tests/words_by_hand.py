"""Counts the words of English that are written by hand: `python -m tests.words_by_hand`, by room and kind of file.

Of code, the words of every string in what a module or a class assigns by name: lists of words, patterns, tables. What
is read off elsewhere (the lexicon, the demo graph, the evaluation) is no list of ours and is left out.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.graphs.markdown_table import markdown_table

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = ("app/reader", "app/chat", "app/strategies", "app/privacy", "app/graphs", "app/memory", "kg_store")
LEFT_OUT: Final = ("kg_store/lexicon",)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def words_of_code(file: Path) -> Iterator[str]:
    """The words of strings that are assigned at the top of `file` or of a class in it."""
    tree = ast.parse(file.read_text("utf-8"))
    places = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for place in places:
        for node in place.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                texts = (each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant))
                yield from (word for text in texts if isinstance(text, str) for word in _WORD.findall(text))


def words_of_toml(file: Path) -> Iterator[str]:
    """The words of all keys and texts of `file`."""
    waiting: list[object] = [tomllib.loads(file.read_text("utf-8"))]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, str):
            yield from _WORD.findall(each)


def counted() -> dict[str, Counter[str]]:
    """The number of words of each room, by kind of file."""
    found: dict[str, Counter[str]] = {room: Counter() for room in ROOMS}
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            if any(file.is_relative_to(ROOT / each) for each in LEFT_OUT):
                continue
            if file.suffix == ".py":
                found[room]["code"] += sum(1 for _ in words_of_code(file))
            elif file.suffix == ".toml":
                found[room]["toml"] += sum(1 for _ in words_of_toml(file))
    return found


def main() -> None:
    rows = [(room, kinds["code"], kinds["toml"], kinds.total()) for room, kinds in counted().items()]
    rows.append(("all", *(sum(row[at] for row in rows) for at in (1, 2, 3))))
    print(
        markdown_table(("room", "words in code", "words in TOML", "together"), [tuple(map(str, row)) for row in rows])
    )


if __name__ == "__main__":
    main()
