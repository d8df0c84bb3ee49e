"""Brings bounds, exclusions and shared values of a question into one standard order and wording.

"Two wards or more" becomes "at least two wards", and "just gout and nothing else" becomes "only gout".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.reader.language.question_words import GRAMMAR, PREPOSITIONS
from kg_store.text.inflection import is_participle, may_be_verb
from kg_store.text.words import is_pseudonym

NUMBERS: Final = {
    word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
"""Numbers that a question says in a word; other numbers come as pseudonyms of values."""

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
    """Returns `words` with each bound before the value that it bounds, and with one wording for each meaning."""
    found = [part for word in words for part in _EARNING.get(word, word).split()]
    found = _replaced(found, _ONE_WORD, before_value=False)
    found = _not_anybody(found)
    found = _replaced(_neither(_alone(_out_of(found))), _BEFORE, before_value=True)
    at = 0
    while at < len(found):
        if is_number(found[at]):
            found = _bounded(found, at)
        at += 1
    return found


def is_number(word: str) -> bool:
    """True of a number word, and of the pseudonym of a value, which may be a number."""
    return word in NUMBERS or (is_pseudonym(word) and word[0] == "V")


def _bounded(words: list[str], at: int) -> list[str]:
    """`words` with "or more" after the value at `at`, or after the noun behind it, replaced by "at least" before the
    value.
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
    """True if a second value follows at `end`: "before V or after V"."""
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
    """`words` with "just gout and nothing else" made "only gout", and "just" made "only"."""
    for tail in (["and", "nothing", "else"], ["nothing", "else"], ["and", "nobody", "else"], ["and", "no", "others"]):
        if words[-len(tail) :] == tail and not {"just", "only"}.isdisjoint(words):
            words = words[: -len(tail)]
    return ["only" if word == "just" else word for word in words]


def _out_of(words: list[str]) -> list[str]:
    """`words` with "out of stock" made "not in stock", but not after a participle or a verb of motion ("made out of
    wood").
    """
    for at in range(1, len(words) - 2):
        is_plain = words[at + 2].isalpha() and words[at + 2] not in GRAMMAR and words[at + 2] not in NUMBERS
        before = words[at - 1]
        if words[at : at + 2] == ["out", "of"] and is_plain and not (is_participle(before) or before in _LEAVING):
            return [*words[:at], "not", "in", *words[at + 2 :]]
    return words


def _not_anybody(words: list[str]) -> list[str]:
    """`words` with "supervise nobody" at the end made "not supervise anybody"."""
    before = words[-2] if len(words) > 2 else ""
    is_object = (
        words[-1:] == ["nobody"] and before not in GRAMMAR and not is_participle(before) and may_be_verb(before)
    )
    return [*words[:-2], "not", before, "anybody"] if is_object else words


def _neither(words: list[str]) -> list[str]:
    """`words` with "by neither X nor Y" made "not by X or Y"."""
    if words.count("neither") != 1 or words.count("nor") != 1 or "not" in words:
        return words
    at, nor = words.index("neither"), words.index("nor")
    if nor != at + 2:
        return words
    begin = at
    while begin and (words[begin - 1] in PREPOSITIONS or is_participle(words[begin - 1])):
        begin -= 1
    return [*words[:begin], "not", *words[begin:at], *words[at + 1 : nor], "or", *words[nor + 1 :]]
