"""The reply to a question: its text and evidence in pseudonyms, its names sealed to whoever asks, and what it cost."""

from __future__ import annotations

from dataclasses import replace

from app.chat.answers.capsule import names_of_masks, seal_names
from app.chat.answers.disambiguation import hints_for
from app.chat.citations import as_fact, cited_by, said_by
from app.chat.question_run import QuestionRun
from app.privacy.anonymiser import Anonymised
from client_sdk.protocol import Ambiguity, ChatAnswer, Message, Names, Usage


def sealed_answer(run: QuestionRun) -> ChatAnswer:
    """The answer without what it cost. New pseudonyms of its choices are issued here."""
    conclusion, found = run.ended.conclusion, run.found
    read = replace(run.read, ambiguous=tuple(_with_hints(each, run) for each in run.read.ambiguous))
    cited = cited_by(run.conversation.table, found, conclusion)
    answer = ChatAnswer(
        id=run.answer_id,
        conversation=run.conversation.id,
        graph=run.request.graph,
        message=Message(role="assistant", content=run.ended.sentence),
        answered=conclusion is not None,
        entities=list(conclusion.items) if conclusion else [],
        evidence=[as_fact(fact, cited) for fact in found.evidence],
        grounded=run.ended.grounded,
        ambiguous=list(read.ambiguous),
        inexact=list(read.inexact),
        notes=[*read.notes, *found.notes],
        usage=Usage(),
    )
    if run.request.public_key is None:
        return answer
    return seal_names(run.request.public_key, answer, _names(run, read))


def _with_hints(ambiguity: Ambiguity, run: QuestionRun) -> Ambiguity:
    hints = hints_for(ambiguity.choices, run.graph.blind, run.conversation.table)
    return ambiguity.model_copy(update={"hints": hints})


def _names(run: QuestionRun, read: Anonymised) -> dict[str, Names]:
    """The names of this answer, of its cited evidence and of its choices, and no others."""
    table, conclusion = run.conversation.table, run.ended.conclusion
    cited = cited_by(table, run.found, conclusion)
    words = [word for ambiguity in read.ambiguous for word in (ambiguity.pseudonym, *ambiguity.choices)]
    words += [hint.tail for ambiguity in read.ambiguous for hint in ambiguity.hints]
    words += [reading.pseudonym for reading in read.inexact]
    words += table.known(" ".join((*read.notes, run.ended.sentence)))
    words += said_by(table, run.found, conclusion)
    words += [word for fact in cited for word in (fact.start, fact.end)]
    own = conclusion.names if conclusion else {}
    hinted = (step for ambiguity in read.ambiguous for hint in ambiguity.hints for step in hint.path)
    steps = (step for fact in cited for step in fact.path)
    masks = names_of_masks(run.graph, (conclusion.text if conclusion else "", *hinted, *steps))
    return {**run.executor.names_of(dict.fromkeys(word for word in words if word not in own)), **own, **masks}


def with_usage(answer: ChatAnswer, run: QuestionRun, milliseconds: dict[str, float], currency: str) -> ChatAnswer:
    """`answer` with what it cost: that stands outside of what its capsule is sealed to."""
    spent, stages = run.spent, dict(milliseconds)
    stages["guarding"] = round(spent.guard_s * 1000, 3)
    stages["reasoning"] = round(spent.reasoner_s * 1000, 3)
    stages["retrieving"] = round(max(0.0, stages.pop("finding") - stages["guarding"] - stages["reasoning"]), 3)
    cost = spent.cost if spent.calls else None
    usage = Usage(
        calls=spent.calls,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        tokens_counted_by="endpoint" if spent.calls and spent.by_endpoint else "wordpiece",
        rounds=run.found.rounds,
        retries=spent.retries,
        odd_counts=spent.odd_counts,
        over_budget=run.found.over_budget,
        cost=cost,
        currency=currency if cost is not None else "",
        anonymity=run.anonymity,
        withheld=run.withheld,
        milliseconds=stages,
    )
    return answer.model_copy(update={"usage": usage})
