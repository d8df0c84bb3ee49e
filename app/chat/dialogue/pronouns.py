"""`he`, `she` and `they` of a question, replaced by the one whom the dialogue last spoke of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Gender = Literal["he", "she"]

_PRONOUNS: Final[dict[str, Gender]] = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she",
}  # fmt: skip
_PERSONAL = re.compile(r"\b(?:he|him|his|she|hers|her)\b", re.IGNORECASE)
_ANY = re.compile(r"\b(?:he|him|his|she|hers|her|it|its|they|them|their)\b", re.IGNORECASE)
# Behind "her" these begin something new; any other word is what she has.
_NO_NOUN = re.compile(r"\s*(?:$|[?.!,;:]|(?:and|or|in|at|on|by|for|with|to|from|now|then|too|before|after|since)\b)")


@dataclass(slots=True)
class PronounResolver:
    """Whom a dialogue has spoken of, latest last, and by which pronoun."""

    is_person: Callable[[str], bool]
    spoken: list[str] = field(default_factory=list)
    known_as: dict[str, Gender] = field(default_factory=dict)

    def hear(self, words: Sequence[str]) -> None:
        """Single things that a turn names, in its order."""
        for word in words:
            if self.is_person(word):
                self.spoken = [each for each in self.spoken if each != word] + [word]

    def replaced_in(self, text: str) -> str:
        """`text` with a person in place of each `he` or `she`, where the dialogue has one for it."""
        done, at = "", 0
        for found in _PERSONAL.finditer(text):
            person = self._meant(_PRONOUNS[found[0].lower()])
            if person is not None:
                done += text[at : found.start()] + _in_case(found[0], text[found.end() :], person)
                at = found.end()
        return done + text[at:]

    def _meant(self, gender: Gender) -> str | None:
        """Whoever went by it before; else the latest who does not go by the other."""
        latest = self.spoken[::-1]
        same = [word for word in latest if self.known_as.get(word) == gender]
        free = [word for word in latest if word not in self.known_as]
        person = next(iter(same or free), None)
        if person is not None:
            self.known_as[person] = gender
        return person


def pronoun_replaced(text: str, name: str) -> str | None:
    """`text` with `name` in place of its first pronoun; None where it has none."""
    found = _ANY.search(text)
    if found is None:
        return None
    return text[: found.start()] + _in_case(found[0], text[found.end() :], name) + text[found.end() :]


def _in_case(pronoun: str, behind: str, name: str) -> str:
    word = pronoun.lower()
    owns = word in ("his", "its", "their") or (word == "her" and _NO_NOUN.match(behind) is None)
    return f"{name}'s" if owns else name
