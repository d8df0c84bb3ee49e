"""The form of answer that a question asks for, and the words that say it: "how many", "average", "per", "is X"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.reader.language.question_words import PREPOSITIONS
from app.reader.language.ranked_words import occurrences_in
from app.reader.meaning.question.token_roles import DETERMINERS, TOTALS, Role
from kg_store.text.inflection import is_participle

Form = Literal["things", "count", "truth", "average", "sum", "group", "compare", "minus"]

TRUTHS = frozenset(
    "is are was were does do did has have had can could would will should "
    "isn't aren't wasn't doesn't don't didn't".split()
)
_ANYBODY = frozenset("anyone anybody someone somebody".split())
IN_TIME = frozenset({"before", "after"})
MAX_APART = 4
"""Most tokens between X and Y in "films by X are newer than Y". Chosen by hand; not fitted."""
_UNIVERSAL = frozenset({"all", "every", "each"})
_EVERYBODY = frozenset({"both", "everyone", "everybody"})
_AT_ALL = frozenset({"at", "in", "above", "after"})
_WITHIN = frozenset("with having that which".split())
_AVERAGES = frozenset({"average", "mean"})
_GROUPS = frozenset({"each", "every", "per"})
_TIMES = frozenset({"day", "week", "month", "quarter", "year", "hour", "time"})
PERIODS = frozenset({"year", "month"})
_FUNCTIONS: tuple[tuple[Literal["average", "sum"], frozenset[str]], ...] = (("average", _AVERAGES), ("sum", TOTALS))
ASKING = ("who", "whom", "when", "where", "which", "what", "whose")


@dataclass(frozen=True, slots=True)
class Group:
    """The group that a question asks per (see AskedQuestion); `silent` are tokens that only say that
    there is a group.
    """

    at: int = -1
    silent: tuple[int, ...] = ()
    period: str = ""
    function: str = ""


def form_of(words: Sequence[str], roles: Sequence[Role]) -> tuple[Form, list[int], Group]:
    """Returns the form, the positions of the words that say it, and the group that is asked per."""
    if less := _by_how_much(words, roles):
        return "minus", less, Group()
    counts = _counting(words, roles)
    function, totals = _total(words, roles)
    is_total = bool(totals) and "superlative" not in roles
    group = _group(words, roles, bool(counts), function if is_total and not counts else "")
    if group.at > 0:
        return "group", [*counts, *(totals if is_total else ()), *group.silent], group
    if counts and not (function == "average" and words[totals[0] - 1] == "on" and is_total):
        return "count", counts, Group()
    if is_total and function:
        return function, [*counts, *totals], Group()  # "How many pages does a thesis have on average".
    things = [at for at, role in enumerate(roles) if role == "thing"]
    is_beside = len(things) == 2 and "than" not in words[: things[0]] and not _is_bound(words, things)
    if is_beside and ("comparative" in roles or ("superlative" in roles and "or" in words[slice(*things)])):
        return "compare", [], Group()
    truth = _truth(words, roles)
    if not truth or words[1] in _ANYBODY:
        return "things", truth, Group()
    universal = universal_in(words, roles)
    return "truth", [*truth, *((universal,) if universal >= 0 else ())], Group()


def _is_bound(words: Sequence[str], things: Sequence[int]) -> bool:
    """True if the second thing bounds a set: "films by X newer than Y", "films by X out before Y"."""
    before = words[things[1] - 1]
    is_near = before in IN_TIME or (before == "than" and things[1] - things[0] <= MAX_APART)
    return is_near and words[0] not in (*TRUTHS, "how", "by")


def _total(words: Sequence[str], roles: Sequence[Role]) -> tuple[Literal["average", "sum", ""], list[int]]:
    """The function over all values that is asked for (sum or average) and the positions of its words."""
    for function, names in _FUNCTIONS:
        said = [at for at, word in enumerate(words) if word in names]
        if said and not (roles[said[0]] == "content" and roles.count("content") == 1):
            return function, said
    return "", []


def _group(words: Sequence[str], roles: Sequence[Role], is_count: bool, function: str) -> Group:
    """The group of a question: the noun after "per" or "each", after "by" for a sum, or after a count's second
    question word.
    """
    for at in range(1, len(words) - 1):
        word, after = words[at], words[at + 1]
        if word in _GROUPS and is_count and after in PERIODS:
            return Group(at + 1, (at, at + 1), period=after)
        if word in _GROUPS and (is_count or function or (roles[0] == "content" and word == "per")):
            return Group(at + 1, (at,), function=function) if after not in _TIMES else Group()
        if word == "by" and function and roles[at + 1] in ("content", "grammar") and not is_participle(words[at - 1]):
            return Group(at + 1, (at,), function=function)
        if word in ("which", "what") and is_count and roles[at + 1] == "content":
            return Group(at + 1, (at,))
    return Group()


def _by_how_much(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """Positions of the words that ask by how much one thing's value exceeds another's; empty if none do."""
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
    """Positions of the words that ask for a count: how many, the number of, count."""
    found = [part for at in range(1, len(words)) if words[at - 1 : at + 1] == ("how", "many") for part in (at - 1, at)]
    found += occurrences_in(words)
    for at, word in enumerate(words[:-1]):
        is_said = not at or roles[at - 1] not in ("content", "comparative", "superlative")  # No "larger number".
        if word in ("number", "count") and words[at + 1] in ("of", "by") and is_said:
            found.append(at)
    return [*found, 0] if words[:1] in (("count",), ("number",)) else found


def _truth(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """Positions of the words that make a yes/no question: the first verb and a tag at the end; empty for other
    questions.
    """
    if len(words) > 1 and roles[0] == "thing" and words[1] in TRUTHS:
        if (words[2:3] and words[2] in (*ASKING, "how")) or words[-1] in ASKING or _asks_at_end(words, roles):
            return []  # "X has which siblings?"
        return [1, len(words) - 2, len(words) - 1] if words[-2] in TRUTHS else [1]
    if len(words) > 1 and words[0] in TRUTHS and "or" not in words:
        return [0, *(at for at in (1, 2) if words[at : at + 1] and words[at] in DETERMINERS)]
    return []


def _asks_at_end(words: Sequence[str], roles: Sequence[Role]) -> bool:
    """True of "X is in which country" and "X was the director of which films"; false of "... the film in which X
    plays".
    """
    for at in range(3, len(words)):
        if words[at] in ("which", "what", "whom") and words[at - 1] in PREPOSITIONS:
            is_noun = set(roles[at + 1 :]) == {"content"}
            return is_noun or "the" not in words[2:at]
    return False


def universal_in(words: Sequence[str], roles: Sequence[Role]) -> int:
    """Position of "all", "every" or "each"; -1 if there is none; those in "at all" and "each month" do not count."""
    if "superlative" in roles:
        return -1
    for at in range(1, len(words) - 1):
        is_phrase = words[at] == "all" and words[at - 1] in _AT_ALL and words[at + 1] in PREPOSITIONS
        if words[at] in _UNIVERSAL and not is_phrase and words[at + 1] not in _TIMES:
            return at
    return next((at for at in (1, 2) if words[at : at + 1] and words[at] in _EVERYBODY), -1)


def denied_in(words: Sequence[str], roles: Sequence[Role]) -> int:
    """Position of the only "none" or "no", if it denies the whole yes/no question; else -1."""
    negations = [at for at, role in enumerate(roles) if role == "negation"]
    if len(negations) != 1 or words[negations[0]] not in ("none", "no"):
        return -1
    at = negations[0]
    is_inside = words[at - 1] in _WITHIN or "content" in roles[:at] or "person" in roles[:at]
    return -1 if is_inside else at
