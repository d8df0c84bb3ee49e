"""Units of measure by their names, and which of them the labels of a schema use."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

MONEY: Final = "money"
_CALENDAR: Final = frozenset({"days", "months"})
_SINGULAR: Final = frozenset("day week month year second hour minute".split())
"""Singular times: in a label they say what a value is (year built, weekday), and are not a unit."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measure. `factor`: its size in the base unit of its `kind`; `word`: its plain name in the plural."""

    symbol: str
    kind: str
    factor: Decimal
    word: str

    @property
    def is_time(self) -> bool:
        return self.kind == "time" or self.kind in _CALENDAR

    def converts_to(self, other: Unit) -> bool:
        """True if amounts can be converted to `other`; never between currencies."""
        return self == other or (self.kind == other.kind != MONEY)


def units_called(name: str) -> tuple[Unit, ...]:
    """Returns the units with this name, in any case; "pounds" are two."""
    return _units().get(name.lower(), ())


def unit_names() -> Collection[str]:
    """Returns all names of units, in lower case."""
    return _units().keys()


@lru_cache(maxsize=16_384)
def unit_of_label(label: str) -> Unit | None:
    """Returns the unit at the end of a label ("weight kg", "dose in mg"), or None."""
    words = label.lower().rpartition("|")[2].replace("(", " ").replace(")", " ").split()
    if len(words) < 2 or words[-1] in _SINGULAR:
        return None
    found = units_called(words[-1])
    return found[0] if len(found) == 1 else None


def chosen_unit(name: str, of_schema: Collection[Unit]) -> tuple[Unit, Unit] | None:
    """Returns the unit that `name` means and the schema's unit to convert it to; None if there is none, or several."""
    meant = [(unit, other) for unit in units_called(name) for other in of_schema if unit.converts_to(other)]
    same = [pair for pair in meant if pair[0] == pair[1]]
    chosen = same or meant
    return chosen[0] if len(chosen) == 1 else None


@cache
def _units() -> Mapping[str, tuple[Unit, ...]]:
    table = tomllib.loads((files("kg_store.text.numbers") / "units.toml").read_text("utf-8"))
    found: defaultdict[str, list[Unit]] = defaultdict(list)
    for kind, units in table.items():
        for symbol, (factor, *names) in units.items():
            for name in names:
                found[name].append(Unit(symbol, kind, Decimal(factor), names[0]))
    return {name: tuple(units) for name, units in found.items()}
