"""Names back into text, whole or streamed: exact matches of whole words against one capsule, in one pass."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from client_sdk.protocol import Names

# A pseudonym is a run of these. The pattern is fixed: none is ever made from a capsule's data.
_RUN = re.compile(r"[0-9A-Za-z]+")
_STOPS = (".", "!", "?", "…")
_ASCII_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def restore(text: str, table: Mapping[str, Names]) -> str:
    """`text` with every pseudonym of `table` replaced. Others stay, and so does what only looks alike."""
    restorer = Restorer(table)
    return restorer.push(text) + restorer.finish()


def shown(names: Names) -> str:
    """One pseudonym's names as words: `A`, `A and B`, or `A, B, C and 12 more`; semicolons where names hold commas."""
    more = max(0, names.total - len(names.names))
    if not names.names:
        return f"{more} without a name" if more else "none"
    between = "; " if len(names.names) > 1 and any("," in name for name in names.names) else ", "
    if more:
        return f"{between.join(names.names)} and {more} more"
    *first, last = names.names
    return f"{between.join(first)} and {last}" if first else last


class Restorer:
    """Restores a stream of pieces. What it gives, joined, is `restore` of the pieces joined.

    Between two pieces it holds back at most the beginning of one pseudonym of the table. A restored name is
    never read again, so one that looks like a pseudonym stays as it is.
    """

    def __init__(self, table: Mapping[str, Names]) -> None:
        self._words = {pseudonym: shown(names) for pseudonym, names in table.items() if _RUN.fullmatch(pseudonym)}
        self._beginnings = {word[:end] for word in self._words for end in range(1, len(word) + 1)}
        self._held = ""
        self._inside_word = False

    def push(self, piece: str) -> str:
        """Adds a piece, and gives the text that has become certain."""
        return self._take(self._held + piece, last=False) if piece else ""

    def finish(self) -> str:
        """The rest, when the stream has ended. Afterwards the restorer is as new."""
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
                at += 1  # "It is Robert Downey Jr." ends once.
        done.append(text[at:])
        self._inside_word = self._joins(text, len(text) - len(self._held))
        return "".join(done)

    def _joins(self, text: str, at: int) -> bool:
        """True where the letter before position `at`, perhaps one given earlier, belongs to the word that follows."""
        return _is_word_letter(text[at - 1]) if at else self._inside_word


def _is_word_letter(letter: str) -> bool:
    """True where `letter` beside a pseudonym would make it part of a longer word.

    Letters of scripts without capitals (CJK, kana, Hangul, Thai, Arabic, Hebrew) stand beside a pseudonym
    without a space, so they are borders; so is the underscore, which models use for emphasis.
    """
    if letter.isascii():
        return letter in _ASCII_WORD
    category = unicodedata.category(letter)
    return category != "Lo" and category[0] in "LNM"
