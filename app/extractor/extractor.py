"""Extractor: finds the spans of a text that fill the unknown end of a fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from app.extractor.features import Floats, Question, SpanFeatureMaker, TokenReader, Words
from app.extractor.lower_layers import open_lower_layers
from app.extractor.network import ExtractorWeights, SpanScores, scores_of
from app.extractor.weights import read_weights

MAX_SPAN: Final = 16
"""The greatest number of words of an answer. Chosen by hand."""
MAX_ANSWERS: Final = 12
_BLOCK: Final = 2048


@dataclass(frozen=True, slots=True)
class _Asked:
    """Implements Question."""

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool


class Extractor:
    """Reads only the given text, no graph. For one thread at a time."""

    def __init__(self, weights: ExtractorWeights, lower: TokenReader) -> None:
        """`lower`: see SpanFeatureMaker."""
        self._weights, self._maker = weights, SpanFeatureMaker(lower)

    def answers(self, context: str, known: str, relation: str, unknown_is_head: bool) -> tuple[str, ...]:
        """Returns parts of `context`, unchanged and each once; empty if the text does not say the fact."""
        return self.answers_to([_Asked(context, known, relation, unknown_is_head)])[0]

    def answers_to(self, batch: Sequence[Question]) -> list[tuple[str, ...]]:
        """Does the same as `answers` for each question of the batch."""
        found: list[tuple[str, ...]] = []
        for start in range(0, len(batch), _BLOCK):
            part = batch[start : start + _BLOCK]
            features = self._maker.make(part)
            # Without a word there is nothing to score.
            rows = [row for row, each in enumerate(features) if each.context.texts]
            scores = dict(zip(rows, scores_of(self._weights, [features[row] for row in rows]), strict=True))
            for row, question in enumerate(part):
                spans = spans_of(scores[row], features[row].context) if row in scores else []
                found.append(tuple(dict.fromkeys(question.context[begin:end] for begin, end in spans)))
        return found


def open_extractor(file: Path, model: str, cache: Path) -> Extractor:
    """Returns the extractor with the weights in `file`, on top of the sentence model `model`.

    Raises NetworkWeightsError, SentenceModelError, OSError.
    """
    weights = read_weights(file, model)
    return Extractor(weights, open_lower_layers(model, cache, weights.config.below))


def spans_of(scores: SpanScores, words: Words) -> list[tuple[int, int]]:
    """Returns the spans of the answers, in order; empty if "no answer" is the likeliest."""
    best = float(scores.starts.max())
    if scores.impossible > best:
        return []
    starts = np.flatnonzero(scores.starts >= min(best, 0.0))[:MAX_ANSWERS]
    found = []
    for at, start in enumerate(starts):
        until = starts[at + 1] if at + 1 < len(starts) else len(words.texts)
        last = start + _length(scores.ends[start : min(until, start + MAX_SPAN)])
        found.append((words.spans[start][0], words.spans[last][1]))
    return found


def _length(ends: Floats) -> int:
    """The number of words of an answer: up to the first that looks like an end, else up to the likeliest end."""
    likely = np.flatnonzero(ends > 0)
    return int(likely[0]) if len(likely) else int(ends.argmax())
