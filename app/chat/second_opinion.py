"""Combines the answers of a model and of the reasoner inside the service, and says where they agree or differ.

Promise: every reading that is told is an expression that was executed; if only one of the two has it, or they differ,
the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from app.chat.answers.execution import Conclusion
from app.chat.confidence import confidence_in
from app.chat.question_run import QuestionRun
from app.egress.budgets import BudgetUsedUpError
from app.llm.reasoner import ReasonerError, ReasonerRefusedError, ReplyUnusableError
from client_sdk.protocol import Names

SURE: Final = 0.9
"""From this confidence on the service's own reading is used without a second opinion. Chosen by hand; not fitted."""
MODEL_ALONE: Final = "This is how the model read the question; the service could not read it by itself."
MODEL_ELSE: Final = "The model read the question in another way:"
OWN_ELSE: Final = "The service itself read the question in another way:"
MODEL_NONE: Final = "The model gave no answer; this is the service's own."
NO_REPLY: Final = "The model's reply could not be used; this is the service's own answer."
NOT_REACHED: Final = "The model could not be reached; this is the service's own answer."
REFUSED: Final = "The model's endpoint refused the request; this is the service's own answer."
OVER_BUDGET: Final = "The budget for the model is used up; this is the service's own answer."
TOO_FEW: Final = "The model was not asked, since too few things match; this is the service's own answer."


def is_sure(run: QuestionRun) -> bool:
    """True if the service's own reading needs no second opinion."""
    return run.ended.conclusion is not None and (confidence_in(run) or 0.0) >= SURE


def why_not(error: Exception) -> str:
    """Returns the sentence for the asker when a model could not answer."""
    if isinstance(error, BudgetUsedUpError):
        return OVER_BUDGET
    if isinstance(error, ReplyUnusableError):
        return NO_REPLY
    if isinstance(error, ReasonerRefusedError):
        return REFUSED
    assert isinstance(error, ReasonerError)
    return NOT_REACHED


def remarked(own: QuestionRun, remark: str) -> QuestionRun:
    """Returns the service's own end of a question that no model answered, with the remark if there is an answer."""
    if own.ended.conclusion is None or own.found.said:
        return own
    return replace(own, remarks=(*own.remarks, remark))


def weighed(own: QuestionRun, asked: QuestionRun, *, is_capable: bool) -> QuestionRun:
    """Returns the end that is told. `is_capable`: the model has shown that it reads questions, so its reading counts
    if the service has none or is unsure.
    """
    if asked.found.over_budget:
        return remarked(own, OVER_BUDGET)
    if asked.found.withheld:
        return remarked(own, TOO_FEW)
    if asked.ended.conclusion is None or not _uses_what_is_named(asked):
        return remarked(own, MODEL_NONE) if is_capable else own
    if own.ended.conclusion is None:
        return _warned(asked) if is_capable else own
    if _agree(own, asked):
        return own
    if is_capable and not is_sure(own):
        return _both(asked, own, OWN_ELSE)
    return _both(own, asked, MODEL_ELSE)


def _uses_what_is_named(run: QuestionRun) -> bool:
    """False of an answer that starts from nothing the question names, because it answers another question."""
    topics = {topic.pseudonym for topic in run.read.dialogue.topics if topic.newest and not topic.doubtful}
    named = {topic for topic in topics if topic in run.read.dialogue.question}
    if not named or run.found.draft is None:
        return True
    text = " ".join(run.found.draft.expressions)
    ends = {fact.end: fact.start for fact in run.found.evidence}
    used = set(run.conversation.table.known(text))
    for _ in ends:
        used |= {ends[word] for word in used if word in ends}
    return not named.isdisjoint(used)


def _agree(own: QuestionRun, asked: QuestionRun) -> bool:
    mine, theirs = own.found.draft, asked.found.draft
    if mine is None or theirs is None:
        return False
    return own.executor.are_equal(mine.expressions[0], theirs.expressions[0])


def _warned(asked: QuestionRun) -> QuestionRun:
    return _with_text(asked, f"{asked.ended.sentence} {MODEL_ALONE}", {})


def _both(first: QuestionRun, second: QuestionRun, between: str) -> QuestionRun:
    """`first` as the answer, followed by the sentence of `second`: two readings, the likelier one first."""
    other = second.ended.conclusion
    assert other is not None
    told = _with_text(first, f"{first.ended.sentence} {between} {second.ended.sentence}", other.names)
    facts = tuple(dict.fromkeys((*first.found.evidence, *second.found.evidence)))
    things = tuple(dict.fromkeys((*first.found.things, *second.found.things)))
    return replace(told, found=replace(told.found, evidence=facts, things=things))


def _with_text(run: QuestionRun, text: str, more: Mapping[str, Names]) -> QuestionRun:
    conclusion = run.ended.conclusion
    assert conclusion is not None
    told = Conclusion(text, conclusion.items, {**more, **conclusion.names})
    return replace(run, ended=replace(run.ended, conclusion=told, sentence=text))
