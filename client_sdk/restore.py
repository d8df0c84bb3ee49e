"""Restores names in text, whole or streamed: whole words that exactly match one capsule, in one pass."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from client_sdk.protocol import Names

# A pseudonym is a run of these characters. The pattern is fixed; none is ever built from a capsule's data.
_RUN = re.compile(r"[0-9A-Za-z]+")
_STOPS = (".", "!", "?", "…")
_ASCII_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def restore(text: str, table: Mapping[str, Names]) -> str:
    """Returns `text` with every pseudonym of `table` replaced by its names; everything else stays."""
    restorer = Restorer(table)
    return restorer.push(text) + restorer.finish()


def shown(names: Names) -> str:
    """Returns the names of one pseudonym as words: `A`, `A and B`, or `A, B, C and 12 more`.

    Semicolons separate them if a name has a comma.
    """
    more = max(0, names.total - len(names.names))
    if not names.names:
        return f"{more} without a name" if more else "none"
    between = "; " if len(names.names) > 1 and any("," in name for name in names.names) else ", "
    if more:
        return f"{between.join(names.names)} and {more} more"
    *first, last = names.names
    return f"{between.join(first)} and {last}" if first else last


class Restorer:
    """Restores names in a stream of pieces. Its outputs, joined, equal `restore` of the joined pieces.

    Between two pieces it holds back at most the beginning of one pseudonym of the table. A restored name is not read
    again, so a name that looks like a pseudonym stays as it is.
    """

    def __init__(self, table: Mapping[str, Names]) -> None:
        self._words = {pseudonym: shown(names) for pseudonym, names in table.items() if _RUN.fullmatch(pseudonym)}
        self._beginnings = {word[:end] for word in self._words for end in range(1, len(word) + 1)}
        self._held = ""
        self._inside_word = False

    def push(self, piece: str) -> str:
        """Adds a piece, and returns the text that can no longer change."""
        return self._take(self._held + piece, last=False) if piece else ""

    def finish(self) -> str:
        """Returns the rest after the last piece, and resets the restorer."""
        rest = self._take(self._held, last=True)
        self._inside_word = False
        return rest

    def _take(self, text: str, last: bool) -> str:
        self._held = ""
        done, at = [], 0
        for run in _RUN.finditer(text):
            done.append(text[at : run.start()])
            at = run.end()
            open_left = not self._joins(text, run.start())
            if not last and run.end() == len(text) and open_left and run.group() in self._beginnings:
                self._held = run.group()
                break
            whole = open_left and not (run.end() < len(text) and _is_word_letter(text[run.end()]))
            word = self._words.get(run.group(), run.group()) if whole else run.group()
            done.append(word)
            if word[-1:] in _STOPS and text[at : at + 1] == ".":
                at += 1  # Skips the full stop after a name that ends in one: "It is Robert Downey Jr."
        done.append(text[at:])
        self._inside_word = self._joins(text, len(text) - len(self._held))
        return "".join(done)

    def _joins(self, text: str, at: int) -> bool:
        """True if the letter before position `at`, or the last one returned earlier, belongs to the word at `at`."""
        return _is_word_letter(text[at - 1]) if at else self._inside_word


def _is_word_letter(letter: str) -> bool:
    """True if `letter` next to a pseudonym would make it part of a longer word.

    Letters of scripts without capitals (CJK, kana, Hangul, Thai, Arabic, Hebrew) stand next to a pseudonym without a
    space, so they end a word; so does the underscore, which models use for emphasis.
    """
    if letter.isascii():
        return letter in _ASCII_WORD
    category = unicodedata.category(letter)
    return category != "Lo" and category[0] in "LNM"
