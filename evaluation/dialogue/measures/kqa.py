"""KQA, by an extractor, and the match of strings, which is reported beside it and is no KQA (Kang et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.dialogue.grounded_turns import GroundedTurn, is_said
from evaluation.dialogue.measures.reply_questions import ReplyQuestion
from evaluation.dialogue.spans import SpanExtractor, squad_f1, squad_words


def string_matches(questions: Sequence[ReplyQuestion], replies: Mapping[str, str]) -> list[float]:
    """1 for a question of which at least one acceptable answer stands in the reply; `replies` by the turn's id."""
    return [float(any(is_said(name, replies[each.turn]) for name in each.acceptable)) for each in questions]


def kqa_scores(
    questions: Sequence[ReplyQuestion],
    turns: Mapping[str, GroundedTurn],
    replies: Mapping[str, str],
    extractor: SpanExtractor,
) -> list[tuple[float, float]]:
    """Exact match and F1 of the best span for each question, read from history and reply together.

    A question without a span has neither: KQA knows no impossible question.
    """
    spans = extractor.answers_to([each.span(_context(turns[each.turn], replies[each.turn])) for each in questions])
    return [
        (
            max((_exact(span, each.acceptable) for span in found), default=0.0),
            max((squad_f1(span, each.acceptable) for span in found), default=0.0),
        )
        for each, found in zip(questions, spans, strict=True)
    ]


def _context(turn: GroundedTurn, reply: str) -> str:
    return " ".join([*(text for _, text in turn.history), reply])


def _exact(span: str, acceptable: Sequence[str]) -> float:
    words = squad_words(span)
    return float(any(words == squad_words(name) for name in acceptable))
