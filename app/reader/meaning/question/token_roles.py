"""The role of each word in a question: thing, value, content, operator or grammar."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from app.reader.language.idioms import normalise_idioms
from app.reader.language.question_words import GRAMMAR, words_in
from app.reader.language.schema_vocabulary import EMPTY, is_telling
from app.reader.language.stated_bounds import in_reading_order
from app.reader.meaning.question.measures import COMPARATIVE, POSITIVE, SUPERLATIVE
from kg_store.text.inflection import is_compared, is_participle, verbs_of
from kg_store.text.words import is_pseudonym

Role = Literal[
    "grammar", "content", "thing", "value", "negation", "superlative", "comparative", "person", "other", "unknown"
]

_NEGATIONS = frozenset("non outside not never no none without nobody lacking lacks lack cannot".split())
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
# Words that change the question in a way that cannot be executed.
_UNREAD = frozenset(
    "only just exactly always except besides unless if nor neither either but same "
    "top half almost why how common besides between two three four five six seven eight nine ten".split()
)
_TITLES = frozenset("dr mr mrs ms miss sir prof".split())
_UNIVERSAL = frozenset({"all", "each", "every"})
_BEFORE_ALL = frozenset("and or of are is was were list show name give me tell do does did".split())
"""Words before "all of their" where it asks for all of the things: "list all of their orders"."""
_LASTING = frozenset("between for over under more less longer shorter at about exactly until".split())
_POSSESSIVE = frozenset("his her their its my our your".split())
_SILENT = frozenset(
    "among amongst became become times out sell offer overall there here ever also currently now please listed "
    "recorded registered entered noted stored known under during within via behind thing pls plz thanks thx hi hello "
    "hey".split()
)


# "A Golden Heron or a Silver Heron".
_OF_TWO = re.compile(r"(?:\b(?:an?|the) )?\b(E[a-z0-9]{5}) or (?:an?|the) (E[a-z0-9]{5})\b")

_SHORT = {
    "whats": "what is", "whos": "who is", "wheres": "where is", "hows": "how is", "whens": "when is", "avg": "average",
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't",
    "werent": "weren't", "hasnt": "hasn't", "havent": "haven't", "cant": "can't", "num": "number", "nr": "number",
}  # fmt: skip


def _contracted(words: Sequence[str]) -> list[str]:
    """The words with short forms written in full: "whats" -> "what is"."""
    return [part for word in words for part in _SHORT.get(word, word).split()]


def _without_units(words: Sequence[str], unknown: Collection[str]) -> tuple[str, ...]:
    """The words without the unit of a value: an unknown word directly after a value, such as EUR in 2500 EUR."""
    return tuple(
        word
        for at, word in enumerate(words)
        if not (at and word in unknown and words[at - 1][0] == "V" and is_pseudonym(words[at - 1]))
    )


def said_words(question: str) -> list[str]:
    """The words of `question`, with idioms replaced and short forms in full."""
    whole = re.sub(r"\bwho or what\b", "what", normalise_idioms(question), flags=re.IGNORECASE)
    return _contracted(words_in(_OF_TWO.sub(r"\1 or \2", whole)))


def words_of(said: Sequence[str], unknown: Collection[str]) -> tuple[str, ...]:
    """The words of a question in the standard order; `unknown`: words that the graph does not hold."""
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
    """True of a participle with the negative prefix "un": unpaid."""
    return word.startswith("un") and is_participle(word[2:])


def mask(positions: Iterable[int]) -> int:
    """A bit mask with one bit for each position."""
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
        if word in _SILENT and word in labelled and word not in GRAMMAR:
            roles[at] = "content"
    for at, word in enumerate(words):
        if roles[at] == "content" and word not in labelled and _denies(word):
            roles[at] = "unknown"  # "Unreleased films" must not be read as released ones.
    for at, word in enumerate(words):
        if word in TOTALS and word in labelled and roles.count("thing") == 1 and "content" not in roles:
            roles[at] = "content"  # "The total of X", if X is an order, asks for a value and not for a sum.
    for at in _in_phrases(words, phrases):
        if words[at] not in GRAMMAR and roles[at] == "grammar":
            roles[at] = "content"
    return roles


def particles_in(words: Sequence[str], verbs: Collection[tuple[str, str]]) -> list[int]:
    """Positions of the particles of `verbs` behind any form of their verb: "looked after"."""
    pairs = enumerate(pairwise(words), start=1)
    return [at for at, (verb, after) in pairs if any((form, after) in verbs for form in (verb, *verbs_of(verb)))]


def _in_phrases(words: Sequence[str], phrases: Collection[tuple[str, ...]]) -> Iterator[int]:
    for phrase in (phrase for phrase in phrases if len(phrase) > 1):
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                yield from range(at, at + len(phrase))


def _role(words: Sequence[str], at: int) -> Role:
    word, before, after = words[at], words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if is_pseudonym(word):
        return "value" if word[0] == "V" else "thing"
    if _is_silent(word, before, after, words):
        return "grammar"
    if word in _OTHERS:
        return "other"
    if word in _NEGATIONS or word.endswith(("n't", "n’t")):
        return "negation"
    if word in _PERSONS:
        return "person"
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
    """True of words without meaning for the answer: "a month", "per month", "her brother" before X, "Dr" before X."""
    often = "many" not in words
    each = ("per", "each", "every")
    if often and ((word in _PERIODS and before in ("a", *each)) or (word in each and after in _PERIODS)):
        return True
    if word in _TITLES and is_pseudonym(after):
        return True
    return before in _POSSESSIVE and is_pseudonym(after) and after[0] == "E"


def _is_of_each(words: Sequence[str], at: int) -> bool:
    """True of "their" in "do all heads live in the town of their clinic": each head with their own clinic."""
    is_truth = words[0] in ("do", "does", "did", "are", "is", "were", "was", "have", "has", "can")
    asks_all = is_truth and not {"all", "every", "each"}.isdisjoint(words[1:at])
    return asks_all and words[at] in ("their", "its", "his", "her", "own") and not any(map(is_pseudonym, words))


def _is_verb_of_time(words: Sequence[str], at: int) -> bool:
    """True of verbs of duration before a measure: films that "last between" two numbers, "may last"."""
    after = words[at + 1 : at + 2]
    is_measured = bool(after) and (after[0] in _LASTING or is_pseudonym(after[0]))
    return is_measured and words[max(0, at - 1)] not in ("the", "in", "this", "of", "at")


def _is_all_of_theirs(words: Sequence[str], at: int) -> bool:
    """True of "all" in "customers who have had all of their shipments delivered": one shipment is not enough."""
    behind = tuple(words[at + 1 : at + 4])
    theirs = behind[:1] if words[at] == "all" else behind[1:2] if behind[:1] == ("one",) else ()
    theirs = behind[1:2] if behind[:1] == ("of",) else behind[2:3] if behind[:2] == ("one", "of") else theirs
    is_asked = at > 0 and words[at - 1] not in _BEFORE_ALL
    return words[at] in _UNIVERSAL and is_asked and bool(theirs) and theirs[0] in _POSSESSIVE


def _is_unread(words: Sequence[str], at: int, before: str, after: str) -> bool:
    """True of a word that changes the question in a way that cannot be executed, and of a second question."""
    word = words[at]
    if at > 1 and word in _WH and before in _BEFORE_SECOND and not _WH.isdisjoint(words[:at]):
        return True
    if word in _BESIDE_TODAY and _SPANS.intersection(words[at + 1 : at + 3]):
        return True  # "In the last six months" cannot be executed, because the current day is unknown here.
    if word in TOTALS and not SUPERLATIVE.keys().isdisjoint(words):
        return True
    if _is_all_of_theirs(words, at) or _is_of_each(words, at):
        return True
    return word in _UNREAD and not (word == "how" and after in {"many", *POSITIVE})
