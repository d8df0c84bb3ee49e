"""Finds the role of each token of a question, and the limits that the question sets on values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from app.reader.language.answer_form import normalise_idioms
from app.reader.language.question_words import GRAMMAR, PREPOSITIONS, words_in
from app.reader.language.relation_wording import EMPTY, is_telling
from app.reader.language.stated_bounds import NUMBERS, in_reading_order
from app.reader.meaning.question.measures import COMPARATIVE, OF_MOST, POSITIVE, SUPERLATIVE, Measure, StatedUnit
from kg_store.text.inflection import is_compared, is_participle, singular, verbs_of
from kg_store.text.words import is_pseudonym

Role = Literal[
    "grammar", "content", "thing", "value", "negation", "superlative", "comparative", "person", "other", "unknown"
]

NEGATIONS = frozenset("non outside not never no none without nobody lacking lacks lack cannot".split())
_ONE_PERSON = frozenset({"he", "she", "him"})
_PERSONS = frozenset("who whom people person persons anyone anybody someone somebody everyone everybody".split())
TOTALS = frozenset({"total", "altogether", "combined", "sum", "together"})
_PERIODS = frozenset("day week month quarter year".split())
_SPANS = frozenset("day days week weeks month months quarter quarters year years hour hours".split())
_BESIDE_TODAY = frozenset({"last", "past", "previous", "next", "coming"})
_BEFORE_SECOND = frozenset("and or have has had do does did is are was were".split())
_WH = frozenset("who whom which what when where how".split())
_SORTS = frozenset("kind kinds type types sort sorts one ones thing things person people total time".split())
_OTHERS = frozenset("other others else another".split())
DETERMINERS = frozenset({"all", "every", "each", "both", "many", "any", "some", "different"})
# Words that change the meaning of a question in a way that cannot be executed.
_UNREAD = frozenset(
    "only just exactly always except besides unless if nor neither either but same "
    "top half almost why how common besides between two three four five six seven eight nine ten".split()
)
_TITLES = frozenset("dr mr mrs ms miss sir prof".split())
_UNIVERSAL = frozenset({"all", "each", "every"})
_BEFORE_ALL = frozenset("and or of are is was were list show name give me tell do does did".split())
"""Words after which "all of their" asks for all of the things: "list all of their orders"."""
_LASTING = frozenset("between for over under more less longer shorter at about exactly until".split())
_POSSESSIVE = frozenset("his her their its my our your".split())
_SILENT = frozenset(
    "among amongst became become times out sell offer overall there here ever also currently now please listed "
    "recorded registered entered noted stored known under during within via behind thing pls plz thanks thx hi hello "
    "hey".split()
)


# Matches "a X or a Y" of two named things.
_OF_TWO = re.compile(r"(?:\b(?:an?|the) )?\b(E[a-z0-9]{5}) or (?:an?|the) (E[a-z0-9]{5})\b")

_SHORT = {"avg": "average", "num": "number", "nr": "number"}


def _contracted(words: Sequence[str]) -> list[str]:
    """Returns the words with short forms written in full: "avg" -> "average"."""
    return [part for word in words for part in _SHORT.get(word, word).split()]


def _without_units(words: Sequence[str], unknown: Collection[str]) -> tuple[str, ...]:
    """Returns the words without the unit of a value: an unknown word directly after it, such as EUR in 2500 EUR."""
    return tuple(
        word
        for at, word in enumerate(words)
        if not (at and word in unknown and words[at - 1][0] == "V" and is_pseudonym(words[at - 1]))
    )


def said_words(question: str) -> list[str]:
    """Returns the words of `question`, with idioms replaced and short forms in full."""
    whole = re.sub(r"\bwho or what\b", "what", normalise_idioms(question), flags=re.IGNORECASE)
    return _contracted(words_in(_OF_TWO.sub(r"\1 or \2", whole)))


def words_of(said: Sequence[str], unknown: Collection[str]) -> tuple[str, ...]:
    """Returns the words of a question, with each bound before its value and without the units of values.

    `said`: the words as they stand; `unknown`: words that the graph lacks, which may be units.
    """
    words = _without_units(in_reading_order(said), unknown)
    return words[:-1] if words and is_pseudonym(words[-1]) and words[-1] in words[:-1] else words


def with_prefix_apart(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns `words` with "unpaid" as "non paid", if the schema has a relation "paid" and none "unpaid"."""
    if not any(map(_denies, words)):
        return tuple(words)
    known = {word for phrase in phrases for word in phrase}
    verbs = frozenset[str]().union(*map(verbs_of, known))
    return tuple(part for word in words for part in (("non", word[2:]) if _is_denied(word, known, verbs) else (word,)))


