"""Adjectives that measure: the values that "oldest", "bigger" and "how long" apply to, and their direction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kg_store.text.inflection import is_participle, may_be_verb
from kg_store.text.words import is_pseudonym

_SAYING_LITTLE: Final = frozenset({"of", "on", "date", "number"})


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: `number` and `date` are 1 if more of it means a greater value, -1 if a lesser, 0 if it does not
    apply.

    `hints`: labels that are meant if the question names none ("age" for old). `only`: a label that is taken because no
    other fits must have one of these words; `never`: it must have none of these.
    """

    number: int
    date: int
    hints: tuple[str, ...] = ()
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    @property
    def hinted(self) -> tuple[frozenset[str], ...]:
        """The content words of each hint."""
        return tuple(frozenset(hint.split()) - _SAYING_LITTLE for hint in self.hints)

    def is_hinted(self, label: str) -> bool:
        """True if the measure is usually applied to values of `label`."""
        words = frozenset(label.split("|")[-1].lower().split()) - _SAYING_LITTLE
        return any(hint <= words for hint in self.hinted)

    def turned(self) -> Measure:
        """The measure of the opposite adjective: young for old."""
        return replace(self, number=-self.number, date=-self.date)

    def may_be_of(self, words: Collection[str]) -> bool:
        """True if the measure may apply to a relation with these words: "old" does not apply to a date of hiring."""
        return (not self.only or not self.only.isdisjoint(words)) and self.never.isdisjoint(words)

    def sign(self, value_kind: str) -> int:
        return {"number": self.number, "date": self.date}.get(value_kind, 0)


_BEGINNINGS: Final = frozenset(
    "age aged birth birthday born opened opening founded foundation established built construction constructed "
    "created creation inception launched launch released release published publication made produced production "
    "manufactured registered registration acquired erected start started begun".split()
)
_ENDS: Final = frozenset(
    "birth birthday born death died due deadline discharged discharge expires expiry expired end ended ends until "
    "closed left cancelled retired".split()
)
_OLD: Final = Measure(
    1,
    -1,
    (
        "age",
        "date of birth",
        "born on",
        "opened on",
        "founded",
        "established",
        "inception",
        "built",
        "registered",
        "acquired",
    ),
    only=_BEGINNINGS,
)
_NEW: Final = Measure(
    0,
    1,
    ("opened on", "release date", "publication date", "launched on", "hired on", "founded", "built", "registered"),
    never=_ENDS,
)
_LATE: Final = Measure(0, 1)
_BIG: Final = Measure(
    1,
    0,
    (
        "population",
        "area",
        "size",
        "number of beds",
        "seats",
        "seat count",
        "bed count",
        "capacity",
        "number of employees",
        "surface",
    ),
)
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
"""The time for which something has been so; it is longer the earlier it began."""
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

# The adjective behind "most" or "more" says what is measured: "the most expensive", "more recent".
OF_MOST: Final[dict[str, Measure]] = {
    "expensive": _DEAR,
    "recent": _LATE,
    "recently": _LATE,
    "costly": _DEAR,
    "populous": _BIG,
}

_SERVING: Final = frozenset({"serving", "standing", "established", "running", "held"})
_BEING: Final = frozenset({"employed", "working", "open", "opened", "serving"})
"""Participles for a state that still lasts: "has been employed the longest" asks for the earliest start."""
_TAKING: Final = frozenset("take takes took taken taking last lasts lasted".split())


def measure_at(words: Sequence[str], at: int) -> Measure:
    """The measure of the comparative or superlative at position `at`."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    known = COMPARATIVE.get(word) or SUPERLATIVE[word]
    if known.hints == _LONG.hints:
        known = _in_time(words, at, known)
    if word in ("most", "more", "least", "less") and after in OF_MOST:
        return OF_MOST[after] if word in ("most", "more") else OF_MOST[after].turned()
    return known


def _in_time(words: Sequence[str], at: int, known: Measure) -> Measure:
    """The measure of "longest" in time: since when for "has been with us the longest" and "the longest serving", the
    duration for "took the longest". Stays as known if another event is named: "has been in X", "was insured".
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
    """True of "time" in "the longest time" and of "serving" in "the longest serving": the measure already says it."""
    return at > 0 and words[at - 1] in ("longest", "longer", "shortest") and words[at] in {"time", *_SERVING}
