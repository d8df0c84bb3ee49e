"""The facts that an answer rests on, what the conversation keeps of them, and "why?" told from that."""

from __future__ import annotations

from collections.abc import Sequence

from app.chat.answers.capsule import names_of_masks, seal_names
from app.chat.answers.execution import AnswerExecutor, Conclusion
from app.chat.conversations import Conversation, ConversationStore, Reason
from app.chat.dialogue.explanation_requests import NO_REASON, reason_of
from app.chat.question_run import QuestionRun
from app.privacy.pseudonyms import PseudonymTable
from app.strategies.base import FoundFact, RetrievalResult
from client_sdk.protocol import ChatAnswer, Fact, Message, Usage
from kg_store.terms import Schema

NAMES_IN_A_REASON = 5  # of one set


def said_by(table: PseudonymTable, finding: RetrievalResult, conclusion: Conclusion | None) -> list[str]:
    """The pseudonyms of the answer's text and of the expressions that it came from."""
    if conclusion is None or finding.draft is None:
        return []
    return table.known(" ".join([conclusion.text, *finding.draft.expressions]))


def cited_by(table: PseudonymTable, finding: RetrievalResult, conclusion: Conclusion | None) -> list[FoundFact]:
    """The facts that lead to what was said, in the order in which they were found."""
    cited: list[FoundFact] = []
    if conclusion is None or finding.draft is None:
        return cited
    # A sentence may repeat what the question named: that nothing has to lead to.
    said, drafted = said_by(table, finding, conclusion), table.known(" ".join(finding.draft.expressions))
    wanted = {*said} - {*finding.things} | {*drafted}
    for fact in reversed(finding.evidence):
        if fact.end in wanted:
            wanted.add(fact.start)
            cited.insert(0, fact)
    return cited


def as_fact(fact: FoundFact, cited: Sequence[FoundFact], tail_count: int | None = None) -> Fact:
    return Fact(
        head=fact.start,
        head_concept=fact.start_concept,
        path=list(fact.path),
        tail=fact.end,
        tail_concept=fact.end_concept,
        size=fact.size,
        cited=fact in cited,
        tail_count=tail_count,
    )


class AnswerKeeper:
    """The last stage: saves the conversation with what leads to its newest answer, and tells of that when asked."""

    def __init__(self, conversations: ConversationStore) -> None:
        self._conversations = conversations

    def keep(self, run: QuestionRun) -> None:
        """Saves the conversation. Raises ConversationBusyError."""
        _keep_reason(run.conversation, run.found, run.ended.conclusion)
        self._conversations.save(run.conversation, run.graph.blind.schema)

    def explain(self, run: QuestionRun) -> ChatAnswer:
        """The reason of the last answer, from what the conversation kept: nothing is asked of anybody. Raises
        ConversationBusyError."""
        self._conversations.save(run.conversation, run.graph.blind.schema)
        return _explanation(run)


def _keep_reason(conversation: Conversation, finding: RetrievalResult, conclusion: Conclusion | None) -> None:
    """Remembers what leads to this answer, in place of what led to the one before."""
    cited = cited_by(conversation.table, finding, conclusion)
    reason = conversation.reason
    reason.facts[:] = [as_fact(fact, cited) for fact in cited]
    reason.expressions[:] = finding.draft.expressions if finding.draft and conclusion else ()


def _explanation(run: QuestionRun) -> ChatAnswer:
    """The facts that the last answer rests on, in pseudonyms, with the capsule of their names."""
    reason = _still_shown(run.conversation.reason, run.graph.blind.schema)
    text = reason_of(reason.facts, reason.expressions)
    answer = ChatAnswer(
        id=run.answer_id,
        conversation=run.conversation.id,
        graph=run.request.graph,
        message=Message(role="assistant", content=text),
        answered=text != NO_REASON,
        entities=[],
        evidence=reason.facts,
        grounded=True,
        ambiguous=[],
        usage=Usage(),
    )
    if run.request.public_key is None:
        return answer
    table = run.conversation.table
    names = AnswerExecutor(run.graph, table, NAMES_IN_A_REASON).names_of(table.known(text))
    names |= names_of_masks(run.graph, [text, *(step for fact in reason.facts for step in fact.path)])
    return seal_names(run.request.public_key, answer, names)


def _still_shown(reason: Reason, schema: Schema) -> Reason:
    """The reason, if the graph as this caller sees it by now still shows every relation of it."""
    shown = {relation.label for relation in schema.relations}
    steps = (part for fact in reason.facts for step in fact.path for part in step.replace("^", "").split("|"))
    return reason if shown.issuperset(steps) else Reason()
