"""The text as a reader sees it: escapes and decorations undone, invisible characters removed, positions kept."""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from unicodedata import category
from urllib.parse import unquote

from kg_store.text.normalise import DISGUISES, is_word_character, skeleton_of, undecorated

_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
_UNREADABLE = frozenset(("Cs", "Co", "Cn"))
UNREADABLE: Final = "\ufffd"
"""Replaces characters of no script, which no reader can know."""

_PICTURES = range(0x1F000, 0x1FB00)
"""Code points of pictures, including ones that the installed Python does not know yet; there are no letters among
them.
"""

_VARIATIONS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_UNREADABLE_RUN = re.compile(f"{UNREADABLE}+")
_ESCAPE = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|(?:%[0-9a-f]{2})+|\\+u[0-9a-f]{4}|\\+x[0-9a-f]{2}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Visible:
    """A text as it is seen; `origins[i]` and `ends[i]` are where the original of text[i] began and ended, None if
    unchanged.
    """

    text: str = field(repr=False)
    origins: list[int] | None = field(default=None, repr=False)
    ends: list[int] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, original: str) -> Visible:
        """Returns the text as it is seen. Control characters between words become a space; line ends and tabs stay.

        Letters in circles, squares and the like become plain letters (`kg_store.text.normalise`), and marks that
        only cover letters are removed. Characters of no script are removed inside a word; elsewhere one sign stands
        for a run of them.
        """
        if original.isascii() and original.isprintable():
            return cls(original)
        if UNREADABLE not in original and original.translate(_SEEN) == original:
            return cls(original)
        return cls._of(original, ((letter, at, at + 1) for at, letter in enumerate(original)))

    @classmethod
    def of_typed(cls, original: str) -> Visible:
        """Does the same, with entities, percent signs and JSON escapes undone once, as a page or program would."""
        return cls._of(original, _unescaped(original)) if _ESCAPE.search(original) else cls.of(original)

    def reworded(self, words: Iterable[tuple[int, int, str]]) -> Visible:
        """Returns this text with spans (in order, without overlaps) replaced by other words that keep their original
        positions.
        """
        pieces: list[tuple[str, int, int]] = []
        at = 0
        for start, end, word in words:
            pieces += self._letters(at, start)
            pieces.append((word, *self.original_span(start, end)))
            at = end
        return Visible._joined([*pieces, *self._letters(at, len(self.text))])

    def _letters(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        return ((self.text[at], *self.original_span(at, at + 1)) for at in range(start, end))

    def skeleton(self) -> Visible | None:
        """Returns this text in the Latin letters that it looks like, as a second reading for names, never to be sent.

        Its positions refer to `text`, not to the original. None if it would be the same.
        """
        if self.text.isascii():
            return None
        plain = skeleton_of(self.text)
        if plain == self.text:
            return None
        if all(len(skeleton_of(letter)) == 1 for letter in set(self.text)):
            return Visible(plain)
        return Visible._joined((letter, at, at + 1) for at, letter in enumerate(map(skeleton_of, self.text)))

    @classmethod
    def _of(cls, original: str, letters: Iterable[tuple[str, int, int]]) -> Visible:
        found = cls._joined((_seen(letter), start, end) for letter, start, end in letters)
        if UNREADABLE in found.text:
            found = found._part(_without_unreadable(found.text))
        return cls(original) if found.text == original else found

    def _part(self, kept: Sequence[int]) -> Visible:
        """The characters at the ascending positions `kept`."""
        origins, ends = self.origins or range(len(self.text)), self.ends or range(1, len(self.text) + 1)
        text = "".join(self.text[at] for at in kept)
        return Visible(text, [origins[at] for at in kept], [ends[at] for at in kept])

    @classmethod
    def _joined(cls, pieces: Iterable[tuple[str, int, int]]) -> Visible:
        """Joins pieces, each with its original span; a piece may have several letters, or none if it is removed.

        What is removed belongs to the letter before it, as marks do.
        """
        letters: list[str] = []
        origins: list[int] = []
        ends: list[int] = []
        for piece, start, end in pieces:
            letters += piece
            origins += [start] * len(piece)
            ends += [end] * len(piece)
            if not piece and ends:
                ends[-1] = end
        return cls("".join(letters), origins, ends)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the present position of the original's characters from `start` to `end`."""
        if self.origins is None:
            return start, end
        return bisect_left(self.origins, start), bisect_left(self.origins, end)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the original position of the characters from `start` to `end`."""
        if self.origins is None or self.ends is None:
            return start, end
        return self.origins[start], self.ends[end - 1]


def _unescaped(original: str) -> Iterator[tuple[str, int, int]]:
    """Yields each character with its original span."""
    done = 0
    for escape in _ESCAPE.finditer(original):
        yield from ((original[at], at, at + 1) for at in range(done, escape.start()))
        yield from ((letter, *escape.span()) for letter in _meant(escape.group()))
        done = escape.end()
    yield from ((original[at], at, at + 1) for at in range(done, len(original)))


def _meant(escape: str) -> str:
    """The text that an escape means; the escape itself if it is not a valid one."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "\\":
        return chr(int(escape.lstrip("\\")[1:], 16))
    try:
        return unquote(escape, errors="strict")
    except UnicodeDecodeError:
        return escape


def _seen(letter: str) -> str:
    """The text that a reader sees for one character; UNREADABLE if nobody can tell."""
    if letter in _VARIATIONS or letter in DISGUISES:
        return ""
    plain = undecorated(letter)
    if plain != letter or letter in "\n\t" or category(letter) not in _INVISIBLE:
        return plain
    if letter.isspace():
        return " "
    return UNREADABLE if category(letter) in _UNREADABLE and ord(letter) not in _PICTURES else ""


class _Seen(dict[int, str]):
    """A translation table: the text seen for each character, computed at its first use."""

    def __missing__(self, code: int) -> str:
        self[code] = _seen(chr(code))
        return self[code]


_SEEN: Final = _Seen()


def _without_unreadable(text: str) -> list[int]:
    """Positions of `text` without unreadable signs that touch a word, and with one of each run of others."""
    kept = list(range(len(text)))
    for run in reversed(list(_UNREADABLE_RUN.finditer(text))):
        start, end = run.span()
        touches = any(map(is_word_character, text[max(0, start - 1) : start] + text[end : end + 1]))
        del kept[start if touches else start + 1 : end]
    return kept
