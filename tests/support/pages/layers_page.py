"""The map of docs/architecture.md: the rooms of tests/layers.toml, each in the words of its own docstring."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- The map: written by `python -m tests.write_docs`. -->", "<!-- End of the map. -->"
DEEP = 2
"""Rooms that lie deeper are told in the docstring of their folder."""
PACKAGES = {
    "app": "The service",
    "kg_store": "The graphs and their names",
    "client_sdk": "The caller's side",
    "evaluation": "What measures, attacks and trains",
}


def may_import() -> dict[str, list[str]]:
    """The table of tests/layers.toml: a room, and what it may import beside itself."""
    table: dict[str, list[str]] = tomllib.loads((ROOT / "tests" / "layers.toml").read_text("utf-8"))["may_import"]
    return table


def page() -> str:
    """The text of docs/architecture.md with its map written anew."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    assert after, f"docs/architecture.md has no place for the map: {BEGIN} ... {END}"
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """A list for each package, its rooms from the top floor down."""
    parts = []
    for package, title in PACKAGES.items():
        rooms = [room for room in may_import() if room.split(".")[0] == package]
        # No file lies at the top of the store but those that have rooms of their own.
        rooms = [room for room in rooms if room != package or may_import()[room]]
        lines = [f"- `{place_of(room)}`: {said_of(room)}" for room in rooms if room.count(".") < DEEP]
        parts += [f"### {title}: `{package}/`", "", *lines, ""]
    return "\n".join(parts)


def place_of(room: str) -> str:
    path = Path(*room.split("."))
    return f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"


def said_of(room: str) -> str:
    """The first sentence of the room's docstring; for a whole package, that it means the files at its top."""
    if room in PACKAGES:
        return "the files that lie at its top"
    path = ROOT.joinpath(*room.split("."))
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    opening = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    return " ".join(opening.split()).rstrip(".")
