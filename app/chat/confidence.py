"""The confidence of an answer.

Promise: it depends only on the question, on the schema as the asker sees it and on which relations the named things
have in it; nothing hidden from the asker is used.
"""

from __future__ import annotations

from app.chat.question_run import QuestionRun
from app.llm.confidence import as_confidence, confidence_of


def confidence_in(run: QuestionRun) -> float | None:
    """Returns the chance (0 to 1) that the answer is right; None if nothing was answered or nothing measures it.

    A model's answer is measured by the service's own reading of the question: the chance that this reading is right if
    both give the same result, else the chance that it is wrong.
    """
    draft, own = run.found.draft, run.found.own
    if run.ended.conclusion is None or draft is None or own is None:
        return None
    told = confidence_of(own.scores, doubtful_names=bool(run.read.inexact or run.read.ambiguous))
    if not own.expression:
        return told
    if len(draft.expressions) != 1:
        return None
    return told if run.executor.are_equal(draft.expressions[0], own.expression) else as_confidence(1 - told)
