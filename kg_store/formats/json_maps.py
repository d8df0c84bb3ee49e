"""Objects in JSON whose keys are data: `{"EUR": {...}, "CHF": {...}}` is a list of currencies, not columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MIN_DATA_KEYS: Final = 15
MAX_SHARE: Final = 1 / 3
"""An object is a list by its keys where all records together have so many, and each in the mean at most this share of
them. Chosen by hand."""
MIN_ALIKE: Final = 5
"""So are this many objects with the same keys within one. Chosen by hand."""
KEY, VALUE = "key", "value"


@dataclass(slots=True)
class _Uses:
    """The keys of the objects at one place: `total` over `records` of them; `is_alike` while all hold like objects."""

    keys: set[str] = field(default_factory=set)
    records: int = 0
    total: int = 0
    is_alike: bool = True
    shape: frozenset[str] | None = None

    def see(self, found: Mapping[str, Any]) -> None:
        self.records += 1
        self.total += len(found)
        self.keys.update(found)
        for child in found.values():
            shape = frozenset(child) if isinstance(child, dict) else frozenset()
            self.shape = shape if self.shape is None else self.shape
            self.is_alike &= bool(shape) and shape == self.shape

    @property
    def has_data_keys(self) -> bool:
        if self.is_alike and len(self.keys) >= MIN_ALIKE:
            return True
        return len(self.keys) >= MIN_DATA_KEYS and self.total <= MAX_SHARE * len(self.keys) * self.records


def places_of_maps(records: Iterable[tuple[str, Mapping[str, Any]]]) -> frozenset[tuple[str, str]]:
    """The places of objects whose keys are data: the title of the table, and the column."""
    uses: dict[tuple[str, str], _Uses] = {}
    for title, record in records:
        for key, value in record.items():
            _see(uses, title, key, value)
    return frozenset(place for place, found in uses.items() if found.has_data_keys)


def _see(uses: dict[tuple[str, str], _Uses], title: str, column: str, value: object) -> None:
    if isinstance(value, dict):
        uses.setdefault((title, column), _Uses()).see(value)
        for key, child in value.items():
            _see(uses, title, f"{column} {key}", child)


def as_list(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of an object whose keys are data, each with its key."""
    return [{KEY: key, **(each if isinstance(each, dict) else {VALUE: each})} for key, each in found.items()]
