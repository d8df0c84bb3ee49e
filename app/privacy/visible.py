"""What a reader sees of a text: escapes undone, invisible characters gone, with the way back to the original."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final
from unicodedata import category
from urllib.parse import unquote


def _ranges_of_symbols() -> str:
    codes = (code for code in range(0x80, 0x1FC00) if category(chr(code)) in ("So", "Sk", "Sm", "Co"))
    runs = groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0])
    ends = ([code for _, code in run] for _, run in runs)
    return "".join(re.escape(chr(run[0])) + "-" + re.escape(chr(run[-1])) for run in ends)


_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
SYMBOLS: Final = re.compile(f"[{_ranges_of_symbols()}\U000f0000-\U0010ffff]+")
"""Characters beyond ASCII that are neither of words nor punctuation, a space, or a currency's sign."""

_VARIATIONS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_ESCAPE = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|(?:%[0-9a-f]{2})+|\\+u[0-9a-f]{4}|\\+x[0-9a-f]{2}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Visible:
    """`origins[i]` is where the original of text[i] began, `ends[i]` where it ended; None when nothing was changed."""

    text: str = field(repr=False)
    origins: list[int] | None = field(default=None, repr=False)
    ends: list[int] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, original: str) -> Visible:
        """Control characters that part words become a space; line ends and tabs stay."""
        if original.isascii() and original.isprintable():
            return cls(original)
        return cls._of(original, ((letter, at, at + 1) for at, letter in enumerate(original)))

    @classmethod
    def of_typed(cls, original: str) -> Visible:
        """The same; entities, percent signs and escapes of JSON are undone once, as a page or program would."""
        return cls._of(original, _unescaped(original)) if _ESCAPE.search(original) else cls.of(original)

    @classmethod
    def _of(cls, original: str, letters: Iterable[tuple[str, int, int]]) -> Visible:
        seen = [(_seen(letter), start, end) for letter, start, end in letters]
        kept = [(letter, start, end) for letter, start, end in seen if letter]
        text = "".join(letter for letter, _, _ in kept)
        if text == original:
            return cls(text)
        return cls(text, [start for _, start, _ in kept], [end for _, _, end in kept])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the original's characters from `start` to `end` stand now."""
        if self.origins is None:
            return start, end
        return bisect_left(self.origins, start), bisect_left(self.origins, end)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from `start` to `end` stood in the original."""
        if self.origins is None or self.ends is None:
            return start, end
        return self.origins[start], self.ends[end - 1]


def _unescaped(original: str) -> Iterator[tuple[str, int, int]]:
    """Each character with the span that it stands for."""
    done = 0
    for escape in _ESCAPE.finditer(original):
        yield from ((original[at], at, at + 1) for at in range(done, escape.start()))
        yield from ((letter, *escape.span()) for letter in _meant(escape.group()))
        done = escape.end()
    yield from ((original[at], at, at + 1) for at in range(done, len(original)))


def _meant(escape: str) -> str:
    """The escape itself where it is none."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "\\":
        return chr(int(escape.lstrip("\\")[1:], 16))
    try:
        return unquote(escape, errors="strict")
    except UnicodeDecodeError:
        return escape


def _seen(letter: str) -> str:
    if letter in _VARIATIONS:
        return ""
    if letter in "\n\t" or category(letter) not in _INVISIBLE:
        return letter
    return " " if letter.isspace() else ""
