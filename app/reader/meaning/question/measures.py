"""Defines what a question may measure by: adjectives, units, periods, and words for places."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kg_store.text.inflection import is_participle, may_be_verb
from kg_store.text.quantities import MONEY, Unit, chosen_unit, unit_of_label, units_called
from kg_store.text.words import is_pseudonym

WHERE: Final = frozenset(
    "in at from to on near inside location place address street city town country region venue room site origin "
    "destination residence home based located headquarters office building floor".split()
)
"""Words in the labels of relations that say where something is."""
PLACES: Final = frozenset("city town village country region county state province district place address".split())
PART: Final = frozenset("part parts in within inside parent belongs".split())


_PLACED: Final = PLACES | PART | frozenset("is are of the home residence location located lives live based".split())
"""All words that the label of a relation may have if it says only where something is."""


def says_where(labels: Iterable[str]) -> bool:
    """Returns True if each of `labels` says where something is: `address`, `is located in`, `place of birth`."""
    words = [set(label.lstrip("^").lower().split()) for label in labels]
    return bool(words) and all(each & (WHERE | PART) for each in words)


def are_only_places(labels: Iterable[str]) -> bool:
    """Returns True if each of `labels` says only where something is: `home address`, not `place of birth`."""
    words = [set(label.lstrip("^").lower().split()) for label in labels]
    return bool(words) and all(each <= _PLACED and each & (WHERE | PART) for each in words)


_SAYING_LITTLE: Final = frozenset({"of", "on", "date", "number"})


@dataclass(frozen=True, slots=True)
class Measure:
    """The quantity that an adjective compares, such as age for "old".

    `number`, `date`: the sign for values of that type. It is 1 if more of the quantity means a greater value, -1 if it
    means a lesser one (older: an earlier date of birth), 0 if the adjective does not apply. `hints`: labels that are
    meant if the question names none ("age"). If no hint fits, another label may be chosen: it must have a word of
    `only`, if that is not empty, and no word of `never`.
    """

    number: int
    date: int
    hints: tuple[str, ...] = ()
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    @property
    def hinted(self) -> tuple[frozenset[str], ...]:
        """The words of each of `hints`, without words that say little."""
        return tuple(frozenset(hint.split()) - _SAYING_LITTLE for hint in self.hints)

    def is_hinted(self, label: str) -> bool:
        """Returns True if the measure is usually applied to values of `label`."""
        words = frozenset(label.split("|")[-1].lower().split()) - _SAYING_LITTLE
        return any(hint <= words for hint in self.hinted)

    def turned(self) -> Measure:
        """Returns the measure of the opposite adjective, such as young for old."""
        return replace(self, number=-self.number, date=-self.date)

    def may_be_of(self, words: Collection[str]) -> bool:
        """Returns True if the measure may apply to a relation with these words; "old" does not apply to a hiring
        date.
        """
        return (not self.only or not self.only.isdisjoint(words)) and self.never.isdisjoint(words)

    def sign(self, value_kind: str) -> int:
        return {"number": self.number, "date": self.date}.get(value_kind, 0)


_BEGINNINGS: Final = frozenset(
    "age aged birth birthday born opened opening founded foundation established built construction constructed "
    "created creation inception launched launch released release published publication made produced production "
    "manufactured registered registration acquired erected start started begun entered year".split()
)
_ENDS: Final = frozenset(
    "birth birthday born death died due deadline discharged discharge expires expiry expired end ended ends until "
    "closed left cancelled retired".split()
)
_OLD_HINTS: Final = (
    "age, date of birth, born on, opened on, founded, established, inception, built, registered, acquired"
)
_BIG_HINTS: Final = (
    "population, area, size, number of beds, seats, seat count, bed count, capacity, number of employees, surface"
)
_OLD: Final = Measure(1, -1, tuple(_OLD_HINTS.split(", ")), only=_BEGINNINGS)
_NEW: Final = Measure(
    0,
    1,
    ("opened on", "release date", "publication date", "launched on", "hired on", "founded", "built", "registered"),
    never=_ENDS,
)
_LATE: Final = Measure(0, 1)
_BIG: Final = Measure(1, 0, tuple(_BIG_HINTS.split(", ")))
_HIGH: Final = Measure(1, 0)
_MUCH: Final = Measure(1, 0, ("price", "cost", "salary", "amount", "rent", "fee", "stipend", "premium", "deposit"))
_LONG: Final = Measure(1, 0, ("duration", "length", "runtime", "distance"))
_SINCE: Final = Measure(
    0,
    -1,
    (
        "client since", "customer since", "member since", "employed since", "contract since", "hired on", "hire date",
        "joined on", "start date", "started on", "employed on", "entry date", "enrolled on",
    ),
    only=frozenset("client customer member employed contract hired hire joined start started enrolled entry".split()),
)  # fmt: skip
"""The measure of how long something has lasted: the earlier it began, the longer."""
_LASTING: Final = Measure(1, 0, ("duration", "runtime", "time"), only=frozenset({"duration", "runtime", "time"}))
_TALL: Final = Measure(1, 0, ("height",))
_HEAVY: Final = Measure(1, 0, ("weight",))
_DEAR: Final = Measure(1, 0, ("price", "cost", "unit price", "rent", "tuition", "fee", "rate", "hourly rate"))
_PAID: Final = Measure(1, 0, ("salary", "wage", "income", "pay"))
_WORTH: Final = Measure(1, 0, ("price", "total", "amount", "value", "cost"))
_FAST: Final = Measure(1, 0, ("speed",))
_FAR: Final = Measure(1, 0, ("distance",))
_THICK: Final = Measure(1, 0, ("thickness", "pages", "page count", "number of pages"))
_DEEP: Final = Measure(1, 0, ("depth",))
_WIDE: Final = Measure(1, 0, ("width",))
_HOT: Final = Measure(1, 0, ("temperature",))
_STRONG: Final = Measure(1, 0, ("strength", "dose", "dose mg", "power"))

POSITIVE: Final[dict[str, Measure]] = {
    "old": _OLD, "young": _OLD, "new": _NEW, "big": _BIG, "large": _BIG, "small": _BIG, "long": _LONG,
    "short": _LONG, "tall": _TALL, "high": _TALL, "heavy": _HEAVY, "expensive": _DEAR, "cheap": _DEAR, "fast": _FAST,
    "far": _FAR, "much": _MUCH, "value": _WORTH, "worth": _WORTH, "spend": _WORTH, "spent": _WORTH, "cost": _DEAR,
    "costs": _DEAR,
}  # fmt: skip

COMPARATIVE: Final[dict[str, Measure]] = {
    "older": _OLD, "younger": _OLD.turned(), "newer": _NEW, "later": _LATE, "earlier": _LATE.turned(),
    "sooner": _LATE.turned(), "bigger": _BIG, "larger": _BIG, "greater": _HIGH, "smaller": _BIG.turned(),
    "higher": _HIGH, "lower": _HIGH.turned(), "longer": _LONG, "shorter": _LONG.turned(), "taller": _TALL,
    "heavier": _HEAVY, "lighter": _HEAVY.turned(), "cheaper": _DEAR.turned(), "pricier": _DEAR, "dearer": _DEAR,
    "thicker": _THICK, "thinner": _THICK.turned(), "deeper": _DEEP, "shallower": _DEEP.turned(), "wider": _WIDE,
    "narrower": _WIDE.turned(), "hotter": _HOT, "warmer": _HOT, "colder": _HOT.turned(), "cooler": _HOT.turned(),
    "stronger": _STRONG, "weaker": _STRONG.turned(), "poorer": _PAID.turned(), "farther": _FAR, "further": _FAR,
    "faster": _FAST, "slower": _FAST.turned(), "richer": _PAID, "more": _HIGH, "less": _HIGH.turned(),
    "fewer": _HIGH.turned(), "before": _LATE.turned(), "after": _LATE,
}  # fmt: skip

SUPERLATIVE: Final[dict[str, Measure]] = {
    "oldest": _OLD, "youngest": _OLD.turned(), "newest": _NEW, "latest": _LATE, "last": _LATE, "recent": _LATE,
    "earliest": _LATE.turned(), "first": _LATE.turned(), "biggest": _BIG, "largest": _BIG, "greatest": _HIGH,
    "smallest": _BIG.turned(), "highest": _HIGH, "lowest": _HIGH.turned(), "maximum": _HIGH,
    "minimum": _HIGH.turned(), "longest": _LONG, "shortest": _LONG.turned(), "tallest": _TALL, "heaviest": _HEAVY,
    "thickest": _THICK, "thinnest": _THICK.turned(), "deepest": _DEEP, "shallowest": _DEEP.turned(), "widest": _WIDE,
    "narrowest": _WIDE.turned(), "hottest": _HOT, "warmest": _HOT, "coldest": _HOT.turned(), "coolest": _HOT.turned(),
    "strongest": _STRONG, "weakest": _STRONG.turned(), "poorest": _PAID.turned(), "farthest": _FAR, "furthest": _FAR,
    "lightest": _HEAVY.turned(), "cheapest": _DEAR.turned(), "priciest": _DEAR, "dearest": _DEAR, "fastest": _FAST,
    "slowest": _FAST.turned(), "richest": _PAID, "most": _HIGH, "fewest": _HIGH.turned(), "least": _HIGH.turned(),
    "top": _HIGH,
}  # fmt: skip

# Measures of adjectives behind "most" or "more": "the most expensive", "more recent".
OF_MOST: Final[dict[str, Measure]] = {
    "expensive": _DEAR,
    "recent": _LATE,
    "recently": _LATE,
    "costly": _DEAR,
    "populous": _BIG,
}


def superlative_of(comparative: str) -> str:
    """Returns "cheapest" for "cheaper", "" for other words."""
    measure = COMPARATIVE.get(comparative) if comparative.endswith("er") else None
    return next((word for word, each in SUPERLATIVE.items() if each == measure), "") if measure else ""


_SERVING: Final = frozenset({"serving", "standing", "established", "running", "held"})
_BEING: Final = frozenset({"employed", "working", "open", "opened", "serving"})
"""Participles for a state that still lasts, so that "has been employed the longest" asks for the earliest start."""
_TAKING: Final = frozenset("take takes took taken taking last lasts lasted".split())


def measure_at(words: Sequence[str], at: int) -> Measure:
    """Returns the measure of the comparative or superlative at position `at`."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    known = COMPARATIVE.get(word) or SUPERLATIVE[word]
    if known.hints == _LONG.hints:
        known = _in_time(words, at, known)
    if word in ("most", "more", "least", "less") and after in OF_MOST:
        return OF_MOST[after] if word in ("most", "more") else OF_MOST[after].turned()
    return known


