"""A question as tokens: each a thing, a value, a word that works on others (not, oldest, how many), or content."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from app.llm.embedded.language.morphology import is_participle
from app.llm.embedded.language.ranked_words import FREQUENT, FirstOf, dates_between, first_in
from app.llm.embedded.language.stated_bounds import NUMBERS
from app.llm.embedded.meaning.question.measures import COMPARATIVE, OF_MOST, SUPERLATIVE, Measure
from app.llm.embedded.meaning.question.stated_units import StatedUnit, is_foreign_unit, without_units
from app.llm.embedded.meaning.question.token_roles import (
    DETERMINERS,
    TOTALS,
    Role,
    mask,
    particles_in,
    roles_of,
    said_words,
    words_of,
)
from app.llm.embedded.meaning.question.value_limits import ValueLimit, excluded_in, limits_in

Form = Literal["things", "count", "truth", "average", "sum", "group", "compare", "minus"]


MIN_OF_ITS_OWN: Final = 5
"""Words of a question that begins with and, and needs no earlier one."""

_TRUTHS = frozenset("is are was were does do did has have had can isn't aren't wasn't doesn't don't didn't".split())
_ANYBODY = frozenset("anyone anybody someone somebody".split())
_AVERAGES = frozenset({"average", "mean"})
_HAVING = frozenset("have has had having with".split())
_LACKING = frozenset({"without", "no", "any"})
_GROUPS = frozenset({"each", "every", "per"})
_TIMES = frozenset({"day", "week", "month", "quarter", "year", "hour", "time"})
PERIODS = frozenset({"year", "month"})
_UNIVERSAL = frozenset("all every each both everyone everybody".split())
_DEGREES = frozenset({"most", "least", "more", "less"})
_ALL_OF = frozenset({"the", "these", "those", "both"})
_FUNCTIONS: tuple[tuple[Literal["average", "sum"], frozenset[str]], ...] = (("average", _AVERAGES), ("sum", TOTALS))
_ASKING = ("who", "whom", "when", "where", "which", "what", "whose")
_WORKING = ("negation", "superlative", "comparative", "other", "unknown")
_BEFORE_ASKED = frozenset("the a total please me and us what is".split())
"""Words in front of the number or the names that are asked for; no "phone" of a phone number."""
_EITHER = re.compile(r"E\w{5} or E\w{5}")


@dataclass(frozen=True, slots=True)
class _Group:
    """See AskedQuestion; `silent` are the words that only say that there is a group."""

    at: int = -1
    silent: tuple[int, ...] = ()
    period: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """`roles` one a word. `asked`: where the noun of what is asked for may begin; -1 where nothing says.

    `content` and `working` are bit masks over the words: those that have to be explained, and those that must be
    executed. `limits`: by the position of their value. `excluded`: things that the answer leaves out. `grouped`:
    where the noun of a group may begin; `period`: the year or month that is the group; `function`: sum or average,
    where it is taken per group. `first`: how many a superlative is to give, by its position; `frequent`: the
    superlatives that ask for what is found most often. `either`: the pairs of things of which any will do.
    """

    words: tuple[str, ...]
    roles: tuple[Role, ...]
    form: Form
    wh: str
    asked: int
    content: int
    working: int
    measures: dict[int, Measure] = field(default_factory=dict)
    limits: dict[int, ValueLimit] = field(default_factory=dict)
    grouped: int = -1
    period: str = ""
    function: str = ""
    first: dict[int, FirstOf] = field(default_factory=dict)
    frequent: frozenset[int] = frozenset()
    either: tuple[str, ...] = ()
    universal: bool = False
    excluded: tuple[str, ...] = ()
    text: str = ""

    @property
    def speaks_of_having(self) -> bool:
        """True where a relation may be asked for as such: "cities that have a clinic"."""
        if "negation" in self.roles or not _LACKING.isdisjoint(self.words):
            return True
        is_plain = not self.limits and "superlative" not in self.roles and "thing" not in self.roles
        return is_plain and not _HAVING.isdisjoint(self.words)

    @property
    def is_choice(self) -> bool:
        """True where it asks which of two values one thing has: "is X a machine or a spare part?"""
        pair = any(limit.other for limit in self.limits.values())
        return pair and self.form == "things" and self.words[0] in _TRUTHS and self.roles.count("thing") == 1

    def at(self, role: Role) -> Iterator[int]:
        return (at for at, each in enumerate(self.roles) if each == role)


