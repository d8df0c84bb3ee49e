"""The blocks of code in README and docs, and the comment before each that says how it is tested.

`<!-- runs -->` before a block of bash or python: the block is run and must succeed.
`<!-- runs, shows: TEXT -->`: the same, and its output must hold TEXT; `…` stands for anything in between.
`<!-- fails, shows: TEXT -->`: the block must fail and print TEXT.
`<!-- not run: REASON -->`: the block is not run.
`<!-- file: NAME -->` before any other block: its text is written to that file first.
Blocks of data (json, toml, ttl, csv, yaml, ini) need no comment: they must parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SHELLS = ("bash", "python")

Fate = Literal["runs", "fails", "not run", "file", "unmarked"]

_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?(?P<fence>`{3,})(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)$",
    re.M | re.S,
)
_MARK = re.compile(r"(?P<fate>runs|fails|not run|file)(?:(?:: |, shows: )(?P<told>.+))?")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code. `told` is the text that it must show, why it is not run, or the name of its file."""

    document: Path
    line: int
    language: str
    text: str
    fate: Fate
    told: str

    @property
    def where(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks_of(document: Path) -> Iterator[Block]:
    text = document.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        mark = _MARK.fullmatch(found["mark"] or "")
        fate, told = (mark["fate"], mark["told"] or "") if mark else ("unmarked", "")
        line = text.count("\n", 0, found.start("fence")) + 1
        yield Block(document, line, found["language"], found["text"], fate, told)  # type: ignore[arg-type]


def fences_of(document: Path) -> int:
    """Returns the number of lines in the document that begin or end a block, indented ones included."""
    return len(re.findall(r"^\s*`{3,}\w*$", document.read_text("utf-8"), re.M))


def shows(told: str, printed: str) -> bool:
    """Returns True if `printed` holds `told`, in which `…` stands for anything; all kinds of white space are equal."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in told.split("…")]
    return re.search(".*?".join(parts), printed, re.S) is not None
