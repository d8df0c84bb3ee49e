"""The picture of the layers, docs/pictures/layers.svg, drawn from tests/layers.toml."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from tests.support.pages.layers_page import may_import

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "docs" / "pictures" / "layers.svg"
WIDTH, MARGIN, GAP, BAR, HEAD = 960, 14, 8, 34, 34
COLOURS = {"app": "#f3f4f6", "client_sdk": "#fdf1ef", "kg_store": "#eef4fd"}
EDGES = {"app": "#c5c9d0", "client_sdk": "#e3b8b2", "kg_store": "#b3c9e8"}
TITLES = {
    "app": "app: the service",
    "client_sdk": "client_sdk: the caller's side",
    "kg_store": "kg_store: the graphs and their names",
}
_TITLE = "The layers of the three packages: a room may import what lies below it, never what lies above"
_STYLE = (
    ".room { fill: #ffffff; stroke: #888; rx: 6; } text { fill: #222; } .head { font-weight: 600; }"
    " .small { fill: #555; font-size: 12px; }"
)

Floors = list[list[str]]


def picture() -> str:
    """Returns the picture as SVG: `app` beside the SDK, whose wire types it shares, both on top of `kg_store`."""
    left = 600
    app, sdk, store = floors_of("app"), floors_of("client_sdk"), floors_of("kg_store")
    tall = max(_height(app), _height(sdk))
    parts = [
        *_panel("app", app, (MARGIN, 44), left, tall),
        *_panel("client_sdk", sdk, (2 * MARGIN + left, 44), WIDTH - left - 3 * MARGIN, tall),
        *_panel("kg_store", store, (MARGIN, 44 + tall + MARGIN), WIDTH - 2 * MARGIN, _height(store)),
    ]
    high = 44 + tall + MARGIN + _height(store) + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" font-family="system-ui, sans-serif"'
        f' font-size="14" role="img" aria-labelledby="title">\n  <title id="title">{_TITLE}</title>\n'
        f'  <style>{_STYLE}</style>\n  <rect width="{WIDTH}" height="{high}" rx="10" fill="#fafafa"/>\n'
        f'  <text x="{MARGIN}" y="28">A room may import what lies below it, never what lies above.</text>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"


def floors_of(package: str) -> Floors:
    """Returns the package's rooms by layer, top layer first; each room stands as low as its imports allow."""
    needs = _needs(package)
    rooms = [room for room in needs if room != package or may_import()[room]]
    below = {room: needs[room] & set(rooms) for room in rooms}
    height: dict[str, int] = {}
    while len(height) < len(below):
        ready = [room for room in rooms if room not in height and below[room] <= height.keys()]
        assert ready, "a circle"
        height |= {room: max((height[need] + 1 for need in below[room]), default=0) for room in ready}
    return [[room for room in rooms if height[room] == floor] for floor in range(max(height.values()), -1, -1)]


def _needs(package: str) -> dict[str, set[str]]:
    """Map each room of the second level to the other rooms of the package that it or its inner rooms may import."""
    table = {room: names for room, names in may_import().items() if room.split(".")[0] == package}
    rooms = list(dict.fromkeys(".".join(room.split(".")[:2]) for room in table))
    needs: dict[str, set[str]] = {room: set() for room in rooms}
    for inner, names in table.items():
        room = ".".join(inner.split(".")[:2])
        for name in names:
            # The package's own name stands for all of its rooms further down in the table.
            whole = set(rooms[rooms.index(room) + 1 :]) if name == package else {".".join(name.split(".")[:2])}
            needs[room] |= whole & set(rooms)
        needs[room].discard(room)
    return needs


def _inner(room: str) -> list[str]:
    """Returns the names of the folders in a room."""
    return sorted(path.parent.name for path in ROOT.joinpath(*room.split(".")).glob("*/__init__.py"))


def _height(floors: Floors) -> int:
    return HEAD + len(floors) * (BAR + GAP) + GAP


def _panel(package: str, floors: Floors, corner: tuple[int, int], width: int, height: int) -> Iterator[str]:
    x, y = corner
    fill = f'fill="{COLOURS[package]}" stroke="{EDGES[package]}"'
    yield f'  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" {fill}/>'
    yield f'  <text x="{x + 14}" y="{y + 23}" class="head">{escape(TITLES[package])}</text>'
    bar = (height - HEAD - GAP) // len(floors) - GAP
    for row, rooms in enumerate(floors):
        each = (width - 2 * MARGIN - (len(rooms) - 1) * GAP) // len(rooms)
        for column, room in enumerate(rooms):
            place = (x + MARGIN + column * (each + GAP), y + HEAD + row * (bar + GAP))
            yield from _room(room, place, each, bar)


def _room(room: str, place: tuple[int, int], width: int, height: int) -> Iterator[str]:
    x, y = place
    name = "client.py, restore.py, ..." if room == "client_sdk" else room.partition(".")[2]
    inner = " · ".join(_inner(room)) if "." in room else ""
    if (len(name) + len(inner)) * 8 + 22 > width:
        inner = ""
    words = f'<tspan dx="10" class="small">{escape(inner)}</tspan>' if inner else ""
    yield f'  <rect class="room" x="{x}" y="{y}" width="{width}" height="{height}"/>'
    yield f'  <text x="{x + 12}" y="{y + height // 2 + 5}">{escape(name)}{words}</text>'