def read_question(
    question: str,
    unknown: Collection[str] = (),
    phrases: Collection[tuple[str, ...]] = (),
    numbers: Collection[str] = (),
    verbs: Collection[tuple[str, str]] = (),
) -> AskedQuestion:
    """`unknown`: words that the graph does not hold. For the others see `roles_of`, `first_in` and `particles_in`."""
    said, units = without_units(said_words(question), [" ".join(phrase) for phrase in phrases], numbers)
    words = words_of(said, unknown)
    roles, first, limits, excluded = _with_values(words, phrases, numbers, particles_in(words, verbs))
    form, silent, group = _form(words, roles)
    measures = {at: _measure(words, at) for at, role in enumerate(roles) if role in ("superlative", "comparative")}
    silent += [n + 1 for n in measures if words[n] in _DEGREES and {*words[n + 1 : n + 2]} & {*OF_MOST, *FREQUENT}]
    for at in (*silent, *_without_sense(words, roles, limits)):
        roles[at] = "grammar"
    for at in _unread(words, form):
        roles[at] = "unknown"
    return AskedQuestion(
        words=words,
        roles=tuple(roles),
        form=form,
        wh=next((word for word in words if word in _ASKING), ""),
        asked=_asked(words, form),
        content=mask(at for at, role in enumerate(roles) if role == "content"),
        working=mask(at for at, role in enumerate(roles) if role in _WORKING),
        measures=measures,
        limits={at: replace(limit, unit=_unit_of(limit, units)) for at, limit in limits.items()},
        grouped=group.at,
        period=group.period,
        function=group.function,
        first=first,
        frequent=frozenset(at for at in measures if words[at + 1 : at + 2] and words[at + 1] in FREQUENT),
        universal=form == "truth" and not _UNIVERSAL.isdisjoint(words[1:3]),
        excluded=tuple(words[at] for at in excluded),
        either=tuple(_unions(words)) if form in ("things", "count") else (),
        text=question,
    )


def _unions(words: Sequence[str]) -> Iterator[str]:
    """Two things of which any will do, as they are read."""
    for pair in _EITHER.findall(" ".join(words)):
        yield f"union({pair.replace(' or ', ', ')})"


def _with_values(
    words: Sequence[str], phrases: Collection[tuple[str, ...]], numbers: Collection[str], of_verbs: Collection[int]
) -> tuple[list[Role], dict[int, FirstOf], dict[int, ValueLimit], dict[int, int]]:
    """The roles of the words, and what the numbers and values among them limit, put in order or leave out."""
    roles = roles_of(words, _asked(words, "things"), phrases)
    first = first_in(words, roles, numbers)
    for at in of_verbs:
        roles[at - 1] = roles[at] = "content"
    for at in dates_between(words, roles):
        roles[at] = "content" if at in of_verbs else "comparative"
    for at, each in first.items():
        roles = ["grammar" if each.used >> n & 1 else role for n, role in enumerate(roles)]
        roles[at] = "superlative"
    for at in range(1, len(words)):
        if roles[at - 1] == "value" and is_foreign_unit(words[at]):
            roles[at] = "unknown"
    limits, excluded = limits_in(words, roles), excluded_in(words, roles)
    limits = {at: limit for at, limit in limits.items() if not any(limit.used & each.used for each in first.values())}
    for used in (*(limit.used for limit in limits.values()), *excluded.values()):
        kept = {at for at in limits if words[at] in NUMBERS and words[at - 1] not in _ALL_OF}
        roles = [
            "unknown" if at in kept else "grammar" if used >> at & 1 and role != "value" else role
            for at, role in enumerate(roles)
        ]
    return roles, first, limits, excluded


def _unit_of(limit: ValueLimit, units: Mapping[str, StatedUnit]) -> StatedUnit | None:
    return next((units[name] for name in limit.names if name in units), None)


def _without_sense(words: Sequence[str], roles: Sequence[Role], limits: Mapping[int, ValueLimit]) -> Iterator[int]:
    """ "Either" of two that are joined anyway, and "but" before a "not"."""
    is_joined = any(limit.other for limit in limits.values()) or _EITHER.search(" ".join(words)) is not None
    for at, word in enumerate(words):
        if (word == "either" and is_joined) or (word == "but" and "negation" in roles):
            yield at


def _unread(words: Sequence[str], form: Form) -> Iterator[int]:
    """ "And his siblings?" may ask of them what was asked before; "what for?" asks for a reason."""
    is_asked = bool({*words[1:3]} & {*_ASKING, "how"})
    if words[:1] == ("and",) and not is_asked and ("'s" in words or len(words) < MIN_OF_ITS_OWN):
        yield 0
    if words[-1:] == ("for",) and form == "things":
        yield len(words) - 1


