"""Looks for every name and protected value of a graph in all bytes that reached the reasoner.

Shares no code and no word list with the guard: if one of the two has a blind spot, the other has not the same.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from evaluation.checks.decoded_text import Word, texts_in, words_of

_COMMON_WORDS = Path(__file__).with_name("common_words.toml")
_MAX_PHRASE_WORDS = 8
_SMALL_NUMBERS = frozenset(str(number) for number in range(100))

_Trie = dict[str, "_Trie"]
_END = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a scan. The words are those of public data and of public words; leaks name secrets.

    `leaks` counts hits by name; `public_words` counts, by word, hits on names that are words of the public
    texts, small numbers, or common English words that stand in small letters or at the start of a sentence.
    """

    payloads: int
    bytes_read: int
    leaks: Counter[str] = field(default_factory=Counter, repr=False)
    public_words: Counter[str] = field(default_factory=Counter, repr=False)


class LeakScanner:
    """Promise: finds every given name that stands in a payload word-bounded, in any case, with or without
    accents, behind JSON escapes, percent signs, entities, base64 or hexadecimal.

    Limit: a name that was cut, translated or spelt otherwise is not found; neither is what no name says.
    """

    def __init__(self, names: Iterable[str], public_texts: Iterable[str]) -> None:
        self._names: _Trie = {}
        for name in names:
            self._learn(name)
        self._public = frozenset(public_texts)
        self._phrases = frozenset().union(*map(_phrases, self._public))
        self._common = _common_words()
        self._known: dict[str, tuple[tuple[str, bool], ...]] = {}

    def scan(self, payloads: Iterable[bytes]) -> Findings:
        """Everything found in `payloads`, each read to its last byte."""
        leaks: Counter[str] = Counter()
        public: Counter[str] = Counter()
        count = size = 0
        for payload in payloads:
            count, size = count + 1, size + len(payload)
            for text in texts_in(payload):
                for name, is_public in self._hits(text):
                    (public if is_public else leaks)[name] += 1
        return Findings(count, size, leaks, public)

    def _hits(self, text: str) -> tuple[tuple[str, bool], ...]:
        """Names in `text`, and whether each is public there. Texts repeat from payload to payload."""
        if text not in self._known:
            is_list = self._lists_public_texts(text)
            self._known[text] = tuple((name, is_public or is_list) for name, is_public in self._find(words_of(text)))
        return self._known[text]

    def _lists_public_texts(self, text: str) -> bool:
        """True of "film, industry", two concepts side by side, which is no name "Film Industry"."""
        return all(part in self._public for part in text.split(", "))

    def _find(self, words: Sequence[Word]) -> Iterator[tuple[str, bool]]:
        for start in range(len(words)):
            node: _Trie | None = self._names
            for end in range(start, len(words)):
                node = node.get(words[end].folded) if node else None
                if node is None:
                    break
                if _END in node:
                    yield self._judge(words[start : end + 1])

    def _judge(self, words: Sequence[Word]) -> tuple[str, bool]:
        name = " ".join(word.folded for word in words)
        if name in self._phrases:
            return name, True
        word = words[0]
        unmarked = word.opens_sentence or word.plain == word.plain.lower()
        is_common = word.folded in self._common and unmarked
        return name, len(words) == 1 and (is_common or word.folded in _SMALL_NUMBERS)

    def _learn(self, name: str) -> None:
        words = [word.folded for word in words_of(name)]
        node = self._names
        for word in words:
            node = node.setdefault(word, {})
        if words:
            node[_END] = {}


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    return frozenset(tomllib.loads(_COMMON_WORDS.read_text(encoding="utf-8"))["words"].split())


@lru_cache(maxsize=4096)
def _phrases(text: str) -> frozenset[str]:
    """Every run of up to eight words of a public text. Most texts are our own, the same for every scanner."""
    words = [word.folded for word in words_of(text)]
    return frozenset(
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _MAX_PHRASE_WORDS, len(words)) + 1)
    )
