"""All measures of one writer's replies beside attachment, with intervals where they are means over turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.measures.bootstrap import Estimate, estimate
from evaluation.dialogue.measures.corpus_overlap import bleu, rouge
from evaluation.dialogue.measures.kqa import kqa_scores, string_matches
from evaluation.dialogue.measures.reply_questions import ReplyQuestion
from evaluation.dialogue.measures.word_overlap import distinct, entity_f1, knowledge_f1, mean_length, unigram_f1
from evaluation.dialogue.spans import SpanExtractor


@dataclass(frozen=True, slots=True)
class ReplyFigures:
    """All between 0 and 1 but `length`, in words. KQA is None where there is no extractor."""

    turns: int
    kqa_exact: Estimate | None
    kqa_f1: Estimate | None
    string_match: Estimate
    knowledge_f1: Estimate
    entity_f1: Estimate
    unigram_f1: Estimate
    bleu: tuple[float, ...]
    rouge: tuple[float, ...]
    distinct: tuple[float, float]
    length: float


def reply_figures(
    turns: Sequence[GroundedTurn],
    replies: Sequence[str],
    questions: Sequence[ReplyQuestion],
    extractor: SpanExtractor | None = None,
) -> ReplyFigures:
    """`turns` and their `questions` as the set has them, whatever the replies were written from."""
    said = {turn.id: reply for turn, reply in zip(turns, replies, strict=True)}
    dialogues = [question.dialogue for question in questions]
    gold = [turn.gold_reply for turn in turns]
    exact: Estimate | None = None
    f1: Estimate | None = None
    if extractor:
        scores = kqa_scores(questions, {turn.id: turn for turn in turns}, said, extractor)
        exact, f1 = (estimate([score[at] for score in scores], dialogues) for at in (0, 1))
    return ReplyFigures(
        len(turns),
        exact,
        f1,
        estimate(string_matches(questions, said), dialogues),
        estimate([knowledge_f1(said[each.turn], each) for each in questions], dialogues),
        estimate([entity_f1(said[each.turn], each) for each in questions], dialogues),
        estimate(
            [unigram_f1(reply, right) for reply, right in zip(replies, gold, strict=True)],
            [turn.dialogue for turn in turns],
        ),
        bleu(replies, gold),
        rouge(replies, gold),
        (distinct(replies, 1), distinct(replies, 2)),
        mean_length(replies),
    )
