"""Who may import whom, and where each outside library lives: read from the source, nothing is imported."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("app", "client_sdk", "kg_store", "evaluation")

TABLE = tomllib.loads((ROOT / "tests" / "layers.toml").read_text("utf-8"))
MAY_IMPORT: dict[str, list[str]] = TABLE["may_import"]
HOMES: dict[str, list[str]] = TABLE["homes"]
BORDERS: dict[str, str] = TABLE["borders"]


def inside(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(room + ".") for room in rooms)


@dataclass(frozen=True, slots=True)
class Module:
    """`imports` are all of its modules; `at_import` those that are imported with it."""

    docstring: str
    imports: frozenset[str]
    at_import: frozenset[str]


@cache
def modules() -> dict[str, Module]:
    """Trees are not kept: together they take longer to look through than to make."""
    paths = {name_of(path): path for package in OURS for path in sorted((ROOT / package).rglob("*.py"))}
    return {name: read_module(path, frozenset(paths)) for name, path in paths.items()}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_module(path: Path, names: frozenset[str]) -> Module:
    tree = ast.parse(path.read_text("utf-8"), str(path))
    return Module(
        ast.get_docstring(tree) or "",
        frozenset(imported(ast.walk(tree), names)),
        frozenset(imported(at_import(tree), names)),
    )


def imported(nodes: Iterable[ast.AST], names: frozenset[str]) -> Iterator[str]:
    """The modules that these statements import; `names` are those of ours."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide who imports whom"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in names else str(node.module)


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


def ours(module: str) -> set[str]:
    return {name for name in modules()[module].imports if inside(name, OURS)}


def test_every_module_has_a_room() -> None:
    homeless = [module for module in modules() if module != "app" and not room_of(module)]
    assert not homeless, "add their rooms to tests/layers.toml, and say why in the decision record"


def test_a_module_imports_only_what_its_room_may() -> None:
    wrong = {}
    for module in modules():
        if room := room_of(module):
            # A file that has a line of its own takes nothing of the folder around it.
            allowed = (room, *MAY_IMPORT[room])
            wrong[module] = {name for name in ours(module) if not inside(name, allowed)}
    assert not {module: names for module, names in wrong.items() if names}


def test_each_room_of_the_map_stands_above_all_that_it_may_import() -> None:
    floors = {room: floor for floor, room in enumerate(MAY_IMPORT)}
    for room, below in MAY_IMPORT.items():
        wrong = {name for name in below if name != room and floors.get(name, len(floors)) < floors[room]}
        assert not {name for name in wrong if not inside(room, (name,))}, room


def test_a_room_with_a_border_is_entered_by_its_door() -> None:
    for room, door in BORDERS.items():
        outside = (name for name in modules() if not inside(name, (room, "evaluation")))
        crossing = [(name, each) for name in outside for each in ours(name) if inside(each, (room,))]
        assert {each for _, each in crossing} == {door}, crossing


def test_there_is_no_circle_among_folders() -> None:
    edges: dict[str, set[str]] = {}
    for module in modules():
        folder = folder_of(module)
        edges.setdefault(folder, set()).update(folder_of(name) for name in ours(module))
        edges[folder] -= {folder, *OURS}
    done: set[str] = set()
    while ready := {folder for folder, needs in edges.items() if folder not in done and needs & edges.keys() <= done}:
        done |= ready
    assert not set(edges) - done


def test_one_file_lies_at_the_top_of_the_service() -> None:
    assert [
        name
        for name in modules()
        if name.startswith("app.") and name.count(".") == 1 and not (ROOT / "app" / name[4:]).is_dir()
    ] == ["app.main"]


def test_every_folder_says_what_it_is() -> None:
    for name, module in modules().items():
        if ROOT.joinpath(*name.split(".")).is_dir() and name not in OURS:
            assert module.docstring, name


def test_the_folders_of_the_tests_are_those_of_the_code() -> None:
    folders = {path.parent for package in OURS for path in (ROOT / "tests" / package).rglob("*.py")}
    assert {path for path in folders if not (ROOT / path.relative_to(ROOT / "tests")).is_dir()} == set()


def test_a_strategy_imports_no_other_strategy() -> None:
    siblings = {path.name for path in (ROOT / "app" / "strategies").iterdir() if path.is_dir()}
    wrong = {}
    for module in modules():
        parts = module.split(".")
        if parts[:2] == ["app", "strategies"]:
            own = parts[2] if len(parts) > 2 and parts[2] in siblings else ""
            used = {name.split(".")[2] for name in modules()[module].imports if name.startswith("app.strategies.")}
            wrong[module] = (used & siblings) - {own}
    assert wrong
    assert not {module: names for module, names in wrong.items() if names}


def test_each_outside_library_is_imported_at_its_home_alone() -> None:
    assert not {
        (module, library)
        for module in modules()
        if not inside(module, ("evaluation",))
        for library, homes in HOMES.items()
        if any(inside(name, (library,)) for name in modules()[module].imports) and not inside(module, tuple(homes))
    }


def test_the_command_line_library_stays_in_cli_files() -> None:
    for module in modules():
        if any(inside(name, ("typer", "rich")) for name in modules()[module].imports):
            assert {
                "cli",
                "cli_dialogue",
                "cli_output",
                "cli_training",
            } & set(module.split(".")), module


def test_no_module_is_in_an_import_cycle() -> None:
    edges = {
        module: {name for name in modules()[module].at_import if name in modules() and name != module}
        for module in modules()
    }
    done: set[str] = set()
    while ready := {module for module, needs in edges.items() if module not in done and needs <= done}:
        done |= ready
    assert not set(edges) - done
