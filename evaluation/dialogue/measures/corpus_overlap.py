"""BLEU by sacrebleu and ROUGE by rouge-score: the home of both libraries."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

BLEU_ORDERS: Final = (1, 2, 3, 4)
ROUGE_KINDS: Final = ("rouge1", "rouge2", "rougeL")


def bleu(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """BLEU-1 to BLEU-4 of the whole set, between 0 and 1, in small letters."""
    from sacrebleu.metrics.bleu import BLEU

    if not replies:
        return (0.0,) * len(BLEU_ORDERS)
    return tuple(
        BLEU(lowercase=True, max_ngram_order=order).corpus_score(list(replies), [list(gold)]).score / 100
        for order in BLEU_ORDERS
    )


def rouge(replies: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """Mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    if not replies:
        return (0.0,) * len(ROUGE_KINDS)
    scorer = RougeScorer(list(ROUGE_KINDS))
    found = [scorer.score(right, reply) for reply, right in zip(replies, gold, strict=True)]
    return tuple(fmean(float(scores[kind].fmeasure) for scores in found) for kind in ROUGE_KINDS)
