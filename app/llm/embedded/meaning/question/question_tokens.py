"""A question as tokens: each a thing, a value, a word that works on others (not, oldest, how many), or content."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from app.llm.embedded.meaning.question.measures import COMPARATIVE, OF_MOST, SUPERLATIVE, Measure
from app.llm.embedded.meaning.question.token_roles import DETERMINERS, TOTALS, Role, mask, roles_of, words_of
from app.llm.embedded.meaning.question.value_limits import ValueLimit, excluded_in, limits_in

Form = Literal["things", "count", "truth", "average", "sum", "group", "compare"]


MIN_OF_ITS_OWN: Final = 5
"""Words of a question that begins with and, and needs no earlier one."""

_TRUTHS = frozenset("is are was were does do did has have had can isn't aren't wasn't doesn't don't didn't".split())
_ANYBODY = frozenset("anyone anybody someone somebody".split())
_AVERAGES = frozenset({"average", "mean"})
_HAVING = frozenset("have has had having with".split())
_LACKING = frozenset({"without", "no", "any"})
_GROUPS = frozenset({"each", "every", "per"})
_UNIVERSAL = frozenset("all every each both everyone everybody".split())
_DEGREES = frozenset({"most", "least", "more", "less"})
_ASKING = ("who", "whom", "when", "where", "which", "what", "whose")
_WORKING = ("negation", "superlative", "comparative", "other", "unknown")
_EITHER = re.compile(r"E\w{5} or E\w{5}")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """`roles` one a word. `asked`: where the noun of what is asked for may begin; -1 where nothing says.

    `content` and `working` are bit masks over the words: those that have to be explained, and those that must be
    executed. `limits`: by the position of their value. `excluded`: things that the answer leaves out.
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

    def at(self, role: Role) -> Iterator[int]:
        return (at for at, each in enumerate(self.roles) if each == role)


def read_question(
    question: str, unknown: Collection[str] = (), phrases: Collection[tuple[str, ...]] = ()
) -> AskedQuestion:
    """The tokens of `question`, and the form of its answer.

    `unknown`: words that the graph does not hold. `phrases`: the words of its relations; where one stands in the
    question, all of it is content ("full time").
    """
    words = words_of(question, unknown)
    roles = roles_of(words, _asked(words, "things"), phrases)
    limits, excluded = limits_in(words, roles), excluded_in(words, roles)
    for used in (*(limit.used for limit in limits.values()), *excluded.values()):
        roles = ["grammar" if used >> at & 1 and role != "value" else role for at, role in enumerate(roles)]
    form, silent, grouped = _form(words, roles)
    measures = {at: _measure(words, at) for at, role in enumerate(roles) if role in ("superlative", "comparative")}
    silent += [
        at + 1 for at in measures if words[at] in _DEGREES and words[at + 1 : at + 2] and words[at + 1] in OF_MOST
    ]
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
        limits=limits,
        grouped=grouped,
        universal=form == "truth" and not _UNIVERSAL.isdisjoint(words[1:3]),
        excluded=tuple(words[at] for at in excluded),
        text=question,
    )


def _without_sense(words: Sequence[str], roles: Sequence[Role], limits: Mapping[int, ValueLimit]) -> Iterator[int]:
    """ "Either" of two that are joined anyway, and "but" before a "not"."""
    is_joined = any(limit.other for limit in limits.values()) or _EITHER.search(" ".join(words)) is not None
    for at, word in enumerate(words):
        if (word == "either" and is_joined) or (word == "but" and "negation" in roles):
            yield at


def _unread(words: Sequence[str], form: Form) -> Iterator[int]:
    """ "And his siblings?" may ask of them what was asked before; "what for?" asks for a reason."""
    if words[:1] == ("and",) and ("'s" in words or len(words) < MIN_OF_ITS_OWN):
        yield 0
    if words[-1:] == ("for",) and form == "things":
        yield len(words) - 1


def _form(words: Sequence[str], roles: Sequence[Role]) -> tuple[Form, list[int], int]:
    """The form, the words that say so, and for groups where the noun of the group may begin."""
    counts = _counting(words, roles)
    grouped = next((at for at, word in enumerate(words) if word in _GROUPS), -1)
    if grouped > 0 and (counts or (roles[0] == "content" and words[grouped] == "per")):
        return "group", [*counts, grouped], grouped + 1
    if counts:
        return "count", counts, -1
    sums: tuple[tuple[Form, frozenset[str]], ...] = (("average", _AVERAGES), ("sum", TOTALS))
    for form, names in sums:
        said = [at for at, word in enumerate(words) if word in names]
        if said and "superlative" not in roles:
            return form, said, -1
    things = [at for at, role in enumerate(roles) if role == "thing"]
    if len(things) == 2 and ("comparative" in roles or ("superlative" in roles and "or" in words[slice(*things)])):
        return "compare", [], -1
    truth = _truth(words, roles)
    return ("truth" if truth and words[1] not in _ANYBODY else "things"), truth, -1


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
        if word in ("which", "what", "many", "number", "list", "show", "name", "give", "count"):
            return at + 1
    return 0 if words[:1] and words[0] not in ("who", "when", "where", "how", "whose", "whom") else -1
