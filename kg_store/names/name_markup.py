"""EmphasisMarks: finds where a text marks words as names, by capitals, quotes or brackets."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import groupby

from kg_store.text.normalise import is_unspaced

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…:]+[\"'”’»)\]]*\s+|\n+|[。！？]")
_ABBREVIATION = re.compile(
    r"\b(?:[^\W\d_]|dr|mr|mrs|ms|prof|st|sr|jr|vs|mt|ft|rev|gen|col|lt|capt|sgt|hon)\.[ \t]+$", re.I
)
_ENCLOSED = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[([^\[\]\n]+)\]",
        r"«([^«»\n]+)»",
        r"»([^«»\n]+)«",
        r"‹([^‹›\n]+)›",
        r"[“„”]([^“”„\n]+)[“”]",
        r"[「『]([^「」『』\n]+)[」』]",
        r'"([^"\n]+)"',
        r"[‘‚](?!\s)([^‘‚\n]+?)[’‘](?!\w)",
        r"(?<!\w)'(?!\s)([^'\n]+(?:'\w[^'\n]*)*)'(?!\w)",
        r"`([^`\n]+)`",
    )
)
_AROUND_CONTENT = " \t.,;:!?"

_SMALL = frozenset(
    ("a", "an", "the", "and", "or", "but", "of", "for", "from", "in", "on", "at", "by", "to", "with", "as")
)
_ASKING = """
    who whom whose what which where when why how is are was were be been am do does did has have had can could
    would shall should must that this these those there it he she they we you my your his her its our their me
    him us them
"""
_OPENING = """
    will may might not no if then than i all any each every some list name give show tell find count get compare
    ask please about into over under between after before during since until also so yes well ok okay hello hi
    thanks
"""
_ASKED = frozenset(_ASKING.split())
COMMON_WORDS = _SMALL | _ASKED | frozenset(_OPENING.split())
"""Words that open or join questions; their capital at the beginning of a sentence never marks a name."""

_HEADLINE_WORDS = 4


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)

    @property
    def is_capital(self) -> bool:
        return not self.text.islower() and any(map(str.isupper, self.text))

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class EmphasisMarks:
    """The marks of a text; `enclosed`: the contents of quotes and brackets.

    A capital marks a name if it is not at the beginning of a sentence (unless that word or the next has more capitals)
    and the sentence does not use capitals everywhere.
    """

    enclosed: frozenset[tuple[int, int]]
    _words: tuple[_Word, ...] = field(repr=False)
    _ends: tuple[int, ...] = field(repr=False)
    _telling: frozenset[int] = field(repr=False)
    _marked: bytes = field(repr=False)
    """A byte array: 1 where something enclosed stands, or a word with a meaningful capital."""

    @classmethod
    def of(cls, text: str) -> EmphasisMarks:
        words = tuple(_Word(*match.span(), match.group()) for match in _WORD.finditer(text))
        telling = frozenset(start for sentence in _sentences(text, words) for start in _telling_capitals(sentence))
        enclosed = frozenset(_enclosed(text))
        marked = bytearray(len(text))
        for start, end in (*enclosed, *((word.start, word.end) for word in words if word.start in telling)):
            marked[start:end] = b"\x01" * (end - start)
        return cls(enclosed, words, tuple(word.end for word in words), telling, bytes(marked))

    @property
    def has_any(self) -> bool:
        """True where anything in the text is marked as a name."""
        return bool(self.enclosed or self._telling)

    def may_mark(self, start: int, end: int) -> bool:
        """True where `is_marked` may be true of a span in [start, end)."""
        return self._marked.find(1, start, end) >= 0

    def is_marked(self, start: int, end: int) -> bool:
        """True if the whole span is enclosed, or has a meaningful capital and no lower-case words but
        function words.
        """
        if (start, end) in self.enclosed:
            return True
        has_telling = False
        for index in range(bisect_left(self._ends, start + 1), len(self._words)):
            word = self._words[index]
            if word.start >= end:
                break
            if not word.is_capital and word.lower not in _SMALL:
                return False
            has_telling = has_telling or word.start in self._telling
        return has_telling


def _enclosed(text: str) -> set[tuple[int, int]]:
    """The contents of quotes and brackets, with and without punctuation at their ends."""
    spans = set()
    for pattern in _ENCLOSED:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            content = match[1]
            inner = start + len(content) - len(content.lstrip(_AROUND_CONTENT))
            spans |= {(start, end), (inner, inner + len(content.strip(_AROUND_CONTENT)))}
    return spans


def _sentences(text: str, words: tuple[_Word, ...]) -> list[list[_Word]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.end())]
    return [list(group) for _, group in groupby(words, key=lambda word: bisect_left(ends, word.start + 1))]


def _is_abbreviation(text: str, end: int) -> bool:
    return _ABBREVIATION.search(text, max(0, end - 10), end) is not None


def _telling_capitals(sentence: list[_Word]) -> set[int]:
    """The starts of words whose capital shows that they are names."""
    if _has_capitals_everywhere(sentence):
        return set()
    telling = {word.start for word in sentence[1:] if word.is_capital and not word.lower.startswith(("i'", "i’"))}
    first = sentence[0]
    goes_on = len(sentence) > 1 and sentence[1].is_capital and sentence[1].start == first.end + 1
    shouts = len(first.text) > 1 and first.text.isupper()
    if first.is_capital and (goes_on or shouts) and first.lower not in COMMON_WORDS:
        telling.add(first.start)
    return telling


def _has_capitals_everywhere(sentence: list[_Word]) -> bool:
    """True of shouting or a headline: too many capitals for a name and a verb, and only function words
    in lower case.
    """
    if any(is_unspaced(letter) for word in sentence if not word.text.isascii() for letter in word.text):
        return False  # Latin words in it are names, or words of another language.
    if len(sentence) > 1 and "".join(word.text for word in sentence).isupper():
        return True
    if not sentence[0].is_capital:
        return False
    later = [word for word in sentence[1:] if word.lower not in _SMALL and word.text[0].isalpha()]
    if not all(word.is_capital for word in later):
        return False
    return len(later) >= _HEADLINE_WORDS or any(word.lower in _ASKED for word in later)
