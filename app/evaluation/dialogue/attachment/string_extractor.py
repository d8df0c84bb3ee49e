"""StringExtractor: names that stand letter by letter in the context. It reads no relation, so it is no judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.evaluation.dialogue.mentions import ExactNames
from app.evaluation.dialogue.spans import SpanQuestion, squad_words


class StringExtractor:
    """Gives every name that is in the context, but for the known end of the fact: an upper bound, for comparison."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = ExactNames(names)

    def answers_to(self, batch: Sequence[SpanQuestion]) -> list[tuple[str, ...]]:
        return [self._answers(question) for question in batch]

    def _answers(self, question: SpanQuestion) -> tuple[str, ...]:
        found = self._names.find(question.context)
        spans = dict.fromkeys(question.context[mention.start : mention.end] for mention in found)
        known = squad_words(question.known)
        return tuple(span for span in spans if squad_words(span) != known)