def _is_denied(word: str, known: Collection[str], verbs: Collection[str]) -> bool:
    is_said = word[2:] in known or not verbs_of(word[2:]).isdisjoint(verbs)
    return _denies(word) and is_said and word not in known


def _denies(word: str) -> bool:
    """Returns True for a participle with the negative prefix "un", such as unpaid."""
    return word.startswith("un") and is_participle(word[2:])


def mask(positions: Iterable[int]) -> int:
    """Returns a bit mask with one bit for each position."""
    found = 0
    for at in positions:
        found |= 1 << at
    return found


def roles_of(words: Sequence[str], asked: int, phrases: Collection[tuple[str, ...]]) -> list[Role]:
    """Returns a role for each word.

    `asked`: the position where the noun of what is asked for may begin. `phrases`: the words of relations; if one
    occurs in the question, all its words are content ("full time").
    """
    roles: list[Role] = [_role(words, at) for at in range(len(words))]
    if 0 < asked < len(words) - 1 and roles[asked] == "grammar" and words[asked] in EMPTY - _SORTS - DETERMINERS:
        roles[asked] = "content"  # "What make is it": a word that usually says little is the asked noun here.
    labelled = {word for phrase in phrases for word in phrase}
    for at in range(1, len(words)):
        if words[at] == "number" and roles[at - 1] == roles[at] == "content" and "number" not in labelled:
            roles[at] = "grammar"  # "Plate number": the first word alone says what is meant.
    for at, word in enumerate(words):
        if (word in _SILENT or roles[at] == "unknown") and word in labelled and word not in GRAMMAR:
            roles[at] = "content"
    for at, word in enumerate(words):
        if roles[at] == "content" and word not in labelled and _denies(word):
            roles[at] = "unknown"  # "Unreleased films" must not be read as released ones.
    for at, word in enumerate(words):
        if word in TOTALS and word in labelled and roles.count("thing") == 1 and "content" not in roles:
            roles[at] = "content"  # "The total of X", if X is an order, asks for a value and not for a sum.
    for at in (at for span in labels_in(words, phrases) for at in span):
        is_greatest = words[at - 1] == "the" and words[at - 2] in ("has", "have", "had", "with")
        if words[at] not in GRAMMAR and roles[at] in ("grammar", "superlative", "unknown") and not is_greatest:
            roles[at] = "content"  # A superlative inside of a relation's words is one of them: "highest point".
    for span in denied_spans(words, phrases):
        for at in span:
            roles[at] = "content"
    for at in _whole_labels(words, roles, {phrase[0] for phrase in phrases if len(phrase) == 1}):
        roles[at] = "content"
    return roles


def _whole_labels(words: Sequence[str], roles: Sequence[Role], labels: Collection[str]) -> Iterator[int]:
    """Yields the positions of words that usually say little and are here the whole label of a relation.

    Such are sorts ("what type is X") and the last word that may say something ("which repairs are not done yet").
    """
    for at, word in enumerate(words):
        is_last = at > 0 and all(role == "grammar" for role in roles[at + 1 :])
        is_last = is_last and not (word in PREPOSITIONS and "content" in roles)  # "Which town is X from?"
        is_said = word in labels and (is_last or word in _SORTS)
        if (is_said or (word in _SORTS and singular(word) in labels)) and roles[at] in ("grammar", "unknown"):
            yield at


def is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


@cache
def denial_in(words: tuple[str, ...]) -> tuple[str, str]:
    """Returns the telling word that the words of a relation deny, and the word behind it: "mixed" and "with" for
    "should not be mixed with". Both are empty if they deny nothing.
    """
    at = next((at for at, word in enumerate(words) if is_negation(word.lstrip("^"))), len(words))
    told = next((at for at in range(at + 1, len(words)) if words[at] not in GRAMMAR), len(words))
    return words[told] if told < len(words) else "", words[told + 1] if told + 1 < len(words) else ""


