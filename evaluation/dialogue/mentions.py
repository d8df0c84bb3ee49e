"""Names of a graph in a text: the longest ones, letter by letter but for capitals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from kg_store.lexicon.lexicon import in_lexicon

MAX_WORDS = 15
_WORD = re.compile(r"\w+|[^\w\s]")
_SENTENCE_END = ".!?"


@dataclass(frozen=True, slots=True)
class NameMention:
    """`names`: all names of the graph that are written so but for capitals. `is_name`: see `_stands_as_name`."""

    start: int
    end: int
    names: tuple[str, ...] = field(repr=False)
    is_name: bool


class ExactNames:
    """Finds the names of a graph. Where two overlap, the one that begins first is taken, and the longest of those."""

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
    begins = not before or before[-1] in _SENTENCE_END
    return span != span.lower() and not (begins and len(words) == 1)
