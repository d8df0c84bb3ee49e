"""NameMarks: where a text itself says that a word is a name, by capitals, quotes or brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*\s+|\n+|[。！？]")
_ABBREVIATION = re.compile(
    r"\b(?:[^\W\d_]|dr|mr|mrs|ms|prof|st|sr|jr|no|vs|mt|ft|rev|gen|col|lt|capt|sgt|hon)\.\s+$", re.I
)
_ENCLOSED = re.compile(
    r"\[([^\[\]\n]+)\]|«([^«»\n]+)»|‹([^‹›\n]+)›|“([^“”\n]+)”|„([^„“”\n]+)[“”]|「([^「」\n]+)」|『([^『』\n]+)』"
    r"|\"([^\"\n]+)\"|‘([^‘’\n]+)’(?!\w)|(?<!\w)'([^'\n]+)'(?!\w)|`([^`\n]+)`"
)
_TRIMMED = " \t.,;:!?"
# Words that open a question or join others: alone, their capital says nothing about a name.
_COMMON = frozenset(
    "a an the and or but of for from in on at by to with as is are was were be been am do does did has have had who whom"
    " whose what which where when why how can could will would shall should may might must not no if then than that"
    " this these those there it he she they we you i my your his her its our their all any each every some list name"
    " give show tell find count get compare ask please about into over under between after before during since until"
    " also so yes well ok okay hello hi thanks".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)

    @property
    def is_capital(self) -> bool:
        return self.text[:1].isupper()

    @property
    def is_common(self) -> bool:
        return self.text.lower() in _COMMON


@dataclass(frozen=True, slots=True)
class NameMarks:
    """`enclosed` are the spans of the whole contents of quotes and brackets, without outer punctuation.

    `capitals` are the words whose capital says something: not the first of a sentence unless a run of
    capitals goes on from it, and none of a sentence that has capitals everywhere.
    """

    enclosed: frozenset[tuple[int, int]]
    capitals: frozenset[tuple[int, int]]
    words: tuple[_Word, ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> NameMarks:
        words = tuple(_Word(*match.span(), match.group()) for match in _WORD.finditer(text))
        capitals = {span for sentence in _sentences(text, words) for span in _capitals(sentence)}
        return cls(frozenset(_enclosed(text)), frozenset(capitals), words)

    def is_marked(self, start: int, end: int) -> bool:
        """Whether the span is enclosed as a whole, or every word in it but small ones has a telling capital."""
        if (start, end) in self.enclosed:
            return True
        inside = [word for word in self.words if word.start < end and start < word.end]
        telling = [word for word in inside if (word.start, word.end) in self.capitals]
        silent = [word for word in inside if word not in telling and not word.is_capital and not word.is_common]
        return bool(telling) and not silent


def _enclosed(text: str) -> set[tuple[int, int]]:
    spans = set()
    for match in _ENCLOSED.finditer(text):
        start, end = next(match.span(group) for group in range(1, len(match.groups()) + 1) if match[group])
        content = text[start:end]
        start += len(content) - len(content.lstrip(_TRIMMED))
        spans |= {(start, start + len(content.strip(_TRIMMED))), match.span(match.lastindex or 0)}
    return spans


def _sentences(text: str, words: tuple[_Word, ...]) -> list[list[_Word]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.end())]
    number_of: dict[int, int] = {}
    position = 0
    for word in words:
        while position < len(ends) and ends[position] <= word.start:
            position += 1
        number_of[word.start] = position
    return [list(group) for _, group in groupby(words, key=lambda word: number_of[word.start])]


def _is_abbreviation(text: str, end: int) -> bool:
    return "\n" not in text[end - 1 : end] and _ABBREVIATION.search(text, max(0, end - 10), end) is not None


def _capitals(sentence: list[_Word]) -> set[tuple[int, int]]:
    if _has_capitals_everywhere(sentence):
        return set()
    telling = {(word.start, word.end) for word in sentence[1:] if word.is_capital}
    first = sentence[0]
    goes_on = len(sentence) > 1 and sentence[1].is_capital and sentence[1].start - first.end <= 1
    if first.is_capital and goes_on and not first.is_common:
        telling.add((first.start, first.end))
    return telling


def _has_capitals_everywhere(sentence: list[_Word]) -> bool:
    """A headline, or shouting: four words or more, each with a capital but small ones between; or all letters."""
    letters = "".join(word.text for word in sentence)
    if len(sentence) > 1 and letters.isupper():
        return True
    weighty = [word for word in sentence[1:] if not word.is_common and not word.text.isdecimal()]
    return len(sentence) > 3 and len(weighty) > 1 and all(word.is_capital for word in weighty)
