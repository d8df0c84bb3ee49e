"""A model and the reasoner inside the service read the same question: what is told where they agree and where not.

Promise: a reading that is told is a set expression that was executed; where only one of the two readers has it, or
they differ, the answer says so in words.
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
"""The chance from which the service's own reading is sure."""
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
    """True where the service's own reading needs no second opinion."""
    return run.ended.conclusion is not None and (confidence_in(run) or 0.0) >= SURE


def why_not(error: Exception) -> str:
    """The sentence for whoever asked, where a model could not answer."""
    if isinstance(error, BudgetUsedUpError):
        return OVER_BUDGET
    if isinstance(error, ReplyUnusableError):
        return NO_REPLY
    if isinstance(error, ReasonerRefusedError):
        return REFUSED
    assert isinstance(error, ReasonerError)
    return NOT_REACHED


def remarked(own: QuestionRun, remark: str) -> QuestionRun:
    """The service's own end of a question that no model answered; the remark stands where there is an answer."""
    if own.ended.conclusion is None or own.found.said:
        return own
    return replace(own, remarks=(*own.remarks, remark))


def weighed(own: QuestionRun, asked: QuestionRun, *, is_capable: bool) -> QuestionRun:
    """Which of two ends of a question is told. `is_capable`: the model was seen to read questions, so that its reading
    counts where the service has none, or is not sure of its own."""
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
    """False of an answer that begins at nothing that the question names: it answers another one."""
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
    """`first` as the answer, and the sentence of `second` behind it: two readings, the likelier one first."""
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
