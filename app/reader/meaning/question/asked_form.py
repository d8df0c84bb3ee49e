"""Reads the form of answer, and the time, that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from app.llm.in_house import AskedTime, TimeRelation
from app.reader.language.question_words import PREPOSITIONS
from app.reader.language.stated_bounds import occurrences_in
from app.reader.meaning.question.token_roles import DETERMINERS, TOTALS, Role
from kg_store.text.inflection import is_participle, singular

_PART: Final = (
    r"(?:(?:the|early|late|mid|middle|end|beginning|start|course|year|years|season|summer|winter|spring|autumn|fall"
    r"|month|day|decade|date|period|of)\s+)*"
)
_IN: Final = r"(?:as\s+of|back\s+in|in|during|on|at|for|by|around|throughout|within)\s+"
_NOW: Final = re.compile(
    r"\b(?:right\s+now|as\s+of\s+(?:now|today)|now|currently|today|nowadays|these\s+days|at\s+present"
    r"|at\s+the\s+moment|presently|present[- ]day|still|current)\b(?!['’])",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:former|formerly|previous|previously|ex)\b[ -]", re.IGNORECASE)
_OF_FIRST: Final = (
    r"(?!\s+(?:names?|lad(?:y|ies)|aid|class|language|nations?|degree|minister|part|year|years|month|months|weeks?"
    r"|days?|decade|quarter|season|night|century)\b|(?:\s+\w+){1,2}\s+(?:years?|dates?|days?|months?)\b)"
)
_FIRST: Final = re.compile(
    rf"\b(?:very\s+)?(?:first|earliest)\b{_OF_FIRST}(?:\s+times?(?:\s+that)?\b)?", re.IGNORECASE
)
_LAST: Final = re.compile(
    rf"\b(?:very\s+)?(?:most\s+recent|last|latest)\b{_OF_FIRST}(?:\s+times?(?:\s+that)?\b)?", re.IGNORECASE
)
_OF_TIMES: Final = re.compile(r"(?:\b(?:is|was|'s)\s+|['’]s\s+)?(?:\bfor\s+)?\bthe\s+\Z", re.IGNORECASE)
_WHEN: Final = (
    r"(?:at\s+the\s+time|by\s+the\s+time|on\s+the\s+day|in\s+the\s+year|the\s+day|the\s+year|when|while)"
    r"(?:\s+(?:that|when|in\s+which))?\s+(?:the\s+)?"
)
_EVENT: Final = re.compile(
    rf"(?<=\s){_WHEN}(?P<thing>[ES]\w{{5}})\s+(?P<verb>(?:(?:was|were|is|got|first|had|has|been)\s+)*[a-z]+"
    r"(?:\s+(?:out|up|off|on|place|in))?)\s*\??\Z",
    re.IGNORECASE,
)
_DURING: Final = re.compile(r"(?<=\s)(?:during|throughout|at\s+the\s+time\s+of)\s+(?:the\s+)?(?P<thing>[ES]\w{5})\b")
_OF_ONE: Final = re.compile(
    r"\bwho(?:m)?(?:\s+(?:is|was)|['’]?s)\s+(?:(?:the|a|an|in|head|leader)\b|[ES]\w{5}\b)"
    r"|\b(?:is|was|['’]s)\s+the\s+(?!\w+s\b)\w+\s+of\b",
    re.IGNORECASE,
)
"""Matches wordings that ask for the only holder of an office, such as "who is the head of"."""
_OF_DATE: Final = re.compile(r"\b(?:when|date|day|month|year|season|since\s+when|how\s+long)\b", re.IGNORECASE)


def asked_time(question: str, dates: Collection[str]) -> AskedTime | None:
    """Returns the time that `question` asks about, or None if it names no time, or several.

    `dates`: the pseudonyms in the question that stand for dates.
    """
    found = _read(question, dates)
    if found is None:
        return None
    is_of_date = not found.is_stated and _OF_DATE.search(question) is not None
    return replace(found, is_of_one=_OF_ONE.search(question) is not None, is_of_date=is_of_date)


def _read(question: str, dates: Collection[str]) -> AskedTime | None:
    dated = next(_at_dates(question, dates), None) or _of_things(question)
    now = tuple(match.span() for match in _NOW.finditer(question))
    if dated is not None:
        # A date overrides "now": "the current governor in 2010" means the governor of 2010.
        return replace(dated, parts=(*dated.parts, *(part for part in now if not _within(part, dated.parts))))
    if now:
        return AskedTime("now", parts=now)
    past = tuple((match.start(), match.end()) for match in _PAST.finditer(question))
    if past:
        return AskedTime("past", parts=past)
    found = [
        AskedTime(relation, parts=(_whole(question, match),))
        for relation, pattern in _ENDS
        for match in pattern.finditer(question)
    ]
    return found[0] if len(found) == 1 else None


_ENDS: Final[tuple[tuple[TimeRelation, re.Pattern[str]], ...]] = (("first", _FIRST), ("last", _LAST))


def _at_dates(question: str, dates: Collection[str]) -> Iterator[AskedTime]:
    if not dates:
        return
    one = "|".join(map(re.escape, dates))
    patterns: tuple[tuple[TimeRelation, str], ...] = (
        (
            "at",
            rf"\b(?:between|from)\s+{_PART}(?P<one>{one})\s+(?:and|to|until|till|through|-)\s+{_PART}(?P<two>{one})",
        ),
        ("since", rf"\bfrom\s+{_PART}(?P<one>{one})\s+(?:on|onwards?)\b"),
        ("since", rf"\b(?:ever\s+)?(?:since|starting\s+in)\s+{_PART}(?P<one>{one})"),
        ("before", rf"\b(?:before|prior\s+to|earlier\s+than)\s+{_PART}(?P<one>{one})"),
        ("after", rf"\b(?:after|later\s+than)\s+{_PART}(?P<one>{one})"),
        ("until", rf"\b(?:until|till|up\s+to)\s+{_PART}(?P<one>{one})"),
        ("at", rf",?\s*\b{_IN}{_PART}(?P<one>{one})(?:\s+(?:season|term)\b)?"),
        ("at", rf"(?:\s+|,\s*)\(?(?P<one>{one})\)?(?=\s*[?.]?\s*\Z)"),
    )
    for relation, pattern in patterns:
        match = re.search(pattern, question, re.IGNORECASE)
        if match is not None:
            groups = match.groupdict()
            said = tuple(name for name in (groups["one"], groups.get("two")) if name)
            yield AskedTime(relation, said, parts=(match.span(),))


def _of_things(question: str) -> AskedTime | None:
    for pattern in (_EVENT, _DURING):
        match = pattern.search(question)
        if match is not None:
            return AskedTime(
                "at", thing=match["thing"], verb=match.groupdict().get("verb") or "", parts=(match.span(),)
            )
    return None


def _whole(question: str, match: re.Match[str]) -> tuple[int, int]:
    """Returns the start and end of the words in the question that state the time found by `match`.

    Example: all of "is the last time" in "when is the last time they won", not only "last time".
    """
    before = _OF_TIMES.search(question, 0, match.start()) if "time" in match[0].lower() else None
    return (before.start() if before else match.start()), match.end()


def _within(part: tuple[int, int], parts: Collection[tuple[int, int]]) -> bool:
    return any(start <= part[0] and part[1] <= end for start, end in parts)


Form = Literal["things", "count", "truth", "average", "sum", "group", "compare", "minus"]

TRUTHS = frozenset(
    "is are was were does do did has have had can could would will should "
    "isn't aren't wasn't doesn't don't didn't".split()
)
_ANYBODY = frozenset("anyone anybody someone somebody".split())
IN_TIME = frozenset({"before", "after"})
MAX_APART = 4
"""Greatest distance in tokens from X to Y in "films by X are newer than Y". Chosen by hand; not fitted."""
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
    """The group of a question that asks for a number per group: "per ward", "per year".

    `at`: position where the noun of the group may begin, else -1. `silent`: positions of words that only say that
    there is a group ("per"). `period`: the year or month to group by, else empty. `function`: sum or average per
    group, else empty.
    """

    at: int = -1
    silent: tuple[int, ...] = ()
    period: str = ""
    function: str = ""


def form_of(words: Sequence[str], roles: Sequence[Role]) -> tuple[Form, list[int], Group]:
    """Returns the form of a question, the positions of the words that say it, and its group ("per ward")."""
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
        # "How many" and "on average" together ask for the average: "how many pages does a thesis have on average".
        return function, [*counts, *totals], Group()
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
    """Returns True if the second thing bounds a set: "films by X newer than Y", "films by X out before Y"."""
    before = words[things[1] - 1]
    is_near = before in IN_TIME or (before == "than" and things[1] - things[0] <= MAX_APART)
    return is_near and words[0] not in (*TRUTHS, "how", "by")


def _total(words: Sequence[str], roles: Sequence[Role]) -> tuple[Literal["average", "sum", ""], list[int]]:
    """Returns the function over all values that is asked for (sum or average), and the positions of its words."""
    for function, names in _FUNCTIONS:
        said = [at for at, word in enumerate(words) if word in names]
        if said and not (roles[said[0]] == "content" and roles.count("content") == 1):
            return function, said
    return "", []


def _group(words: Sequence[str], roles: Sequence[Role], is_count: bool, function: str) -> Group:
    """Returns the group of a question that asks for a number per group.

    The noun of the group follows "per" or "each". It may also follow "by" if a sum or average is asked for ("total
    weight by type"), or the second question word of a count ("how many patients are in which ward").
    """
    for at in range(1, len(words) - 1):
        word, after = words[at], words[at + 1]
        is_bare = roles[0] == "content" and word == "per"
        # "Crossings per month" counts them; "rent per month" does not.
        is_counted = is_count or (is_bare and singular(words[0]) != words[0])
        if word in _GROUPS and is_counted and after in PERIODS:
            return Group(at + 1, (at, at + 1), period=after)
        if word in _GROUPS and (is_count or function or is_bare):
            return Group(at + 1, (at,), function=function) if after not in _TIMES else Group()
        if word == "by" and function and roles[at + 1] in ("content", "grammar") and not is_participle(words[at - 1]):
            return Group(at + 1, (at,), function=function)
        if word in ("which", "what") and is_count and roles[at + 1] == "content":
            return Group(at + 1, (at,))
    return Group()


def _by_how_much(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """Returns the positions of the words that ask by how much one thing's value exceeds another's, or none."""
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
    """Returns the positions of the words that ask for a count: "how many", "the number of", "count"."""
    found = [part for at in range(1, len(words)) if words[at - 1 : at + 1] == ("how", "many") for part in (at - 1, at)]
    found += occurrences_in(words)
    for at, word in enumerate(words[:-1]):
        # In "larger number" or "phone number", the word does not ask for a count.
        is_said = not at or roles[at - 1] not in ("content", "comparative", "superlative")
        if word in ("number", "count") and words[at + 1] in ("of", "by") and is_said:
            found.append(at)
    return [*found, 0] if words[:1] in (("count",), ("number",)) else found


def _truth(words: Sequence[str], roles: Sequence[Role]) -> list[int]:
    """Returns the positions of the words that make a yes/no question; empty for other questions.

    These are the first verb and a tag at the end.
    """
    if len(words) > 1 and roles[0] == "thing" and words[1] in TRUTHS:
        if (words[2:3] and words[2] in (*ASKING, "how")) or words[-1] in ASKING or _asks_at_end(words, roles):
            return []  # The question word stands at the end: "X has which siblings?".
        return [1, len(words) - 2, len(words) - 1] if words[-2] in TRUTHS else [1]
    if len(words) > 1 and words[0] in TRUTHS and "or" not in words:
        return [0, *(at for at in (1, 2) if words[at : at + 1] and words[at] in DETERMINERS)]
    return []


def _asks_at_end(words: Sequence[str], roles: Sequence[Role]) -> bool:
    """Returns True if the question word stands near the end: "X is in which country".

    False for "... the film in which X plays", where "which" asks nothing.
    """
    for at in range(3, len(words)):
        if words[at] in ("which", "what", "whom") and words[at - 1] in PREPOSITIONS:
            is_noun = set(roles[at + 1 :]) == {"content"}
            return is_noun or "the" not in words[2:at]
    return False


def universal_in(words: Sequence[str], roles: Sequence[Role]) -> int:
    """Returns the position of "all", "every" or "each", or -1; "at all", "all right" and "each month" do not count."""
    if "superlative" in roles:
        return -1
    for at in range(1, len(words) - 1):
        is_adverb = words[at - 1] in _AT_ALL and words[at + 1] in PREPOSITIONS
        is_phrase = words[at] == "all" and (is_adverb or words[at + 1] == "right")
        if words[at] in _UNIVERSAL and not is_phrase and words[at + 1] not in _TIMES:
            return at
    return next((at for at in (1, 2) if words[at : at + 1] and words[at] in _EVERYBODY), -1)


def denied_in(words: Sequence[str], roles: Sequence[Role]) -> int:
    """Returns the position of the only "none" or "no" if it denies the whole yes/no question, else -1."""
    negations = [at for at, role in enumerate(roles) if role == "negation"]
    if len(negations) != 1 or words[negations[0]] not in ("none", "no"):
        return -1
    at = negations[0]
    is_inside = words[at - 1] in _WITHIN or "content" in roles[:at] or "person" in roles[:at]
    return -1 if is_inside else at
