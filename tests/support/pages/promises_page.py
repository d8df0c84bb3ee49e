"""The promises of docs/privacy.md with their tests, read from tests/promises.toml, and the page that lists them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "promises.md"
_HEAD = """# Promises and their tests

<!-- Written by `python -m tests.write_docs` from tests/promises.toml. -->

[Privacy](privacy.md) gives each promise in a sentence. Here each is told exactly, with the files of its tests:
*app/egress/guard* is `tests/app/egress/test_guard.py`. The name of each test stands in `tests/promises.toml`; one that
fails, or is not there, fails the build. Each promise holds while the server and the master key are not in the
attacker's hands.
"""


@dataclass(frozen=True, slots=True)
class ExactPromise:
    """A promise in exact words, and the tests that keep it, each as `path::name`."""

    says: str
    kept_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromiseGroup:
    title: str
    promise: str
    exactly: tuple[ExactPromise, ...]

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def read_groups() -> list[PromiseGroup]:
    """Returns the groups of tests/promises.toml in order."""
    table = tomllib.loads((ROOT / "tests" / "promises.toml").read_text("utf-8"))
    return [
        PromiseGroup(
            each["title"],
            each["promise"],
            tuple(ExactPromise(row["says"], tuple(row["kept_by"])) for row in each["exactly"]),
        )
        for each in table["group"]
    ]


def page() -> str:
    """Returns the text of docs/promises.md."""
    parts = [_HEAD]
    for group in read_groups():
        said = [f"- {row.says}. *{_files(row.kept_by)}*" for row in group.exactly]
        parts += [f"## {group.title}", "", *said, ""]
    return "\n".join(parts)


def _files(tests: tuple[str, ...]) -> str:
    """Returns the files of the tests, each once, in the short form that the page's head explains."""
    files = [
        test.partition("::")[0].removeprefix("tests/").removesuffix(".py").replace("/test_", "/") for test in tests
    ]
    return ", ".join(dict.fromkeys(files))