def denied_spans(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> Iterator[range]:
    """Yields the tokens that deny what a relation denies itself, from the negation on: "not be mixed"."""
    for at in _said_denials(words, phrases):
        negation = next((n for n in range(at - 1, -1, -1) if is_negation(words[n])), -1)
        if negation >= 0 and all(word in GRAMMAR for word in words[negation + 1 : at]):
            yield range(negation, at + 1)


def is_contrary(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    """Returns True if the words affirm what the relation denies: "can be mixed with"."""
    return any(not any(map(is_negation, words[:at])) for at in _said_denials(words, [phrase]))


def _said_denials(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> Iterator[int]:
    """Yields the positions of words that a relation denies, where the word behind them follows too."""
    for told, behind in {denial_in(phrase) for phrase in phrases} - {("", "")}:
        for at, word in enumerate(words):
            is_same = word == told or not verbs_of(word).isdisjoint(verbs_of(told))
            if is_same and (not behind or behind in words[at + 1 :]):
                yield at


def particles_in(words: Sequence[str], verbs: Collection[tuple[str, str]]) -> list[int]:
    """Returns the positions of particles that follow any form of their verb in `verbs`: "after" in "looked after"."""
    pairs = enumerate(pairwise(words), start=1)
    return [at for at, (verb, after) in pairs if any((form, after) in verbs for form in (verb, *verbs_of(verb)))]


def labels_in(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> Iterator[range]:
    """Yields the tokens of each relation's name of several words that the question has to the letter."""
    for phrase in (phrase for phrase in phrases if len(phrase) > 1):
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                yield range(at, at + len(phrase))


def _role(words: Sequence[str], at: int) -> Role:
    word, before, after = words[at], words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if is_pseudonym(word):
        return "value" if word[0] == "V" else "thing"
    if _is_silent(word, before, after, words):
        return "grammar"
    if word in _OTHERS:
        return "other"
    if is_negation(word):
        return "negation"
    if word in _PERSONS:
        return "person"
    if word in _ONE_PERSON and any(map(is_pseudonym, words[:at])):
        return "grammar"  # "The husband of X ... what he takes" means somebody of this question.
    if _is_unread(words, at, before, after):
        return "unknown"
    if word in COMPARATIVE and word not in ("before", "after") and not (word in ("more", "less") and before == "no"):
        return "comparative"
    if word == "last" and _is_verb_of_time(words, at):
        return "content"
    if word in SUPERLATIVE:
        return "superlative"
    if is_compared(word) and word not in COMPARATIVE and (word.endswith("est") or "than" in words):
        return "unknown"
    return (
        "content"
        if (is_telling(word) and word not in _SILENT) or (word in POSITIVE and before == "how")
        else "grammar"
    )


def _is_silent(word: str, before: str, after: str, words: Sequence[str]) -> bool:
    """Returns True for words without meaning for the answer: "a month", "per month", "her" and "Dr" before X."""
    often = "many" not in words
    each = ("per", "each", "every")
    if often and ((word in _PERIODS and before in ("a", *each)) or (word in each and after in _PERIODS)):
        return True
    if word in _TITLES and is_pseudonym(after):
        return True
    return before in _POSSESSIVE and is_pseudonym(after) and after[0] == "E"


def _is_of_each(words: Sequence[str], at: int) -> bool:
    """Returns True for "their" in "do all heads live in the town of their clinic": each head with their own clinic."""
    is_truth = words[0] in ("do", "does", "did", "are", "is", "were", "was", "have", "has", "can")
    asks_all = is_truth and not {"all", "every", "each"}.isdisjoint(words[1:at])
    return asks_all and words[at] in ("their", "its", "his", "her", "own") and not any(map(is_pseudonym, words))


def _is_verb_of_time(words: Sequence[str], at: int) -> bool:
    """Returns True for a verb of duration before a measure: films that "last between" two numbers."""
    after = words[at + 1 : at + 2]
    is_measured = bool(after) and (after[0] in _LASTING or is_pseudonym(after[0]))
    return is_measured and words[max(0, at - 1)] not in ("the", "in", "this", "of", "at")


def _is_all_of_theirs(words: Sequence[str], at: int) -> bool:
    """Returns True for "all" in "customers who had all of their shipments delivered".

    It cannot be executed: without it, customers with a single delivered shipment would be returned too.
    """
    behind = tuple(words[at + 1 : at + 4])
    theirs = behind[:1] if words[at] == "all" else behind[1:2] if behind[:1] == ("one",) else ()
    theirs = behind[1:2] if behind[:1] == ("of",) else behind[2:3] if behind[:2] == ("one", "of") else theirs
    is_asked = at > 0 and words[at - 1] not in _BEFORE_ALL
    return words[at] in _UNIVERSAL and is_asked and bool(theirs) and theirs[0] in _POSSESSIVE


def _is_unread(words: Sequence[str], at: int, before: str, after: str) -> bool:
    """Returns True for a word that cannot be executed, or that begins another question."""
    word = words[at]
    if at > 1 and word in _WH and before in _BEFORE_SECOND and not _WH.isdisjoint(words[:at]):
        return True
    if word in _BESIDE_TODAY and _SPANS.intersection(words[at + 1 : at + 3]):
        return True  # "In the last six months" cannot be executed, because the current day is unknown here.
    if word in TOTALS and not SUPERLATIVE.keys().isdisjoint(words):
        return True
    if _is_all_of_theirs(words, at) or _is_of_each(words, at):
        return True
    if word == "both" and "and" not in words:
        return True  # "The effects of both of her drugs" are those that each of them has.
    return word in _UNREAD and not (word == "how" and after in {"many", *POSITIVE})


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
    """A value that the question compares others with: "more than 90 minutes", "in March or April".

    `name`: its pseudonym; `operator`: the comparison; `used`: bit mask of all tokens that say it. `upper`: the end of
    a range, else empty. `other`: an alternative value, else empty. `counts`: position of the noun behind the value
    that it may count ("at least 3 orders"), else -1. `unit`: its stated unit. `measure`: what a comparative adjective
    measures; then `operator` is > for more of it, even if that means a lesser value ("older" is an earlier date of
    birth).
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
        """Returns the expression for those of `things` whose value of the relation `label` keeps to the limit."""
        kept = f'filter({things}, "{label}", {self.operator}, {self.name})'
        if self.upper:
            return f'filter({kept}, "{label}", <=, {self.upper})'
        return f'union({kept}, filter({things}, "{label}", =, {self.other}))' if self.other else kept


def limits_in(words: Sequence[str], roles: Sequence[Role], numbers: Collection[str] = ()) -> dict[int, ValueLimit]:
    """Returns each limit by the position of its value; a range, or two alternatives, make one limit.

    `numbers`: the values that are numbers. "From" before another value means equal ("from 1984"), unless "on" follows.
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
    """Returns the limit with "from" resolved: "films from 1984" means =, "from 1984 on" >=, "from 20 seats" >=."""
    if words[at + 1 : at + 2] and words[at + 1] in _ONWARDS:
        return replace(limit, used=limit.used | 1 << at + 1)
    is_one = limit.operator == ">=" and not (is_number or limit.upper or "starting" in words[max(0, at - 3) : at])
    return replace(limit, operator="=") if is_one else limit


def _pair(words: Sequence[str], roles: Sequence[Role], at: int) -> tuple[ValueLimit, int] | None:
    """Returns the limit of two values and the position of the second, or None if the value at `at` stands alone.

    Examples: "between 3 and 5", "in March or April".
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
    """Returns the positions of things named only to be excluded, each with the bit mask of the tokens that say so."""
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
    """Returns the limit of "longer than 90 minutes" or "more expensive than 20 euros".

    Returns None if the word at position `than` is not "than" or no adjective that measures stands before it.
    """
    word, before = (words[max(0, than - 1)], words[max(0, than - 2)]) if than > 0 else ("", "")
    if words[than] != "than":
        return None
    if word in OF_MOST and before in ("more", "less"):
        measure = OF_MOST[word] if before == "more" else OF_MOST[word].turned()
        return ValueLimit(words[at], ">", mask(range(than - 2, at + 1)), measure=measure)
    if word in COMPARATIVE:
        return ValueLimit(words[at], ">", mask(range(than - 1, at + 1)), measure=COMPARATIVE[word])
    return None
