"""Replaces "he" and "she" by the persons that a dialogue has mentioned, and other pronouns by a name that is given."""

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
REFERS = re.compile(r"\b(?:he|him|his|she|hers|her|it|its|they|them|their)\b", re.IGNORECASE)
# After "her", these words mean that it is an object ("with her now"); before any other word it owns ("her ward").
_NO_NOUN = re.compile(r"\s*(?:$|[?.!,;:]|(?:and|or|in|at|on|by|for|with|to|from|now|then|too|before|after|since)\b)")


@dataclass(slots=True)
class PronounResolver:
    """Replaces "he" and "she" by persons that the dialogue has mentioned.

    `spoken`: pseudonyms of the persons mentioned, latest last. `known_as`: the pronoun used for each so far.
    """

    is_person: Callable[[str], bool]
    spoken: list[str] = field(default_factory=list)
    known_as: dict[str, Gender] = field(default_factory=dict)

    def hear(self, words: Sequence[str]) -> None:
        """Notes the persons among the pseudonyms of a turn, given in the order in which it names them."""
        for word in words:
            if self.is_person(word):
                self.spoken = [each for each in self.spoken if each != word] + [word]

    def replaced_in(self, text: str) -> str:
        """Returns `text` with each form of "he" and "she" replaced by the person meant, if the dialogue has mentioned
        one that fits."""
        done, at = "", 0
        for found in _PERSONAL.finditer(text):
            person = self._meant(_PRONOUNS[found[0].lower()])
            if person is not None:
                done += text[at : found.start()] + in_case(found[0], text[found.end() :], person)
                at = found.end()
        return done + text[at:]

    def _meant(self, gender: Gender) -> str | None:
        """Returns the latest person for whom this pronoun was used, else the latest without a pronoun so far, or None.

        From then on the pronoun is that person's.
        """
        latest = self.spoken[::-1]
        same = [word for word in latest if self.known_as.get(word) == gender]
        free = [word for word in latest if word not in self.known_as]
        person = next(iter(same or free), None)
        if person is not None:
            self.known_as[person] = gender
        return person


def pronoun_replaced(text: str, name: str) -> str | None:
    """Returns `text` with its first pronoun replaced by `name`; None if it has no pronoun."""
    found = REFERS.search(text)
    if found is None:
        return None
    return text[: found.start()] + in_case(found[0], text[found.end() :], name) + text[found.end() :]


def in_case(pronoun: str, behind: str, name: str) -> str:
    word = pronoun.lower()
    owns = word in ("his", "its", "their") or (word == "her" and _NO_NOUN.match(behind) is None)
    return f"{name}'s" if owns else name
