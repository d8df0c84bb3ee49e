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


_PLACED: Final = PLACES | PART | frozenset("is are of the home residence location located lives live based".split())
"""All that the label of a relation may hold that says where something is, and no more."""


def says_where(labels: Iterable[str]) -> bool:
    """True if each of some labels says where something is: `address`, `is located in`, `place of birth`."""
    words = [set(label.lstrip("^").lower().split()) for label in labels]
    return bool(words) and all(each & (WHERE | PART) for each in words)


def are_only_places(labels: Iterable[str]) -> bool:
    """True if each label says that alone: `home address`, and not `born in`, `works at` or `place of birth`."""
    words = [set(label.lstrip("^").lower().split()) for label in labels]
    return bool(words) and all(each <= _PLACED and each & (WHERE | PART) for each in words)
