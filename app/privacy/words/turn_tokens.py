"""The words of a turn and what is replaced in it, as the grammar around them sees both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from app.privacy.words.grammar_words import BULLETS, ENDS
from app.privacy.words.lexicon import Lexicon


class Stand(Enum):
    """A token of the text: a word, a name that is replaced, or another thing that is."""

    WORD = "word"
    NAME = "name"
    UNKNOWN = "unknown"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Token:
    """text[start:end]; `word` is in small letters, empty for what is replaced."""

    start: int
    end: int
    stand: Stand
    word: str = field(default="", repr=False)

    @property
    def is_replaced(self) -> bool:
        return self.stand in (Stand.NAME, Stand.UNKNOWN)


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """The tokens of one turn in order, and what stands around each."""

    text: str = field(repr=False)
    tokens: Sequence[Token] = field(repr=False)
    lexicon: Lexicon = field(repr=False)
    language: str = ""
    """The text's own, where it is not English (ISO 639-1)."""

    def before(self, at: int) -> Token | None:
        """The token in front, of the same sentence, with no more than a space or a sign between."""
        return self.tokens[at - 1] if at and not ENDS.intersection(self.gap(at)) else None

    def after(self, at: int) -> Token | None:
        return self.tokens[at + 1] if at + 1 < len(self.tokens) and not ENDS & set(self.gap(at + 1)) else None

    def gap(self, at: int) -> str:
        """The text between the token at `at` and the one in front of it."""
        return self.text[self.tokens[at - 1].end if at else 0 : self.tokens[at].start]

    def word_before(self, at: int) -> str:
        before = self.before(at)
        return before.word if before else ""

    def word_after(self, at: int) -> str:
        after = self.after(at)
        return after.word if after else ""

    def begins(self, at: int) -> bool:
        """True where a sentence, line or item of a list begins."""
        gap = self.gap(at).rstrip(BULLETS)
        return at == 0 or (bool(gap) and gap[-1] in ENDS)
