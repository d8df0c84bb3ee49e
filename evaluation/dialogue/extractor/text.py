"""A text in the making: things stand as marks in its sentences until it is whole."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Style = Literal["plain", "pseudonyms", "typed"]

_MARK = re.compile(r"\x01([^\x02]*)\x02")
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_KINDS: Final = (
    "Person",
    "Film",
    "Place",
    "Genre",
    "Book",
    "Team",
    "Thing",
    "Work",
    "Group",
    "Value",
    "P",
    "F",
    "L",
    "G",
)
_NAMED, _SMALL_TEXT, _IN_PART, _WITH_KIND, _SMALL_TAIL = 0.1, 0.04, 0.08, 0.1, 0.4
_ASIDE = re.compile(r"[,)] (?:is|came up|moved away)\b")
_BE = re.compile(r"(?<=[\x02 ])(?:is|was|are|were|does|did|has been)\b")
_FIRST_VERB = re.compile(r"^\x01[^\x02]*\x02 (?=[a-z])(?!and\b|as\b|or\b)")
_BRACKETS = re.compile(r"\s*\([^)]*\)$|:.*$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thing is named; `statement`: by which statement, -1 where by none."""

    start: int
    end: int
    thing: str = field(repr=False)
    statement: int


class Names:
    """The names of things in one text: their own, pseudonyms, or kinds with numbers; one in ten keeps its own."""

    def __init__(self, style: Style, draw: random.Random) -> None:
        self.style, self._draw = style, draw
        self._written: dict[str, str] = {}
        self._in_brackets = draw.random() < 0.3
        self._kind = draw.choice(_KINDS[:10]).lower() if style == "pseudonyms" and draw.random() < _WITH_KIND else ""

    def of(self, thing: str) -> str:
        if thing not in self._written:
            self._written[thing] = self._drawn(thing)
        return self._written[thing]

    def in_text(self, thing: str, *, may_be_small: bool) -> tuple[str, str]:
        """The name as it stands there, and what stands behind it."""
        written = self.of(thing)
        if written != thing:
            return written, f" ({self._kind})" if self._kind else ""
        if may_be_small and self._draw.random() < _SMALL_TAIL:
            return written.lower(), ""
        if self._draw.random() < _IN_PART:
            return in_part(written), ""
        return written, ""

    def _drawn(self, thing: str) -> str:
        if self.style == "plain" or self._draw.random() < _NAMED:
            return thing
        if self.style == "typed":
            word = f"{self._draw.choice(_KINDS)}{len(self._written) + self._draw.randint(1, 9)}"
            word = f"[{word}]" if self._in_brackets else word
        else:
            word = self._draw.choice("EEEEEVS") + "".join(self._draw.choice(_ALPHABET) for _ in range(5))
        return self._drawn(thing) if word in self._written.values() else word


def in_part(name: str) -> str:
    """A surname, or a title without what stands in brackets or behind a colon."""
    short = _BRACKETS.sub("", name)
    words = short.split()
    if short == name and 2 <= len(words) <= 3 and all(word[0].isupper() for word in words) and words[0] != "The":
        return words[-1]
    return short or name


def mark(thing: str, statement: int, *, is_small: bool = False) -> str:
    return f"\x01{statement}|{int(is_small)}|{thing}\x02"


def listed(marks: Sequence[str], draw: random.Random) -> str:
    if len(marks) < 2:
        return marks[0]
    last = draw.choice((" and ", " and ", ", and ", " as well as "))
    return ", ".join(marks[:-1]) + last + marks[-1]


def placed(marked: str, names: Names, draw: random.Random) -> tuple[str, list[Place]]:
    """The text as it is read, and what stands where in it."""
    is_small = names.style == "plain" and draw.random() < _SMALL_TEXT
    text, places, at = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[at : match.start()]
        statement, may_be_small, thing = match.group(1).split("|", 2)
        written, behind = names.in_text(thing, may_be_small=may_be_small == "1")
        places.append(Place(len(text), len(text) + len(written), thing, int(statement)))
        text, at = text + written + behind, match.end()
    text += marked[at:]
    small = text.lower()
    # Few letters change their length in small writing: those texts stay as they are.
    return (small if is_small and len(small) == len(text) else text), places


def sentence(words: str) -> str:
    """With a capital where no name begins it, and a full stop."""
    whole = words if words[:1] == "\x01" else words[:1].upper() + words[1:]
    return whole if whole[-1] in ".!?" else f"{whole}."


def is_aside(clause: str) -> bool:
    """True where the fact is told beside what is said, so that to deny that is not to deny it: "X, by Y, is great"."""
    return _ASIDE.search(clause) is not None


def negated(clause: str, draw: random.Random) -> str | None:
    """With `not` behind its first `is` or the like, or `never` behind the thing that begins it; None for neither."""
    if _BE.search(clause) and draw.random() < 0.7:
        return _BE.sub(lambda match: f"{match.group()} not", clause, count=1)
    found = _FIRST_VERB.sub(lambda match: f"{match.group()}never ", clause, count=1)
    return None if found == clause else found


def replaced(template: str, values: dict[str, str], change: Callable[[str], str] = str) -> str:
    """In one go: what is put in may hold braces itself."""
    return change(re.sub(r"\{(\w)\}", lambda match: values[match.group(1)], template))
