"""StringExtractor: names that stand letter by letter in the context. It reads no relation, so it is no judge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evaluation.dialogue.mentions import ExactNames
from evaluation.dialogue.spans import SpanQuestion, squad_words

_NUMBER = re.compile(r"(?<!\w)\d+(?!\w)")


class StringExtractor:
    """Gives every name that is in the context, but for the known end of the fact: an upper bound, for comparison."""

    def __init__(self, names: Iterable[str]) -> None:
        told = list(names)
        self._names = ExactNames(told)
        # Years are things of a graph too, and have no letter to be found by.
        self._numbers = {name for name in told if _NUMBER.fullmatch(name)}

    def answers_to(self, batch: Sequence[SpanQuestion]) -> list[tuple[str, ...]]:
        return [self._answers(question) for question in batch]

    def _answers(self, question: SpanQuestion) -> tuple[str, ...]:
        text = question.context
        spans = [text[mention.start : mention.end] for mention in self._names.find(text)]
        spans += [number for number in _NUMBER.findall(text) if number in self._numbers]
        known = squad_words(question.known)
        return tuple(span for span in dict.fromkeys(spans) if squad_words(span) != known)
