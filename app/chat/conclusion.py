"""The fourth stage: a draft is grounded in its evidence, and its expressions are executed on the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from app.chat.answers.execution import Conclusion
from app.chat.answers.grounding import NotGroundedError, ground
from app.chat.question_run import ConclusionResult, QuestionRun
from app.privacy.anonymiser import Anonymised
from app.strategies.base import Draft, RetrievalResult
from client_sdk.protocol import Item
from kg_store.errors import ExpressionError
from kg_store.storage.vault import NO_NAME
from kg_store.terms import NO_MIDS, Mids

NOT_IN_GRAPH: Final = "The graph does not hold an answer to that."
NAMELESS: Final = "What was found has no name of its own: please ask for what it belongs to, or how many there are."
NOT_READ: Final = "I could not tell what “{word}” means here, so I give no answer."
OVER_BUDGET: Final = "No answer was found within the tokens that one question may take; the graph may hold one."
WITHHELD: Final = "The model was not asked: too few things of the graph fit what it would have been shown."
NOT_GROUNDED: Final = "An answer was proposed that could not be traced to the graph, so it is not shown."


def conclude(run: QuestionRun) -> QuestionRun:
    """Sets how the question ended, by what was found."""
    draft = run.found.draft
    return replace(run, ended=_without_draft(run.found) if draft is None else _executed(run, draft))


def _without_draft(found: RetrievalResult) -> ConclusionResult:
    if found.said:
        return ConclusionResult(Conclusion(found.said, (), {}), sentence=found.said)
    if found.unread:
        return ConclusionResult(sentence=NOT_READ.format(word=found.unread))
    sentence = OVER_BUDGET if found.over_budget else WITHHELD if found.withheld else NOT_IN_GRAPH
    return ConclusionResult(sentence=sentence)


def _executed(run: QuestionRun, draft: Draft) -> ConclusionResult:
    found, table = run.found, run.conversation.table
    allowed = {*found.things, *(end for fact in found.evidence for end in (fact.start, fact.end))}
    try:
        grounded = ground(draft.text, draft.expressions, allowed, table)
        conclusion = run.executor.conclude(grounded, _named_in(run.read))
    except (NotGroundedError, ExpressionError):
        return ConclusionResult(grounded=False, sentence=NOT_GROUNDED)
    if conclusion is None:
        return ConclusionResult(sentence=NOT_IN_GRAPH)
    if _is_nameless(conclusion):
        return ConclusionResult(sentence=NAMELESS)
    return ConclusionResult(conclusion, sentence=conclusion.text)


def _is_nameless(conclusion: Conclusion) -> bool:
    """True where all that was found only joins others, as an admission joins a patient and a ward."""
    names = [name for item in conclusion.items if item.kind in ("set", "entity") for name in _names(conclusion, item)]
    return bool(names) and set(names) == {NO_NAME} and all(item.kind != "value" for item in conclusion.items)


def _names(conclusion: Conclusion, item: Item) -> list[str]:
    found = conclusion.names.get(item.pseudonym)
    return found.names if found else []


def _named_in(read: Anonymised) -> Mids:
    """The single things that the question names itself; a set of an earlier answer may well be asked for again."""
    named = [topic.mids for topic in read.dialogue.topics if topic.newest and len(topic.mids) == 1]
    return np.unique(np.concatenate(named)) if named else NO_MIDS