def _form(words: Sequence[str], roles: Sequence[Role]) -> tuple[Form, list[int], _Group]:
    """The form, the words that say so, and what is taken per group."""
    if less := _by_how_much(words, roles):
        return "minus", less, _Group()
    counts = _counting(words, roles)
    function, totals = _total(words, roles)
    is_total = bool(totals) and "superlative" not in roles
    group = _group(words, roles, bool(counts), function if is_total and not counts else "")
    if group.at > 0:
        return "group", [*counts, *(totals if is_total else ()), *group.silent], group
    if counts:
        return "count", counts, _Group()
    if is_total and function:
        return function, totals, _Group()
    things = [at for at, role in enumerate(roles) if role == "thing"]
    is_beside = len(things) == 2 and "than" not in words[: things[0]]
    if is_beside and ("comparative" in roles or ("superlative" in roles and "or" in words[slice(*things)])):
        return "compare", [], _Group()
    truth = _truth(words, roles)
    return ("truth" if truth and words[1] not in _ANYBODY else "things"), truth, _Group()


def _total(words: Sequence[str], roles: Sequence[Role]) -> tuple[Literal["average", "sum", ""], list[int]]:
    """The function over all values that is asked for, and the words that say so."""
    for function, names in _FUNCTIONS:
        said = [at for at, word in enumerate(words) if word in names]
        if said and not (roles[said[0]] == "content" and roles.count("content") == 1):
            return function, said
    return "", []


def _group(words: Sequence[str], roles: Sequence[Role], is_count: bool, function: str) -> _Group:
    """The noun behind "per" or "each", behind "by" of a sum, and behind the second question word of a count."""
    for at in range(1, len(words) - 1):
        word, after = words[at], words[at + 1]
        if word in _GROUPS and is_count and after in PERIODS:
            return _Group(at + 1, (at, at + 1), period=after)
        if word in _GROUPS and (is_count or function or (roles[0] == "content" and word == "per")):
            return _Group(at + 1, (at,), function=function) if after not in _TIMES else _Group()
        if word == "by" and function and roles[at + 1] in ("content", "grammar") and not is_participle(words[at - 1]):
            return _Group(at + 1, (at,), function=function)
        if word in ("which", "what") and is_count and roles[at + 1] == "content":
            return _Group(at + 1, (at,))
    return _Group()


def _by_how_much(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """The words that ask how much greater the value of one thing is than that of another; none where none do."""
    if list(roles).count("thing") != 2:
        return []
    if "difference" in words and "comparative" not in roles:
        return [words.index("difference")]
    for at in range(len(words) - 2):
        if words[at] == "how" and (roles[at + 1] == "comparative" or roles[at + 2] == "comparative"):
            is_asked = words[at + 1] in ("many", "much") and "than" in words[at:]
            return [at, at + 1] if is_asked else []
    return []


def _counting(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """The words that ask for a number: how many, the number of, count."""
    found = [part for at in range(1, len(words)) if words[at - 1 : at + 1] == ("how", "many") for part in (at - 1, at)]
    for at, word in enumerate(words[:-1]):
        if word in ("number", "count") and words[at + 1] in ("of", "by") and (not at or roles[at - 1] != "content"):
            found.append(at)
    return [*found, 0] if words[:1] in (("count",), ("number",)) else found


def _truth(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """The words that ask for yes or no, the first verb and a tag at the end; none where none do."""
    if len(words) > 1 and roles[0] == "thing" and words[1] in _TRUTHS:
        if words[2:3] and words[2] in (*_ASKING, "how"):
            return []  # "X has which siblings?"
        return [1, len(words) - 2, len(words) - 1] if words[-2] in _TRUTHS else [1]
    if len(words) > 1 and words[0] in _TRUTHS and "or" not in words:
        return [0, *(at for at in (1, 2) if words[at : at + 1] and words[at] in DETERMINERS)]
    return []


def _measure(words: Sequence[str], at: int) -> Measure:
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    known = COMPARATIVE.get(word) or SUPERLATIVE[word]
    if word in ("most", "more", "least", "less") and after in OF_MOST:
        return OF_MOST[after] if word in ("most", "more") else OF_MOST[after].turned()
    return known


def _asked(words: Sequence[str], form: Form) -> int:
    """Where the noun of what is asked for may begin."""
    if form == "truth":
        return -1
    for at, word in enumerate(words):
        is_compound = word in ("number", "name", "count") and at > 0 and words[at - 1] not in _BEFORE_ASKED
        if word in ("which", "what", "many", "number", "list", "show", "name", "give", "count") and not is_compound:
            is_part = words[at + 1 : at + 2] == ("of",) and words[at + 3 : at + 4] == ("'s",)
            return at + 4 if is_part else at + 1  # "Which of X's films".
    return 0 if words[:1] and words[0] not in ("who", "when", "where", "how", "whose", "whom") else -1
