"""Finds amounts with a unit in a text and converts them to the unit of the schema: half a ton -> 500 kg."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from kg_store.terms import ValueKind
from kg_store.text.literals import CURRENCY, DIGITS, plain_number, read_number
from kg_store.text.number_expressions import find_number_expressions

MONEY: Final = "money"
_CALENDAR: Final = frozenset({"days", "months"})
_SINGULAR: Final = frozenset("day week month year second hour minute".split())
"""Units of time in the singular: at the end of a label they say what a value is (year built, weekday)."""


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
        """Returns True if amounts can be converted to `other`; never between different currencies."""
        return self == other or (self.kind == other.kind != MONEY)


def units_called(name: str) -> tuple[Unit, ...]:
    """Returns the units with this name, in any case; several for an ambiguous name such as "pounds"."""
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


def unit_called_alone(label: str) -> Unit | None:
    """Returns the unit that a label consists of ("minutes"), or None; a singular ("day") says what a value is."""
    found = units_called(label) if label.lower() not in _SINGULAR else ()
    return replace(found[0], symbol=label.lower(), word=label.lower()) if len(found) == 1 else None


MAX_AS_WORD: Final = 5
"""Everyday numbers up to this one stay words, since a model may write them itself."""
DAYS: Final = "days"
"""The unit of the difference between two dates."""


def chosen_unit(name: str, of_schema: Collection[Unit]) -> tuple[Unit, Unit] | None:
    """Returns (unit that `name` means, unit of the schema to convert it to).

    A unit that the schema has itself precedes others. Returns None if there is no such pair, or several equally good
    ones.
    """
    meant = [(unit, other) for unit in units_called(name) for other in of_schema if unit.converts_to(other)]
    same = [pair for pair in meant if pair[0] == pair[1]]
    chosen = same or meant
    return chosen[0] if len(chosen) == 1 else None


@cache
def _units() -> Mapping[str, tuple[Unit, ...]]:
    table = tomllib.loads((files("kg_store.text") / "units.toml").read_text("utf-8"))
    found: defaultdict[str, list[Unit]] = defaultdict(list)
    for kind, units in table.items():
        for symbol, (factor, *names) in units.items():
            for name in names:
                found[name].append(Unit(symbol, kind, Decimal(factor), names[0]))
    return {name: tuple(units) for name, units in found.items()}


_DIGIT: Final = re.compile(r"\d")
_SHORTENED: Final = re.compile(
    rf"(?<![\w.,-]){CURRENCY}?({DIGITS})(k|mn|mio|bn|m)\s?{CURRENCY}?"
    r"(?=\s+(?:a|an|per|each|or|and|but|in|since|before|after)\b|[\s?!.,]*\Z)",
    re.IGNORECASE,
)
_ZEROS: Final = {"k": 3, "m": 6, "mn": 6, "mio": 6, "bn": 9}
_BEFORE: Final = re.compile(rf"(?<![\w.,-])({DIGITS})(\s?(?:-|–|to|and|or)\s?)\Z", re.IGNORECASE)
_JOINED: Final = re.compile(r"(?:-|–|\b(?:to|and|or))\s*\Z", re.IGNORECASE)
_ONE: Final = re.compile(r"\b(?:than|over|under|above|below|least|most|about)\s+(an?)\s+\Z", re.IGNORECASE)
_OF_TIME: Final = re.compile(
    r"\b(?:last|past|next|previous|first)\s*\Z|^\s*(?:ago|old|older|younger|earlier|later|before|after)\b",
    re.IGNORECASE,
)
_MAX_LOOK_BACK: Final = 24
_WORDED: Final = re.compile(
    "gram|kilo|ton|ounce|pound|met|inch|feet|foot|yard|mile|hectare|acre|lit|second|minute|hour|day|week|month|year"
    "|euro|dollar|franc|yen",
    re.IGNORECASE,
)
"""Parts of the names of units; a text without any of them has no amount in words."""

_DIGITS_KEPT: Final = Context(prec=12)


@dataclass(frozen=True, slots=True)
class Rewording:
    """A replacement: text[start:end] becomes `instead`."""

    start: int
    end: int
    instead: str


@dataclass(frozen=True, slots=True)
class _Quantity:
    start: int
    end: int
    number: Decimal
    name: str


def in_schema_units(text: str, of_schema: Collection[Unit]) -> list[Rewording]:
    """Returns replacements for the amounts in `text`, each in the unit of the schema; in order, not overlapping.

    Example: "half a ton" becomes 500 kg if the schema has kg. If the schema has no unit of that kind, or several, an
    amount keeps its own unit, so that it is not compared with others. If the schema has no units at all, amounts stay
    as they are, because the units of its values are unknown.
    """
    found: list[Rewording] = []
    quantities = _joined(text, list(_quantities(text)), of_schema) if of_schema else []
    for each in quantities:
        for wording in _said(text, each, of_schema):
            is_new = wording.instead.lower() != text[wording.start : wording.end].lower()
            if is_new and all(wording.start >= other.end for other in found):
                found.append(wording)
    spans = [(each.start, each.end) for each in quantities]
    has_metres = chosen_unit("m", of_schema) is not None
    for match in _SHORTENED.finditer(text) if _DIGIT.search(text) else ():
        is_taken = any(start < match.end() and match.start() < end for start, end in spans)
        if not is_taken and not (has_metres and match[2].lower() == "m"):
            number = read_number(match[1]).scaleb(_ZEROS[match[2].lower()])
            found.append(Rewording(match.start(), match.end(), plain_number(number)))
    return sorted(found, key=lambda each: each.start)


def _said(text: str, each: _Quantity, of_schema: Collection[Unit]) -> Iterator[Rewording]:
    around = text[max(0, each.start - _MAX_LOOK_BACK) : each.start], text[each.end : each.end + _MAX_LOOK_BACK]
    meant = chosen_unit(each.name, of_schema)
    if (meant[0] if meant else units_called(each.name)[0]).is_time and any(map(_OF_TIME.search, around)):
        return  # "In the last 12 months" says when, not how much.
    if meant is None:
        plain = units_called(each.name)
        if plain[0].is_time and text[each.start : each.start + 1] in ("a", "A"):
            return
        if len({unit.word for unit in plain}) == 1 and each.name != "m":
            yield Rewording(each.start, each.end, f"{plain_number(each.number)} {plain[0].word}")
        return
    factor, word = meant[0].factor / meant[1].factor, _word_of(meant[1])
    before = _BEFORE.search(text, max(0, each.start - _MAX_LOOK_BACK), each.start) if factor != 1 else None
    if factor != 1 and before is None and _JOINED.search(around[0]):
        return
    if before is not None:
        yield Rewording(before.start(1), before.end(1), _times(read_number(before[1]), factor))
    yield Rewording(each.start, each.end, f"{_times(each.number, factor)} {word}")


def _times(number: Decimal, factor: Decimal) -> str:
    return plain_number(_DIGITS_KEPT.multiply(number, factor))


def _word_of(unit: Unit) -> str:
    return unit.word if unit.symbol not in unit_names() else unit.symbol


def _joined(text: str, found: Sequence[_Quantity], of_schema: Collection[Unit]) -> list[_Quantity]:
    """Returns the amounts, with neighbours added up: "1 hour 30 minutes" is one amount.

    Two neighbours that cannot be added up are both left out.
    """
    kept: list[_Quantity] = []
    for each in found:
        before = kept[-1] if kept else None
        if before is None or text[before.end : each.start].strip():
            kept.append(each)
            continue
        kept.pop()
        one, other = chosen_unit(before.name, of_schema), chosen_unit(each.name, of_schema)
        if one and other and one[1] == other[1] and one[0].factor > other[0].factor:
            total = before.number + each.number * other[0].factor / one[0].factor
            kept.append(_Quantity(before.start, each.end, total, before.name))
    return kept


def _quantities(text: str) -> Iterator[_Quantity]:
    found: dict[int, _Quantity] = {}
    for match in _patterns().in_figures.finditer(text):
        name, scale = (match["sign"] or match["unit"] or match["money"]).lower(), (match["scale"] or "").lower()
        if name == "m" and text[match.end() - 2].isdigit():
            continue  # "5m" may mean five million.
        number = read_number(f"{match['number']} {'thousand' if scale == 'k' else scale}")
        found[match.start()] = _Quantity(*match.span(), number, name)
    if _WORDED.search(text):
        taken = list(found.values())
        worded = (
            each for each in _in_words(text) if not any(each.start < one.end and one.start < each.end for one in taken)
        )
        found |= {each.start: each for each in worded}
    for start in sorted(found):
        yield found[start]


def _in_words(text: str) -> Iterator[_Quantity]:
    """Yields amounts in words: "fifty kilos", "half a ton", "more than a ton"."""
    for each in find_number_expressions(text):
        inside = _patterns().at_end.search(text, each.start, each.end)
        unit = inside or _patterns().behind.match(text, each.end)
        is_number = each.kind in (ValueKind.NUMBER, ValueKind.DATE) and each.lexical.replace(".", "").isdigit()
        if unit is not None and is_number:
            yield _Quantity(each.start, unit.end("unit"), Decimal(each.lexical), unit["unit"].lower())
    for match in _patterns().alone.finditer(text):
        one = _ONE.search(text, max(0, match.start() - _MAX_LOOK_BACK), match.start())
        if one is not None:
            yield _Quantity(one.start(1), match.end(), Decimal(1), match["unit"].lower())


def counts_in_figures(text: str) -> list[Rewording]:
    """Returns rewordings of everyday numbers above MAX_AS_WORD: "six" becomes 6, "a dozen" 12; no ordinals."""
    return [
        Rewording(each.start, each.end, each.lexical)
        for each in find_number_expressions(text)
        if each.is_everyday and not each.is_ordinal and each.kind is ValueKind.NUMBER and each.end - each.start > 2
        if Decimal(each.lexical) > MAX_AS_WORD
    ]


class _Patterns(NamedTuple):
    """Patterns for the places where the name of a unit may stand."""

    in_figures: re.Pattern[str]
    behind: re.Pattern[str]
    at_end: re.Pattern[str]
    alone: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    longest = sorted((name for name in unit_names() if name not in "€$£¥"), key=len, reverse=True)
    unit = rf"(?P<unit>{'|'.join(map(re.escape, longest))})"
    number = rf"(?:(?P<sign>[€$£¥])\s?)?(?P<number>{DIGITS})(?:\s?(?P<scale>k|thousand|million|billion)\b)?"
    return _Patterns(
        re.compile(rf"(?<![\w.,])(?<![^\d]-){number}(?(sign)(?![\w%])|\s?-?(?:{unit}(?!\w)|(?P<money>[€$£¥])))", re.I),
        re.compile(rf"\s+(?:(?:of\s+)?an?\s+)?{unit}(?!\w)", re.I),
        re.compile(rf"\s{unit}\Z", re.I),
        re.compile(rf"\b{unit}(?!\w)", re.I),
    )
