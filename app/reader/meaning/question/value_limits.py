"""The values of a question with their comparisons: before 2020, between 3 and 5, at least two wards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.reader.language.stated_bounds import NUMBERS
from app.reader.meaning.question.measures import COMPARATIVE, OF_MOST, Measure
from app.reader.meaning.question.stated_units import StatedUnit
from app.reader.meaning.question.token_roles import Role, mask

_EXCEPT = tuple(tuple(words.split()) for words in (
    "other than", "except for", "except", "besides", "apart from", "aside from", "excluding", "but not",
))  # fmt: skip
_OPERATORS: tuple[tuple[tuple[str, ...], str], ...] = tuple(
    (tuple(words.split()), operator)
    for operator, phrases in (
        ("<=", "not more than, no more than, not later than, no later than, not after, at most, up to, until"),
        (">=", "not less than, no less than, no fewer than, not before, at least, since, from, starting"),
        (">", "more than, greater than, larger than, higher than, later than, over, above, after, exceeding"),
        ("<", "less than, fewer than, lower than, smaller than, earlier than, under, below, before"),
    )
    for words in phrases.split(", ")
)
_BEFORE_VALUE = frozenset("in on at of the year for with is was are than date a an as by".split())

_ONWARDS = frozenset({"on", "onward", "onwards", "upward", "upwards"})


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """A value of the question and how it is compared; `used` is the bit mask of all tokens that say it.

    `upper`: the end of a range. `other`: a second value, either of which will do. `counts`: position of the noun
    behind it that it may count ("at least 3 orders"), else -1. `unit`: its stated unit. `measure`: the adjective that
    is compared ("longer than 90 minutes"); `operator` is then that of more of it.
    """

    name: str
    operator: str
    used: int
    upper: str = ""
    counts: int = -1
    other: str = ""
    unit: StatedUnit | None = None
    measure: Measure | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.name, self.upper, self.other)))

    def of(self, things: str, label: str) -> str:
        """The expression for those of `things` whose value of the relation `label` keeps to the limit."""
        kept = f'filter({things}, "{label}", {self.operator}, {self.name})'
        if self.upper:
            return f'filter({kept}, "{label}", <=, {self.upper})'
        return f'union({kept}, filter({things}, "{label}", =, {self.other}))' if self.other else kept


def limits_in(words: Sequence[str], roles: Sequence[Role], numbers: Collection[str] = ()) -> dict[int, ValueLimit]:
    """Returns each limit by the position of its value; a range, or two alternatives, make one limit.

    `numbers`: the values that are numbers. "From" before another value means equal ("from 1984"), and "from ... on" a
    range.
    """
    found: dict[int, ValueLimit] = {}
    taken = -1
    for at in (at for at, role in enumerate(roles) if role == "value"):
        if at == taken:
            continue
        limit, taken = _pair(words, roles, at) or (_limit(words, at), taken)
        if words[at - 1 : at] == ("from",) or words[max(0, at - 2) : at] == ("from", "the"):
            limit = _from(words, at, limit, is_number=words[at] in numbers)
        after = limit.used.bit_length()
        follows = after < len(roles) and roles[after] in ("content", "person") and len(limit.names) == 1
        found[at] = replace(limit, counts=after) if follows else limit
    for at, word in enumerate(words):
        if word in NUMBERS and at + 1 < len(words) and roles[at + 1] in ("content", "person"):
            limit = _limit([*words[:at], str(NUMBERS[word]), *words[at + 1 :]], at)
            found[at] = replace(limit, counts=at + 1)
    return found


def _from(words: Sequence[str], at: int, limit: ValueLimit, *, is_number: bool) -> ValueLimit:
    """The limit with "from" resolved: "films from 1984" means =, "from 1984 on" >=, "from 20 seats" >=."""
    if words[at + 1 : at + 2] and words[at + 1] in _ONWARDS:
        return replace(limit, used=limit.used | 1 << at + 1)
    is_one = limit.operator == ">=" and not (is_number or limit.upper or "starting" in words[max(0, at - 3) : at])
    return replace(limit, operator="=") if is_one else limit


def _pair(words: Sequence[str], roles: Sequence[Role], at: int) -> tuple[ValueLimit, int] | None:
    """The limit of two values ("between 3 and 5", "in March or April") and the position of the second; None for one
    alone.
    """
    between, after = words[at + 1 : at + 2], at + 2
    if after - 1 < len(roles) and roles[after - 1] == "value":
        between, after = ("to",), at + 1
    elif after < len(words) and words[after] in ("a", "an", "the"):
        after += 1
    if after >= len(words) or roles[after] != "value":
        return None
    is_opened = not {"between", "from"}.isdisjoint(words[max(0, at - 2) : at])
    if between[0] in ("to", "until") or (between[0] == "and" and is_opened):
        used = mask(range(at - 1 if is_opened else at, after + 1))
        return ValueLimit(words[at], ">=", used, upper=words[after]), after
    # "In March and April" means either month: no date lies in both.
    if between[0] == "or" or (between[0] == "and" and words[at - 1] in ("in", "during")):
        return ValueLimit(words[at], "=", mask(range(at, after + 1)), other=words[after]), after
    return None


def excluded_in(words: Sequence[str], roles: Sequence[Role]) -> dict[int, int]:
    """Positions of the things that are named only to be excluded, each with the bit mask of the tokens that say so."""
    found = {}
    for at in (at for at, role in enumerate(roles) if role == "thing"):
        for phrase in _EXCEPT:
            if tuple(words[max(0, at - len(phrase)) : at]) == phrase:
                found[at] = mask(range(at - len(phrase), at + 1))
    return found


def _limit(words: Sequence[str], at: int) -> ValueLimit:
    used, before = 1 << at, at - 1
    while before >= 0 and words[before] in _BEFORE_VALUE and words[before] != "than":
        before -= 1
    for phrase, operator in _OPERATORS:
        start = before - len(phrase) + 1
        if start >= 0 and tuple(words[start : before + 1]) == phrase:
            return ValueLimit(words[at], operator, used | mask(range(start, before + 1)))
    return _measured(words, at, before) or ValueLimit(words[at], "=", used)


def _measured(words: Sequence[str], at: int, than: int) -> ValueLimit | None:
    """The limit of "longer than 90 minutes" or "more expensive than 20 euros"; None if `than` is another word."""
    word, before = (words[max(0, than - 1)], words[max(0, than - 2)]) if than > 0 else ("", "")
    if words[than] != "than":
        return None
    if word in OF_MOST and before in ("more", "less"):
        measure = OF_MOST[word] if before == "more" else OF_MOST[word].turned()
        return ValueLimit(words[at], ">", mask(range(than - 2, at + 1)), measure=measure)
    if word in COMPARATIVE:
        return ValueLimit(words[at], ">", mask(range(than - 1, at + 1)), measure=COMPARATIVE[word])
    return None
