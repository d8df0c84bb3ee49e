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
"""The sign that stands for characters that belong to no script, which no reader can recognise."""

_PICTURES = range(0x1F000, 0x1FB00)
"""Code points of emoji and other pictures, including those newer than the installed Python. None is a letter."""

_VARIATIONS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_UNREADABLE_RUN = re.compile(f"{UNREADABLE}+")
_ESCAPE = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|(?:%[0-9a-f]{2})+|\\+u[0-9a-f]{4}|\\+x[0-9a-f]{2}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Visible:
    """A text as a reader sees it, with the original position of each character.

    The original of text[i] is original[origins[i]:ends[i]]; both lists are None if the text is unchanged.
    """

    text: str = field(repr=False)
    origins: list[int] | None = field(default=None, repr=False)
    ends: list[int] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, original: str) -> Visible:
        """Returns the text as a reader sees it.

        Control characters between words become a space; line ends and tabs stay. Letters in circles, squares and the
        like become plain letters (`kg_store.text.normalise`), and combining marks that only decorate are removed.
        Unreadable characters are removed inside a word; elsewhere one UNREADABLE sign stands for a run of them.
        """
        if original.isascii() and original.isprintable():
            return cls(original)
        if UNREADABLE not in original and original.translate(_SEEN) == original:
            return cls(original)
        return cls._of(original, ((letter, at, at + 1) for at, letter in enumerate(original)))

    @classmethod
    def of_typed(cls, original: str) -> Visible:
        """Returns the same as `of`, after undoing HTML entities, percent signs and JSON escapes once."""
        may_be = any(mark in original for mark in "&%\\") and _ESCAPE.search(original)
        return cls._of(original, _unescaped(original)) if may_be else cls.of(original)

    def reworded(self, words: Iterable[tuple[int, int, str]]) -> Visible:
        """Returns this text with spans replaced by other words, which keep the original positions of the spans.

        `words` holds (start, end, new text) in order, without overlaps.
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
        """Returns this text with look-alike letters of other scripts as Latin ones, or None if that is the same.

        It is a second text to search for names and is never sent. Its positions refer to `text`, not to the original.
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
        """Returns the text made of the characters at the ascending positions `kept`."""
        origins, ends = self.origins or range(len(self.text)), self.ends or range(1, len(self.text) + 1)
        text = "".join(self.text[at] for at in kept)
        return Visible(text, [origins[at] for at in kept], [ends[at] for at in kept])

    @classmethod
    def _joined(cls, pieces: Iterable[tuple[str, int, int]]) -> Visible:
        """Joins (text, start, end) pieces, each with the span of its original.

        A piece may have several letters, or none if it is removed. A removed piece counts as part of the letter before
        it.
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
        """Returns the span in this text of the original's characters from `start` to `end`."""
        if self.origins is None:
            return start, end
        return bisect_left(self.origins, start), bisect_left(self.origins, end)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the span in the original of this text's characters from `start` to `end`."""
        if self.origins is None or self.ends is None:
            return start, end
        return self.origins[start], self.ends[end - 1]


def _unescaped(original: str) -> Iterator[tuple[str, int, int]]:
    """Yields (character, start, end) with escapes undone; start and end are positions in the original."""
    done = 0
    for escape in _ESCAPE.finditer(original):
        yield from ((original[at], at, at + 1) for at in range(done, escape.start()))
        yield from ((letter, *escape.span()) for letter in _meant(escape.group()))
        done = escape.end()
    yield from ((original[at], at, at + 1) for at in range(done, len(original)))


def _meant(escape: str) -> str:
    """Returns the text that an escape stands for, or the escape itself if its bytes are not valid UTF-8."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "\\":
        return chr(int(escape.lstrip("\\")[1:], 16))
    try:
        return unquote(escape, errors="strict")
    except UnicodeDecodeError:
        return escape


def _seen(letter: str) -> str:
    """Returns the text that a reader sees for one character; UNREADABLE if it belongs to no script."""
    if letter in _VARIATIONS or letter in DISGUISES:
        return ""
    plain = undecorated(letter)
    if plain != letter or letter in "\n\t" or category(letter) not in _INVISIBLE:
        return plain
    if letter.isspace():
        return " "
    return UNREADABLE if category(letter) in _UNREADABLE and ord(letter) not in _PICTURES else ""


class _Seen(dict[int, str]):
    """A translation table from character to the text a reader sees, filled at the first use of each character."""

    def __missing__(self, code: int) -> str:
        self[code] = _seen(chr(code))
        return self[code]


_SEEN: Final = _Seen()


def _without_unreadable(text: str) -> list[int]:
    """Returns the positions of the characters of `text` to keep.

    A run of UNREADABLE signs is dropped if it touches a word, else its first sign is kept.
    """
    kept = list(range(len(text)))
    for run in reversed(list(_UNREADABLE_RUN.finditer(text))):
        start, end = run.span()
        touches = any(map(is_word_character, text[max(0, start - 1) : start] + text[end : end + 1]))
        del kept[start if touches else start + 1 : end]
    return kept
