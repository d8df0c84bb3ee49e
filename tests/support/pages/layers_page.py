"""The map of docs/architecture.md: the rooms of tests/layers.toml, each described by its own docstring."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- The map: written by `python -m tests.write_docs`. -->", "<!-- End of the map. -->"
DEEP = 2
"""The deepest level of rooms that are listed; the docstring of a folder describes deeper ones."""
PACKAGES = {
    "app": "The service",
    "kg_store": "The graphs and their names",
    "client_sdk": "The caller's side",
    "evaluation": "What measures, attacks and trains",
}


def may_import() -> dict[str, list[str]]:
    """Returns the table of tests/layers.toml: for each room what it may import beside itself."""
    table: dict[str, list[str]] = tomllib.loads((ROOT / "tests" / "layers.toml").read_text("utf-8"))["may_import"]
    return table


def page() -> str:
    """Returns the text of docs/architecture.md with its map generated anew."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    assert after, f"docs/architecture.md has no place for the map: {BEGIN} ... {END}"
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """Returns a list of rooms for each package, from the top layer down."""
    parts = []
    for package, title in PACKAGES.items():
        rooms = [room for room in may_import() if room.split(".")[0] == package]
        # A package itself is listed only if it has files at its top that may import something.
        rooms = [room for room in rooms if room != package or may_import()[room]]
        lines = [f"- `{place_of(room)}`: {said_of(room)}" for room in rooms if room.count(".") < DEEP]
        parts += [f"### {title}: `{package}/`", "", *lines, ""]
    return "\n".join(parts)


def place_of(room: str) -> str:
    path = Path(*room.split("."))
    return f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"


def said_of(room: str) -> str:
    """Returns the first paragraph of the room's docstring; for a package, what of it has no line of its own."""
    if room in PACKAGES:
        inner = sorted(path.parent.name for path in (ROOT / room).glob("*/__init__.py"))
        folders = [f"`{name}/`" for name in inner if f"{room}.{name}" not in may_import()]
        return ", ".join(["the files at its top", *folders])
    path = ROOT.joinpath(*room.split("."))
    source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    opening = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    return " ".join(opening.split()).rstrip(".")
