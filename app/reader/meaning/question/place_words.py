"""Words of places: by them relations say where something is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

WHERE: Final = frozenset(
    "in at from to on near inside location place address street city town country region venue room site origin "
    "destination residence home based located headquarters office building floor".split()
)
"""Words of relations that say where something is."""
PLACES: Final = frozenset("city town village country region county state province district place address".split())
PART: Final = frozenset("part parts in within inside parent belongs".split())


def says_where(labels: Iterable[str]) -> bool:
    """True if each of some labels says where something is: `address`, `city`, `is located in`."""
    words = [set(label.lstrip("^").lower().split()) for label in labels]
    return bool(words) and all(each & (WHERE | PART) for each in words)