def _in_time(words: Sequence[str], at: int, known: Measure) -> Measure:
    """Returns what a word such as "longest" measures if it speaks of time; else `known`.

    It is the start for "has been with us the longest" and "the longest serving", and the duration for "took the
    longest". `known` is also returned if another event is named ("has been in X the longest", "was insured").
    """
    been = words.index("been") if "been" in words[:at] else at
    between = words[been + 1 : at]
    is_other = any(is_pseudonym(word) or (_is_done(word) and word not in _BEING) for word in between)
    since = (been < at and not is_other) or {*words[at + 1 : at + 2]} & _SERVING
    measure = _SINCE if since else _LASTING if not _TAKING.isdisjoint(words[:at]) else None
    if measure is None:
        return known
    return measure if known.number > 0 else measure.turned()


def _is_done(word: str) -> bool:
    return is_participle(word) or (word.endswith("ing") and may_be_verb(word))


def is_said_by_measure(words: Sequence[str], at: int) -> bool:
    """Returns True for "time" in "the longest time" and "serving" in "the longest serving", which add nothing."""
    return at > 0 and words[at - 1] in ("longest", "longer", "shortest") and words[at] in {"time", *_SERVING}


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
    """The unit that a question states after a value, by `symbol` and `kind`, and the period after it ("per month").

    Fields that the question does not state are empty.
    """

    symbol: str = ""
    kind: str = ""
    period: str = ""

    def fits(self, label: str, value: str) -> bool:
        """Returns True if values of the relation `label` may have this unit: kilos fit neither a price nor a date."""
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
    """Returns `words` without the units of values, and for each value the unit and the period after it.

    Only units that relations of `labels` use are removed. "Heavier than 90 kilos" becomes "more than 90". `numbers`:
    the pseudonyms of values that are numbers.
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
                kept.pop()  # Drops "in kilos" from "the weight in kilos" if the graph holds weights in kilos.
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
    """Returns True for the name of a unit that no relation uses and so cannot be compared; not for units of time."""
    units = units_called(word)
    return bool(units) and not any(unit.is_time for unit in units)


def _unit_behind(words: Sequence[str], at: int, of_labels: Collection[Unit]) -> tuple[Unit | None, int]:
    """Returns the unit whose name begins at position `at`, and its number of words; (None, 0) if there is none.

    The unit must be one that the labels use, or money.
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
    """Returns the period after a value ("a year", "per month"), which is not a second limit; else an empty string."""
    each, period = (*words[at : at + 2], "", "")[:2]
    return period if period in PERIODS and (each in ("a", "an") or (each in _EACH and is_number)) else ""
