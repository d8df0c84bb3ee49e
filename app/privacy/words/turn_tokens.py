"""The words of a turn and its replaced parts, for judging the grammar around a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from app.privacy.words.grammar_words import BULLETS, ENDS
from app.privacy.words.lexicon import Lexicon


class Stand(Enum):
    """The role of a token: a word, a replaced name, or another replaced part."""

    WORD = "word"
    NAME = "name"
    UNKNOWN = "unknown"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Token:
    """text[start:end]; `word` is in lower case, and empty for a replaced part."""

    start: int
    end: int
    stand: Stand
    word: str = field(default="", repr=False)

    @property
    def is_replaced(self) -> bool:
        return self.stand in (Stand.NAME, Stand.UNKNOWN)


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """The tokens of one turn in order, and what surrounds each."""

    text: str = field(repr=False)
    tokens: Sequence[Token] = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    language: str = ""
    """The language of the text if it is not English (ISO 639-1)."""

    def before(self, at: int) -> Token | None:
        """Returns the token before, if it is in the same sentence."""
        return self.tokens[at - 1] if at and not ENDS.intersection(self.gap(at)) else None

    def after(self, at: int) -> Token | None:
        return self.tokens[at + 1] if at + 1 < len(self.tokens) and not ENDS & set(self.gap(at + 1)) else None

    def gap(self, at: int) -> str:
        """Returns the text between the token at `at` and the one before it."""
        return self.text[self.tokens[at - 1].end if at else 0 : self.tokens[at].start]

    def word_before(self, at: int) -> str:
        before = self.before(at)
        return before.word if before else ""

    def word_after(self, at: int) -> str:
        after = self.after(at)
        return after.word if after else ""

    def begins(self, at: int) -> bool:
        """True if a sentence, line or list item begins there."""
        gap = self.gap(at).rstrip(BULLETS)
        return at == 0 or (bool(gap) and gap[-1] in ENDS)
