"""The reply to a question: its text and evidence in pseudonyms, its names sealed to whoever asks, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.chat.answers.capsule import names_of_masks, seal_names
from app.chat.answers.disambiguation import hints_for
from app.chat.answers.execution import AnswerExecutor, Conclusion
from app.chat.citations import as_fact, cited_by, said_by
from app.chat.conversations import Conversation
from app.chat.stages import StageTimer
from app.egress.disclosure_control import MeteredReasoner
from app.egress.guarded_reasoner import UsageTotals
from app.privacy.anonymiser import Anonymised
from app.privacy.words.lexicon import Lexicon
from app.strategies.base import RetrievalResult
from client_sdk.protocol import Ambiguity, ChatAnswer, ChatRequest, Message, Names, Usage
from kg_store.catalog import PrivateGraph


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What one question is asked of: its graph version and its conversation."""

    request: ChatRequest
    graph: PrivateGraph
    conversation: Conversation
    lexicon: Lexicon

    @property
    def concluder(self) -> AnswerExecutor:
        return AnswerExecutor(self.graph, self.conversation.table, self.request.options.names)


@dataclass(frozen=True, slots=True)
class ConclusionResult:
    """How a question ended: a conclusion, or the sentence that says why there is none."""

    conclusion: Conclusion | None
    grounded: bool
    sentence: str


def sealed_answer(
    answer_id: str, asked: QuestionContext, read: Anonymised, finding: RetrievalResult, outcome: ConclusionResult
) -> ChatAnswer:
    request, conclusion = asked.request, outcome.conclusion
    read = replace(read, ambiguous=tuple(_with_hints(each, asked) for each in read.ambiguous))
    cited = cited_by(asked.conversation.table, finding, conclusion)
    answer = ChatAnswer(
        id=answer_id,
        conversation=asked.conversation.id,
        graph=request.graph,
        message=Message(role="assistant", content=outcome.sentence),
        answered=conclusion is not None,
        entities=list(conclusion.items) if conclusion else [],
        evidence=[as_fact(fact, cited) for fact in finding.evidence],
        grounded=outcome.grounded,
        ambiguous=list(read.ambiguous),
        inexact=list(read.inexact),
        notes=[*read.notes, *finding.notes],
        usage=Usage(),
    )
    if request.public_key is None:
        return answer
    names = _names(asked, read, finding, conclusion)
    return seal_names(request.public_key, answer, names)


def _with_hints(ambiguity: Ambiguity, asked: QuestionContext) -> Ambiguity:
    hints = hints_for(ambiguity.choices, asked.graph.blind, asked.conversation.table)
    return ambiguity.model_copy(update={"hints": hints})


def _names(
    asked: QuestionContext, read: Anonymised, finding: RetrievalResult, conclusion: Conclusion | None
) -> dict[str, Names]:
    """The names of this answer, of its cited evidence and of its choices, and no others."""
    table = asked.conversation.table
    words = [word for ambiguity in read.ambiguous for word in (ambiguity.pseudonym, *ambiguity.choices)]
    words += [hint.tail for ambiguity in read.ambiguous for hint in ambiguity.hints]
    words += [reading.pseudonym for reading in read.inexact]
    words += table.known(" ".join(read.notes))
    words += said_by(table, finding, conclusion)
    words += [word for fact in cited_by(table, finding, conclusion) for word in (fact.start, fact.end)]
    own = conclusion.names if conclusion else {}
    hinted = (step for ambiguity in read.ambiguous for hint in ambiguity.hints for step in hint.path)
    cited = (step for fact in cited_by(table, finding, conclusion) for step in fact.path)
    masks = names_of_masks(asked.graph, (conclusion.text if conclusion else "", *hinted, *cited))
    return {**asked.concluder.names_of(dict.fromkeys(word for word in words if word not in own)), **own, **masks}


def usage_of(
    spent: UsageTotals, finding: RetrievalResult, watch: StageTimer, currency: str, metered: MeteredReasoner
) -> Usage:
    stages = watch.milliseconds()
    stages["guarding"] = round(spent.guard_s * 1000, 3)
    stages["reasoning"] = round(spent.reasoner_s * 1000, 3)
    stages["retrieving"] = round(max(0.0, stages.pop("finding") - stages["guarding"] - stages["reasoning"]), 3)
    cost = spent.cost if spent.calls else None
    return Usage(
        calls=spent.calls,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        tokens_counted_by="endpoint" if spent.calls and spent.by_endpoint else "wordpiece",
        rounds=finding.rounds,
        retries=spent.retries,
        odd_counts=spent.odd_counts,
        over_budget=finding.over_budget,
        cost=cost,
        currency=currency if cost is not None else "",
        anonymity=metered.fewest,
        withheld=metered.kept,
        milliseconds=stages,
    )
