"""Names and spans in texts: names of a graph, questions for the unknown end of a fact, and the F1 of SQuAD."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kg_store.lexicon.lexicon import in_lexicon

UNKNOWN: Final = "X"
MAX_WORDS: Final = 15
"""Names of more words are not looked for."""
_WORD = re.compile(r"\w+|[^\w\s]")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A fact of which one end is unknown: which span of the context fills it? `acceptable`: what may stand there;
    `turn` and `dialogue`: the ids of those that it is asked of."""

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    acceptable: tuple[str, ...] = field(default=(), repr=False)
    turn: str = ""
    dialogue: str = ""

    @property
    def triplet(self) -> str:
        """The fact as judges are shown it."""
        head, tail = (UNKNOWN, self.known) if self.unknown_is_head else (self.known, UNKNOWN)
        return f"({head}, {self.relation}, {tail})"


Judged = tuple[str, ...] | None
"""The spans that a judge found: none where it says that there is no answer. None where the call failed."""
Judge = Callable[[Sequence[SpanQuestion]], Sequence[Judged]]
"""Judges each question by its own context."""


def squad_words(text: str) -> list[str]:
    """As SQuAD compares answers (Rajpurkar et al., 2016): in small letters, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def squad_f1(given: str, acceptable: Sequence[str]) -> float:
    """The F1 of the words of `given`, the best over all acceptable answers; 0 where nothing is acceptable."""
    words = squad_words(given)
    return max((_f1(words, squad_words(answer)) for answer in acceptable), default=0.0)


def _f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    shared = (Counter(given) & Counter(wanted)).total()
    return 2 * shared / (len(given) + len(wanted))


@dataclass(frozen=True, slots=True)
class NameMention:
    """`names`: all names of the graph that are written so but for capitals. `is_name`: see `_stands_as_name`."""

    start: int
    end: int
    names: tuple[str, ...] = field(repr=False)
    is_name: bool


class ExactNames:
    """Finds the names of a graph, letter by letter but for capitals. Where two overlap, the one that begins first is
    taken, and the longest of those."""

    def __init__(self, names: Iterable[str]) -> None:
        spelled: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in names:
            words = tuple(_WORD.findall(name.lower()))
            if any(character.isalpha() for word in words for character in word):
                spelled[words].append(name)
        self._names = {words: tuple(sorted(names)) for words, names in spelled.items() if len(words) <= MAX_WORDS}
        self._longest = max(map(len, self._names), default=0)

    def find(self, text: str) -> list[NameMention]:
        words = [(match.group().lower(), match.start(), match.end()) for match in _WORD.finditer(text)]
        found: list[NameMention] = []
        at = 0
        while at < len(words):
            count, names = self._longest_at([word for word, _, _ in words[at : at + self._longest]])
            if names:
                start, end = words[at][1], words[at + count - 1][2]
                found.append(NameMention(start, end, names, _stands_as_name(text, start, end)))
            at += max(count, 1)
        return found

    def _longest_at(self, words: list[str]) -> tuple[int, tuple[str, ...]]:
        for count in range(len(words), 0, -1):
            if names := self._names.get(tuple(words[:count])):
                return count, names
        return 0, ()


def _stands_as_name(text: str, start: int, end: int) -> bool:
    """False for common words in small letters, and for one common word that begins a sentence: "it", "Yes"."""
    span = text[start:end]
    words = [word for word in _WORD.findall(span.lower()) if word[0].isalnum()]
    if not all(in_lexicon(word) or word.isdigit() for word in words):
        return True
    before = text[:start].rstrip(" \"'")
    begins = not before or before[-1] in ".!?"
    return span != span.lower() and not (begins and len(words) == 1)
