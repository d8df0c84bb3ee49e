"""The confidence of an answer.

Promise: it depends only on the question, on the schema as the asker sees it and on which relations the named things
have in it; nothing hidden from the asker is used.
"""

from __future__ import annotations

from app.chat.question_run import QuestionRun
from app.llm.confidence import as_confidence, confidence_of
from app.memory.case_memory import paths_of_answer
from app.memory.cases import Case


def confidence_in(run: QuestionRun) -> float | None:
    """Returns the chance (0 to 1) that the answer is right; None if nothing was answered or nothing measures it.

    An answer that follows what a person rated is no surer than that rating. A model's answer is measured by the
    service's own reading of the question: the chance that this reading is right if both give the same result, else the
    chance that it is wrong.
    """
    read = _of_reading(run)
    return None if read is None else min([read, *(case.most for case in cases_behind(run))])


def cases_behind(run: QuestionRun) -> tuple[Case, ...]:
    """The rated cases whose way the answer took; none where nothing was answered."""
    draft = run.found.draft
    if draft is None or run.ended.conclusion is None or not run.near_cases.of_path:
        return ()
    paths = paths_of_answer(draft.expressions, run.found.evidence, run.found.things)
    return tuple(case for path in paths for case in run.near_cases.of_path.get(path, ()))


def _of_reading(run: QuestionRun) -> float | None:
    """The confidence of a reading by itself."""
    draft, own = run.found.draft, run.found.own
    if run.ended.conclusion is None or draft is None or own is None:
        return None
    told = confidence_of(own.scores, doubtful_names=bool(run.read.inexact or run.read.ambiguous))
    if not own.expression:
        return told
    if len(draft.expressions) != 1:
        return None
    return told if run.executor.are_equal(draft.expressions[0], own.expression) else as_confidence(1 - told)
