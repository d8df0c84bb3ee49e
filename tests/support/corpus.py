"""Words and sentences with what is read of them, as files of data (`corpus.toml` beside the tests).

The last of a row is what is right, the others are what is read. A section is judged as one: its `floor` is the share
that has to be right, all of it where none is given.
"""

from __future__ import annotations

import enum
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Corpus:
    sections: Mapping[str, Any]

    @classmethod
    def beside(cls, test: str) -> Corpus:
        return cls(tomllib.loads(Path(test).with_name("corpus.toml").read_text("utf-8")))

    def rows(self, name: str) -> list[list[Any]]:
        found: list[list[Any]] = self.sections[name]["rows"]
        return found

    def judge(self, name: str, read: Callable[..., object]) -> None:
        rows = self.rows(name)
        wrong = [(row, found) for row in rows if (found := plain(read(*row[:-1]))) != row[-1]]
        assert rows
        assert len(wrong) <= (1 - self.sections[name].get("floor", 1)) * len(rows), wrong


def plain(value: object) -> Any:
    """As TOML has it, in lists; nothing is an empty text."""
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return [[plain(key), plain(each)] for key, each in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)
