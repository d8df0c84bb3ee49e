"""Reads how many of the first things are asked for ("the three largest", "top 5", "second oldest") and how often."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.reader.language.stated_bounds import NUMBERS, is_number

FREQUENT: Final = frozenset({"frequent", "common", "popular", "frequently", "commonly", "often"})
"""Words after "most" and "least" that ask for a count and not for a measure: "most popular"."""

OFTEN: Final = frozenset({"often", "frequently", "commonly"})
"""Words that ask how many times something is done."""

_RANKS: Final = {word: number for number, word in enumerate("second third fourth fifth".split(), 2)}
_CHOOSING: Final = frozenset("which what the name list show give me".split())
_LOOKING: Final = frozenset("look looks looked looking named called take takes took".split())
_DEGREES: Final = frozenset({"most", "least", "fewest"})
_PARTS: Final = frozenset("which who what any many all none both each some one".split())
_OCCURRENCES: Final = (("how", "often"), ("how", "many", "times"), ("how", "frequently"))
_TOP: Final = frozenset({"top"})


@dataclass(frozen=True, slots=True)
class FirstOf:
    """The number of first things that are asked for, or the rank of a single one (`is_rank`).

    `number` is a figure or a value's pseudonym; `used` is the bit mask of the tokens that say it.
    """

    number: str
    used: int
    is_rank: bool = False


def first_in(words: Sequence[str], roles: Sequence[str], numbers: Collection[str]) -> dict[int, FirstOf]:
    """Returns how many are asked for, by the position of the superlative that orders them: `"the three largest"`.

    `numbers`: the pseudonyms of values that are numbers.
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
    """Positions of "before" and "after" that compare the dates of two things: "was X built before Y".

    Without a yes/no question, the word must stand before the last of at most two things, and no value may be named.
    """
    things = [at for at, role in enumerate(roles) if role == "thing"]
    if not things or "value" in roles or not {"comparative", "superlative"}.isdisjoint(roles):
        return
    for at, word in enumerate(words):
        if word not in ("before", "after") or words[at - 1] in _LOOKING:
            continue
        is_compared = len(things) == 2 and things[0] < at < things[1] and words[0] in _TRUTHS
        if is_compared or (len(things) <= 2 and things[-1] == at + 1):
            yield at


_TRUTHS: Final = frozenset("is are was were does do did has have".split())


def is_part_of_first(words: Sequence[str], superlative: int) -> bool:
    """True if the superlative only chooses some and the question is about part of them: "which of the three oldest
    smoke".
    """
    before = [*words[:superlative]]
    while before and (before[-1] == "the" or is_number(before[-1])):
        before.pop()
    return len(before) > 1 and before[-1] == "of" and before[-2] in _PARTS


def occurrences_in(words: Sequence[str]) -> list[int]:
    """Positions of the words of "how often", "how frequently" or "how many times"; empty if there are none."""
    for phrase in _OCCURRENCES:
        for at in range(len(words) - len(phrase)):
            if words[at : at + len(phrase)] == phrase:
                return [*range(at, at + len(phrase))]
    return []


def _at(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _figure(word: str) -> str:
    return str(NUMBERS[word]) if word in NUMBERS else word
