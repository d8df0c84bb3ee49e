"""Who may import whom, and where each outside library lives: read from the source, nothing is imported."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("app", "client_sdk", "kg_store")
MAX_FILES = 15

TABLE = tomllib.loads((Path(__file__).parent / "layers.toml").read_text("utf-8"))
MAY_IMPORT: dict[str, list[str]] = TABLE["may_import"]
HOMES: dict[str, list[str]] = TABLE["homes"]


def inside(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(room + ".") for room in rooms)


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(path for package in OURS for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"), str(path))
    return found


def imports_of(tree: ast.AST, *, lazily: bool = True) -> Iterator[str]:
    """Every module that is imported; with `lazily` false, only what is imported with the module itself."""
    for node in ast.walk(tree) if lazily else at_import(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide who imports whom"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules() else str(node.module)


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or type_checking(node):
            continue
        yield node
        yield from at_import(node)


def type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def room_of(module: str) -> str:
    """The longest name of the table that the module lies in; "" for none."""
    return max((room for room in MAY_IMPORT if inside(module, (room,))), key=len, default="")


def folder_of(module: str) -> str:
    """The module's folder; a file that lies at the top of a package is a room of its own."""
    if ROOT.joinpath(*module.split(".")).is_dir():
        return module
    return folder if "." in (folder := module.rpartition(".")[0]) else module


def ours(tree: ast.AST) -> set[str]:
    return {name for name in imports_of(tree) if inside(name, OURS)}


@pytest.mark.parametrize("module", [module for module in modules() if module != "app"])
def test_a_module_imports_only_what_its_room_may(module: str) -> None:
    room = room_of(module)
    assert room, f"{module} has no room: add one to tests/layers.toml, and say why in the decision record"
    # A file that has a line of its own takes nothing of the folder around it.
    allowed = (room, *MAY_IMPORT[room])
    assert not {name for name in ours(modules()[module]) if not inside(name, allowed)}


def test_each_room_of_the_map_stands_above_all_that_it_may_import() -> None:
    floors = {room: floor for floor, room in enumerate(MAY_IMPORT)}
    for room, below in MAY_IMPORT.items():
        wrong = {name for name in below if name != room and floors.get(name, len(floors)) < floors[room]}
        assert not {name for name in wrong if not inside(room, (name,))}, room


def test_there_is_no_circle_among_folders() -> None:
    edges: dict[str, set[str]] = {}
    for module, tree in modules().items():
        folder = folder_of(module)
        edges.setdefault(folder, set()).update(folder_of(name) for name in ours(tree))
        edges[folder] -= {folder, *OURS}
    done: set[str] = set()
    while ready := {folder for folder, needs in edges.items() if folder not in done and needs & edges.keys() <= done}:
        done |= ready
    assert not set(edges) - done


def test_no_folder_holds_more_than_fifteen_files_of_code() -> None:
    counts: dict[str, int] = {}
    for module in modules():
        folder = module.rpartition(".")[0]
        if not ROOT.joinpath(*module.split(".")).is_dir():
            counts[folder] = counts.get(folder, 0) + 1
    assert not {folder: count for folder, count in counts.items() if count > MAX_FILES}
    assert counts["app"] == 3, "main.py, settings.py and secret_settings.py"


def test_every_folder_says_what_it_is() -> None:
    for module, tree in modules().items():
        if ROOT.joinpath(*module.split(".")).is_dir() and module not in OURS:
            assert isinstance(tree, ast.Module)
            assert ast.get_docstring(tree), module


def test_the_folders_of_the_tests_are_those_of_the_code() -> None:
    folders = {path.parent for package in OURS for path in (ROOT / "tests" / package).rglob("*.py")}
    assert {path for path in folders if not (ROOT / path.relative_to(ROOT / "tests")).is_dir()} == set()


@pytest.mark.parametrize("module", modules())
def test_a_strategy_imports_no_other_strategy(module: str) -> None:
    parts = module.split(".")
    siblings = {path.name for path in (ROOT / "app" / "strategies").iterdir() if path.is_dir()}
    if parts[:2] != ["app", "strategies"]:
        return
    own = parts[2] if len(parts) > 2 and parts[2] in siblings else ""
    used = {name.split(".")[2] for name in imports_of(modules()[module]) if name.startswith("app.strategies.")}
    assert not (used & siblings) - {own}


@pytest.mark.parametrize("module", modules())
def test_each_outside_library_is_imported_at_its_home_alone(module: str) -> None:
    if inside(module, ("app.evaluation",)):
        return
    for library, homes in HOMES.items():
        if any(inside(name, (library,)) for name in imports_of(modules()[module])):
            assert inside(module, tuple(homes)), library


def test_the_command_line_library_stays_in_cli_files() -> None:
    for module, tree in modules().items():
        if any(inside(name, ("typer", "rich")) for name in imports_of(tree)):
            assert {"cli", "cli_progress", "cli_tables", "cli_training", "cli_words"} & set(module.split(".")), module


def test_no_module_is_in_an_import_cycle() -> None:
    edges = {
        module: {name for name in imports_of(tree, lazily=False) if name in modules() and name != module}
        for module, tree in modules().items()
    }
    done: set[str] = set()
    while ready := {module for module, needs in edges.items() if module not in done and needs <= done}:
        done |= ready
    assert not set(edges) - done
