"""Spans: runs of up to MAX_SPAN_WORDS content words of a question, each of which may say a hop of a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from app.reader.language.question_words import PREPOSITIONS
from app.reader.meaning.question.measures import POSITIVE
from app.reader.meaning.question.question_tokens import AskedQuestion
from kg_store.text.english import kind_words
from kg_store.text.inflection import singular, verbs_of

# Labels rarely have more content words; longer spans would cost time. Chosen by hand.
MAX_SPAN_WORDS: Final = 3


class SaidWord(NamedTuple):
    """A word of a question with its singular, the other words for the same kind of thing, and its verbs."""

    text: str
    singular: str
    called: frozenset[str]
    verbs: frozenset[str]

    @classmethod
    def of(cls, word: str) -> SaidWord:
        one = singular(word)
        return cls(word, one, kind_words(one), verbs_of(word))


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring words of a question; `texts`: the forms in which they are compared by the sentence model.

    `used` is the bit mask of their positions, `count` the number of content words.
    """

    words: tuple[str, ...]
    saying: tuple[SaidWord, ...]
    texts: tuple[str, ...]
    used: int
    first: int
    last: int
    count: int


def spans_of(asked: AskedQuestion) -> Iterator[Span]:
    """Yields all runs of up to three content words, each also with the preposition behind it ("lives"
    and "lives in").
    """
    words, saying = asked.words, [SaidWord.of(word) for word in asked.words]
    is_content = [asked.content >> at & 1 for at in range(len(asked.words))]
    for first in range(len(words)):
        for last in range(first, min(first + MAX_SPAN_WORDS, len(words))):
            if not is_content[last]:
                break
            said = words[first : last + 1]
            texts = [" ".join(said)]
            after = words[last + 1] if last + 1 < len(words) else ""
            if after in PREPOSITIONS:
                texts.append(f"{texts[0]} {after}")
            if len(said) == 1 and said[0] in POSITIVE:
                texts += POSITIVE[said[0]].hints
            used = sum(1 << at for at in range(first, last + 1))
            yield Span(said, tuple(saying[first : last + 1]), tuple(texts), used, first, last, len(said))
