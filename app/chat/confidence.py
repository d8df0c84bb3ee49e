"""The confidence of a question's answer.

Promise: it is told of answers alone, and depends on the question, on the schema as the asker sees it and on what the
things that the question names have in it; nothing that is hidden from the asker goes in.
"""

from __future__ import annotations

from app.chat.question_run import QuestionRun
from app.llm.confidence import as_confidence, confidence_of


def confidence_in(run: QuestionRun) -> float | None:
    """The chance that the answer is right; None where nothing was answered, or nothing measures it.

    A model's answer is measured by the service's own reading of the question: where both give the same, it is the
    chance that the reading is right, and else that it is wrong.
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
