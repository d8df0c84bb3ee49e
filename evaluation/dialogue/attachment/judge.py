"""Judges: who finds the spans that fill a question's unknown. The trained extractor never fails; an endpoint may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evaluation.dialogue.attachment.kat import Judged
from evaluation.dialogue.spans import SpanExtractor, SpanQuestion


class Judge(Protocol):
    """Judges each question by its own context."""

    def judged(self, batch: Sequence[SpanQuestion]) -> list[Judged]: ...


class ExtractorJudge:
    """An extractor on this machine."""

    def __init__(self, extractor: SpanExtractor) -> None:
        self._extractor = extractor

    def judged(self, batch: Sequence[SpanQuestion]) -> list[Judged]:
        return [*self._extractor.answers_to(batch)]
