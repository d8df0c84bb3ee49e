"""Units and periods of the values in a question, and the relations that such a value may be compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.reader.meaning.question.measures import COMPARATIVE
from kg_store.text.quantities import MONEY, Unit, chosen_unit, unit_of_label, units_called
from kg_store.text.words import is_pseudonym

PERIODS: Final[Mapping[str, frozenset[str]]] = {
    "hour": frozenset({"hour", "hourly"}),
    "day": frozenset({"day", "daily"}),
    "week": frozenset({"week", "weekly"}),
    "month": frozenset({"month", "monthly"}),
    "year": frozenset({"year", "yearly", "annual", "annually", "annum"}),
}
_EACH: Final = frozenset({"a", "an", "per", "each", "every"})
_OF_TIME: Final = frozenset("last past next previous first ago old older younger newer earlier later before".split())
_PLAIN: Final = frozenset("more less fewer before after".split())


@dataclass(frozen=True, slots=True)
class StatedUnit:
    """The unit of a value by symbol and kind, and its period ("per month"), as stated after it; empty
    if not stated.
    """

    symbol: str = ""
    kind: str = ""
    period: str = ""

    def fits(self, label: str, value: str) -> bool:
        """True if values of the relation may be in this unit: 25 kilos fit neither a price nor a date."""
        unit = unit_of_label(label)
        if value != "number" or not self._is_for(label):
            return False
        if unit is None:
            return self.kind in ("", MONEY)
        return unit.symbol == self.symbol or (not self.symbol and unit.kind == MONEY)

    def _is_for(self, label: str) -> bool:
        words = set(label.lower().split())
        told = {period for period, names in PERIODS.items() if not names.isdisjoint(words)}
        return not (told and self.period) or self.period in told


def without_units(
    words: Sequence[str], labels: Collection[str], numbers: Collection[str]
) -> tuple[list[str], dict[str, StatedUnit]]:
    """Returns `words` without the units that relations of `labels` use, and by value the unit and period stated after
    it.

    "Heavier" before a value with a unit is made "more". `numbers`: the pseudonyms of values that are numbers.
    """
    of_labels = {unit for label in labels if (unit := unit_of_label(label)) is not None}
    found: dict[str, StatedUnit] = {}
    kept: list[str] = []
    at = 0
    while at < len(words):
        kept.append(words[at])
        at += 1
        if not (is_pseudonym(kept[-1]) and kept[-1][0] == "V"):
            if kept[-1] == "in" and (asked := _unit_behind(words, at, of_labels))[0] in of_labels:
                kept.pop()  # "The weight in kilos", if the graph holds it in kilos.
                at += asked[1]
            continue
        unit, length = _unit_behind(words, at, of_labels)
        at += length
        period = _period_behind(words, at, kept[-1] in numbers or unit is not None)
        if unit is not None or period:
            found[kept[-1]] = StatedUnit(unit.symbol if unit else "", unit.kind if unit else "", period)
        if unit is not None and kept[-2:-1] == ["than"] and kept[-3] in COMPARATIVE.keys() - _PLAIN:
            kept[-3] = "more" if COMPARATIVE[kept[-3]].number > 0 else "less"
    return kept, found


def is_foreign_unit(word: str) -> bool:
    """True of the name of a unit in which no relation is measured, so it cannot be compared; units of time are
    allowed.
    """
    units = units_called(word)
    return bool(units) and not any(unit.is_time for unit in units)


def _unit_behind(words: Sequence[str], at: int, of_labels: Collection[Unit]) -> tuple[Unit | None, int]:
    """The unit whose name begins at `at`, and its number of words: one that the labels use, or money. (None, 0)
    otherwise.
    """
    for length in (2, 1):
        units = units_called(" ".join(words[at : at + length]))
        chosen = chosen_unit(" ".join(words[at : at + length]), of_labels) if units else None
        if chosen is not None and chosen[0] == chosen[1]:
            around = {*words[max(0, at - 4) : at], *words[at + length : at + length + 1]}
            is_when = chosen[0].is_time and not _OF_TIME.isdisjoint(around)
            return (None, 0) if is_when else (chosen[0], length)
        if len(units) == 1 and units[0].kind == MONEY and all(unit.kind != MONEY for unit in of_labels):
            return units[0], length
    return None, 0


def _period_behind(words: Sequence[str], at: int, is_number: bool) -> str:
    """The period after a value ("a year", "per month"), which is no second limit; empty if there is none."""
    each, period = (*words[at : at + 2], "", "")[:2]
    return period if period in PERIODS and (each in ("a", "an") or (each in _EACH and is_number)) else ""
