"""Reads the bounds and ranks that a question states: "more than", "before", "between", "the first three"."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.reader.language.question_words import GRAMMAR
from kg_store.text.inflection import is_participle
from kg_store.text.words import is_pseudonym

NUMBERS: Final = {
    word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
"""Numbers that a question may state as a word; other numbers are replaced by pseudonyms of values."""

_MORE: Final = "more higher later greater larger above over up longer newer upwards onwards on".split()
_LESS: Final = "less fewer lower earlier smaller below under shorter".split()
_BEHIND: Final[dict[tuple[str, ...], str]] = {
    **{("or", word): "least" for word in _MORE if word not in ("up", "upwards", "onwards", "on")},
    **{("and", word): "least" for word in ("above", "over", "up", "more", "higher", "later", "upwards", "onwards")},
    **{("or", word): "most" for word in _LESS},
    **{("and", word): "most" for word in ("below", "under", "less", "earlier")},
    ("plus",): "least",
    ("upwards",): "least",
    ("onwards",): "least",
    ("minimum",): "least",
    ("maximum",): "most",
}
_ONE_WORD: Final = {
    "solely": "only", "exclusively": "only", "nothing but": "only", "nobody but": "only", "none but": "only",
    "no one but": "only", "purely": "only",
}  # fmt: skip
_BEFORE: Final = {
    "a minimum of": "at least", "minimum of": "at least", "a maximum of": "at most", "maximum of": "at most",
    "upwards of": "more than", "in excess of": "more than", "precisely": "exactly", "during": "in",
    "in the course of": "in", "throughout": "in",
}  # fmt: skip
_LEAVING: Final = frozenset("go goes went come comes came move moves get gets got make makes run runs ran".split())
_EARNING: Final = {"earner": "person earn", "earners": "people earn"}


def in_reading_order(words: Sequence[str]) -> list[str]:
    """Returns `words` with each bound before its value, and with one fixed wording for all bounds of the same meaning.

    Examples: "3 or more" becomes "at least 3", "in excess of 3" becomes "more than 3".
    """
    found = [part for word in words for part in _EARNING.get(word, word).split()]
    found = _replaced(found, _ONE_WORD, before_value=False)
    found = _replaced(_alone(_out_of(found)), _BEFORE, before_value=True)
    at = 0
    while at < len(found):
        if is_number(found[at]):
            found = _bounded(found, at)
        at += 1
    return found


def is_number(word: str) -> bool:
    """Returns True for a number word, and for the pseudonym of a value, which may be a number."""
    return word in NUMBERS or (is_pseudonym(word) and word[0] == "V")


def _bounded(words: list[str], at: int) -> list[str]:
    """Returns `words` with a bound behind the value at `at` put before it: "3 or more" becomes "at least 3".

    A noun may stand between the value and the bound.
    """
    before = words[at - 1] if at else ""
    if before in ("least", "most", "than", "between", "and"):
        return words
    for start in (at + 1, at + 2):
        for phrase, bound in _BEHIND.items():
            end = start + len(phrase)
            if tuple(words[start:end]) == phrase and words[end : end + 1] != ["than"] and not _goes_on(words, end):
                return [*words[:at], "at", bound, *words[at:start], *words[end:]]
    return words


def _goes_on(words: Sequence[str], end: int) -> bool:
    """Returns True if a second value follows at `end`: "before V or after V"."""
    return end < len(words) and is_number(words[end]) and words[end - 1] not in ("plus", "more", "less", "fewer")


def _replaced(words: list[str], phrases: dict[str, str], before_value: bool) -> list[str]:
    for phrase, said in phrases.items():
        parts = phrase.split()
        at = 0
        while at + len(parts) <= len(words):
            after = [word for word in words[at + len(parts) : at + len(parts) + 3] if word not in ("the", "year")]
            if words[at : at + len(parts)] == parts and (not before_value or (after and is_number(after[0]))):
                words = [*words[:at], *said.split(), *words[at + len(parts) :]]
            at += 1
    return words


def _alone(words: list[str]) -> list[str]:
    """Returns `words` with "only" for "just", and without an "and nothing else" at the end that repeats it.

    "Just gout and nothing else" becomes "only gout".
    """
    for tail in (["and", "nothing", "else"], ["nothing", "else"], ["and", "nobody", "else"], ["and", "no", "others"]):
        if words[-len(tail) :] == tail and not {"just", "only"}.isdisjoint(words):
            words = words[: -len(tail)]
    return ["only" if word == "just" else word for word in words]


def _out_of(words: list[str]) -> list[str]:
    """Returns `words` with "out of stock" as "not in stock".

    Not after a participle or a verb of motion ("made out of wood").
    """
    for at in range(1, len(words) - 2):
        is_plain = words[at + 2].isalpha() and words[at + 2] not in GRAMMAR and words[at + 2] not in NUMBERS
        before = words[at - 1]
        if words[at : at + 2] == ["out", "of"] and is_plain and not (is_participle(before) or before in _LEAVING):
            return [*words[:at], "not", "in", *words[at + 2 :]]
    return words


FREQUENT: Final = frozenset({"frequent", "common", "popular", "frequently", "commonly", "often"})
"""Words after "most" and "least" by which a question asks for a count and not for a measure: "most popular"."""

OFTEN: Final = frozenset({"often", "frequently", "commonly"})
"""Words by which a question asks for the number of times that something is done."""

_RANKS: Final = {word: number for number, word in enumerate("second third fourth fifth".split(), 2)}
_CHOOSING: Final = frozenset("which what the name list show give me".split())
_LOOKING: Final = frozenset("look looks looked looking named called take takes took".split())
_DEGREES: Final = frozenset({"most", "least", "fewest"})
_PARTS: Final = frozenset("which who what any many all none both each some one".split())
_OCCURRENCES: Final = (("how", "often"), ("how", "many", "times"), ("how", "frequently"))
_TOP: Final = frozenset({"top"})


@dataclass(frozen=True, slots=True)
class FirstOf:
    """The number beside a superlative: a count ("the three largest") or, with `is_rank`, a rank ("the third largest").

    `number`: a figure, or the pseudonym of a value; `used`: bit mask of the tokens that say it.
    """

    number: str
    used: int
    is_rank: bool = False


def first_in(words: Sequence[str], roles: Sequence[str], numbers: Collection[str]) -> dict[int, FirstOf]:
    """Returns the number or rank beside each superlative ("the three largest"), by the position of the superlative.

    `roles`: the role of each word. `numbers`: the pseudonyms of values that are numbers.
    """

    def counts(word: str) -> bool:
        return word in NUMBERS or word in numbers

    found = {}
    for at, word in enumerate(words):
        if word in _TOP and counts(_at(words, at + 1)):
            found[at] = FirstOf(_figure(words[at + 1]), 3 << at)
        elif roles[at] != "superlative" or _at(words, at - 1) == "at":
            continue
        elif _at(words, at - 1) in _RANKS:
            found[at] = FirstOf(str(_RANKS[words[at - 1]]), 3 << at - 1, is_rank=True)
        else:
            for beside in (at - 1,) if word in _DEGREES else (at - 1, at + 1):
                if counts(_at(words, beside)) and _at(words, at - 2) not in ("least", "most", "than"):
                    found[at] = FirstOf(_figure(words[beside]), 1 << at | 1 << beside)
    superlatives = [at for at, role in enumerate(roles) if role == "superlative" and _at(words, at - 1) != "at"]
    if len(superlatives) == 1 and not found:
        at = superlatives[0]
        before = [n for n in range(1, at) if counts(words[n]) and words[n - 1] in _CHOOSING]
        if before and roles[before[0] + 1] == "content":
            found[at] = FirstOf(_figure(words[before[0]]), 1 << at | 1 << before[0])
    return found


def dates_between(words: Sequence[str], roles: Sequence[str]) -> Iterator[int]:
    """Yields positions of "before" and "after" that compare the dates of two things: "was X built before Y".

    Outside yes/no questions, the word counts only directly before the last thing ("films made before X"), and at most
    two things may be named. Yields none if the question names a value or has a comparative or superlative.
    """
    things = [at for at, role in enumerate(roles) if role == "thing"]
    if not things or "value" in roles or not {"comparative", "superlative"}.isdisjoint(roles):
        return
    for at, word in enumerate(words):
        if word not in ("before", "after") or words[at - 1] in _LOOKING:
            continue
        is_compared = len(things) == 2 and things[0] < at < things[1] and words[0] in TRUTHS
        if is_compared or (len(things) <= 2 and things[-1] == at + 1):
            yield at


TRUTHS: Final = frozenset("is are was were does do did has have".split())


def is_part_of_first(words: Sequence[str], superlative: int) -> bool:
    """Returns True if the question asks which of the things chosen by the superlative have a property.

    Example: "which of the three oldest smoke". `superlative`: the position of "oldest".
    """
    before = [*words[:superlative]]
    while before and (before[-1] == "the" or is_number(before[-1])):
        before.pop()
    return len(before) > 1 and before[-1] == "of" and before[-2] in _PARTS


def occurrences_in(words: Sequence[str]) -> list[int]:
    """Returns the positions of the words of "how often", "how frequently" or "how many times", or none."""
    for phrase in _OCCURRENCES:
        for at in range(len(words) - len(phrase)):
            if words[at : at + len(phrase)] == phrase:
                return [*range(at, at + len(phrase))]
    return []


def _at(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _figure(word: str) -> str:
    return str(NUMBERS[word]) if word in NUMBERS else word
