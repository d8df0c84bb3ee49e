"""Which span of a text fills the unknown end of a fact, and how well it agrees with what was expected (SQuAD)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

UNKNOWN: Final = "X"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A fact of which one end, head or tail, is `UNKNOWN`: which span of the context fills it?"""

    context: str = field(repr=False)
    head: str = field(repr=False)
    relation: str
    tail: str = field(repr=False)

    @property
    def unknown_is_head(self) -> bool:
        return self.head == UNKNOWN

    @property
    def known(self) -> str:
        return self.tail if self.unknown_is_head else self.head


class SpanExtractor(Protocol):
    """Answers questions from their contexts alone."""

    def answers_to(self, batch: Sequence[SpanQuestion]) -> list[tuple[str, ...]]:
        """For each question the spans that fill the unknown, letter by letter; none where it is impossible."""
        ...


def squad_words(text: str) -> list[str]:
    """As SQuAD compares answers (Rajpurkar et al., 2016): in small letters, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def squad_f1(given: str, acceptable: Sequence[str]) -> float:
    """The F1 of the words of `given`, the best over all acceptable answers; 0 where nothing is acceptable."""
    return max((_f1(squad_words(given), squad_words(answer)) for answer in acceptable), default=0.0)


def _f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted))
