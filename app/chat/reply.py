"""Builds the reply to a question: text and evidence in pseudonyms, names encrypted to the asker's key, and costs."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.chat.conversations import ConversationStore, Reason
from app.chat.execution import AnswerExecutor, Conclusion
from app.chat.names_budget import NamesBudget, RestoredNames, ToldFact, told_by
from app.chat.question_run import QuestionRun
from app.chat.sealing import hints_for, names_of_masks, seal_names, with_kinds_to_restore
from app.chat.understanding import count_of, understood, worked_out
from app.llm.confidence import as_confidence, confidence_of
from app.memory.case_memory import CaseMemory, is_one_path, paths_of_answer
from app.memory.cases import Case, RatableAnswer
from app.privacy.anonymised import Anonymised
from app.privacy.plain_wording import Today, utc_today
from app.privacy.pseudonyms import PseudonymTable
from app.strategies.base import Draft, FoundFact, RetrievalResult
from client_sdk.protocol import ChatAnswer, Fact, Item, Message, Names, Usage
from client_sdk.protocol.chat import chains

MAX_ASKED_ABOUT: Final = 50
"""The most things of one set for which a question about the set counts as one about each. Chosen by hand."""
MIN_KNOWN_FACTOR: Final = 0.5
"""The least factor by which values that are not known lower the confidence. Chosen by hand."""


def confidence_in(run: QuestionRun) -> float | None:
    """Returns the chance (0 to 1) that the answer is right; None without an answer or without a reading to compare.

    The service's own reading of the question is right with some chance p. If a model's answer gives the same result as
    this reading, its confidence is p, else 1 - p. An answer that follows rated cases gets at most the confidence that
    these cases allow. An answer over values that some things lack gets less, by their share, at most half less.
    """
    draft, own = run.found.draft, run.found.own
    if run.ended.conclusion is None or draft is None or own is None:
        return None
    told = confidence_of(own.scores, doubtful_names=bool(run.read.inexact or run.read.ambiguous))
    if own.expression:
        if len(draft.expressions) != 1:
            return None
        told = told if run.executor.are_equal(draft.expressions[0], own.expression) else as_confidence(1 - told)
    told = as_confidence(told * max(MIN_KNOWN_FACTOR, run.ended.known))
    return min([told, *(case.most for case in cases_behind(run))])


def cases_behind(run: QuestionRun) -> tuple[Case, ...]:
    """Returns the rated cases whose paths the answer follows; empty without an answer."""
    draft = run.found.draft
    if draft is None or run.ended.conclusion is None or not run.near_cases.of_path:
        return ()
    paths = paths_of_answer(draft.expressions, run.found.evidence, run.found.things)
    return tuple(case for path in paths for case in run.near_cases.of_path.get(path, ()))


NAMES_IN_A_REASON = 5  # The greatest number of names restored for one set in a reason. Chosen by hand.
LEANS_ON_RATING: Final = "This follows an earlier rating, which nobody has checked."
LEANS_ON_APPROVED: Final = "This follows an earlier rating, which the graph's owner approved."


def pseudonyms_cited(table: PseudonymTable, finding: RetrievalResult, conclusion: Conclusion | None) -> list[str]:
    """Returns the pseudonyms in the answer's text and in the expressions behind it."""
    if conclusion is None or finding.draft is None:
        return []
    return table.known(" ".join([conclusion.text, *finding.draft.expressions]))


def cited_by(table: PseudonymTable, finding: RetrievalResult, conclusion: Conclusion | None) -> list[FoundFact]:
    """Returns the facts that lead to the answer, in the order in which they were found."""
    cited: list[FoundFact] = []
    if conclusion is None or finding.draft is None:
        return cited
    # A sentence may repeat a thing that the question named; no fact has to lead to that.
    said, drafted = pseudonyms_cited(table, finding, conclusion), table.known(" ".join(finding.draft.expressions))
    wanted = {*said} - {*finding.things} | {*drafted}
    for fact in reversed(finding.evidence):
        # Of public graphs only what the reply states is kept, so it leads to the answer whichever end was spoken of.
        if fact.end in wanted or fact.public:
            wanted.add(fact.start)
            cited.insert(0, fact)
    return cited


def to_wire_fact(fact: FoundFact, cited: Sequence[FoundFact], tail_count: int | None = None) -> Fact:
    return Fact(
        head=fact.start,
        head_concept=fact.start_concept,
        path=list(fact.path),
        tail=fact.end,
        tail_concept=fact.end_concept,
        size=fact.size,
        cited=fact in cited,
        tail_count=tail_count,
        public=fact.public,
    )


NO_REASON: Final = "There is no answer just before this to give the reason of."


def reason_of(facts: Sequence[Fact], expressions: Sequence[str]) -> str:
    """Returns sentences on how the last answer was found, in pseudonyms; NO_REASON if nothing is known of it.

    They follow the facts from what the question named to the answer, and quote the expressions that were executed.
    """
    if not facts and not expressions:
        return NO_REASON
    sentences = []
    for chain in chains(facts):
        steps = [f"by {_walked(fact.path)} to {fact.tail} ({fact.tail_concept})" for fact in chain]
        sentences.append(f"From {chain[0].head} ({chain[0].head_concept}) {', and from there '.join(steps)}.")
    worked_out = [each for each in expressions if "(" in each]
    sentences += [f"From that the answer was worked out: {each}." for each in worked_out]
    return " ".join(sentences) or f"{', '.join(expressions)} was named in the question."


def _walked(path: Sequence[str]) -> str:
    """Returns a path in words, with labels in quotes, for example `"treated by" backwards`."""
    return " and then ".join(
        f'"{step.replace("^", "").replace("|", " / ")}"' + (" backwards" if step.startswith("^") else "")
        for step in path
    )


class AnswerKeeper:
    """The last stage: saves the conversation with the reason of its newest answer, and states that reason if asked."""

    def __init__(
        self,
        conversations: ConversationStore,
        cases: CaseMemory | None = None,
        names: NamesBudget | None = None,
        today: Today = utc_today,
    ) -> None:
        self._conversations, self._cases, self._names, self._today = conversations, cases, names, today

    def keep(self, run: QuestionRun) -> None:
        """Saves the conversation with the reason of this answer and what a rating of it needs. Raises
        ConversationBusyError."""
        draft, reason = run.found.draft, run.conversation.reason
        cited = cited_by(run.conversation.table, run.found, run.ended.conclusion)
        reason.facts[:] = [to_wire_fact(fact, cited) for fact in cited]
        reason.expressions[:] = draft.expressions if draft and run.ended.conclusion else ()
        reason.items[:] = run.ended.conclusion.items if run.ended.conclusion else ()
        reason.confidence = confidence_in(run)
        run.conversation.offer({each.question: each.expression for each in run.ended.asks_back})
        _note_named(run, self._today())
        leaned = _keep_ratable(run, self._cases) if self._cases and run.memory_turn is None else ()
        self._conversations.save(run.conversation, run.graph.blind.schema)
        if self._cases and leaned:
            self._cases.store.count_use(run.tenant, run.request.graph, leaned)

    def explain(self, run: QuestionRun) -> ChatAnswer:
        """Returns a reply that states the reason of the last answer, as the conversation holds it.

        No reasoner is asked.
        Raises ConversationBusyError, NamesUsedUpError.
        """
        if self._cases:
            _keep_ratable(run, self._cases)
        self._conversations.save(run.conversation, run.graph.blind.schema)
        return _explanation(run, self._names)


def _note_named(run: QuestionRun, today: dt.date) -> None:
    """Notes in the run's conversation which things of the graph its question named; memory turns are left out."""
    if run.memory_turn is None and run.graph.policy.memory:
        topics = (each for each in run.read.dialogue.topics if each.newest)
        mids = [int(each.mids[0]) for each in topics if len(each.mids) == 1 and each.value_kind is None]
        run.conversation.note_named(today, run.request.options.person, mids)


def _keep_ratable(run: QuestionRun, cases: CaseMemory) -> Sequence[str]:
    """Stores in the conversation what a rating of this answer needs; returns the ids of the cases that it followed."""
    draft, question = run.found.draft, run.read.dialogue.question
    is_answered = draft is not None and run.ended.conclusion is not None
    evidence, things = run.found.evidence, run.found.things
    paths = paths_of_answer(draft.expressions, evidence, things) if draft and is_answered else ()
    leaned = [case.id for case in cases_behind(run)]
    topics = tuple(topic.pseudonym for topic in run.read.dialogue.topics if topic.newest or run.reading.needs_context)
    is_whole = draft is not None and len(paths) == 1 and is_one_path(draft.expressions)
    content = cases.content_of(question, paths, is_whole, run.request.options.person)
    answer = RatableAnswer(content, topics, bool(leaned), confidence=confidence_in(run) or 0.0)
    run.conversation.may_be_rated(run.answer_id, answer)
    return leaned


def _explanation(run: QuestionRun, budget: NamesBudget | None) -> ChatAnswer:
    reason = run.conversation.reason
    shown = {relation.label for relation in run.graph.blind.schema.relations}
    steps = (part for fact in reason.facts for step in fact.path for part in step.replace("^", "").split("|"))
    if not shown.issuperset(steps):
        reason = Reason()  # The caller may not see a relation of the reason any more, so none is given.
    table, text = run.conversation.table, reason_of(reason.facts, reason.expressions)
    executor = AnswerExecutor(run.graph, table, NAMES_IN_A_REASON)
    if text != NO_REASON:  # The answer again, then how it was found.
        told = next((turn.text for turn in reversed(run.read.dialogue.turns) if turn.role == "assistant"), "")
        text = _restorable(told if text in told else f"{told} {text}", executor, table)
    names = _names_told(text, executor, table)
    names |= run.executor.names_of([item.pseudonym for item in reason.items if item.pseudonym in names])
    answer = ChatAnswer(
        id=run.answer_id,
        conversation=run.conversation.id,
        graph=run.request.graph,
        message=Message(role="assistant", content=text),
        answered=text != NO_REASON,
        entities=[item for item in reason.items if item.pseudonym in names],
        evidence=reason.facts,
        grounded=True,
        confidence=reason.confidence,
        ambiguous=[],
        usage=Usage(),
    )
    if run.request.public_key is None:
        return answer
    names |= names_of_masks(run.graph, [text, *(step for fact in reason.facts for step in fact.path)])
    return _sealed(run, *with_kinds_to_restore(answer, names, run.graph), budget)


def _restorable(text: str, executor: AnswerExecutor, table: PseudonymTable) -> str:
    """Returns those sentences of `text` whose words stand for something still; counts in remarks don't."""
    known = _names_told(text, executor, table).keys()
    return " ".join(each for each in re.split(r"(?<=[.?!]) ", text) if known >= {*table.known(each)})


def _names_told(text: str, executor: AnswerExecutor, table: PseudonymTable) -> dict[str, Names]:
    words = table.known(text)
    return executor.names_of(words) | executor.worked_out(words)


def sealed_answer(run: QuestionRun, budget: NamesBudget | None = None) -> ChatAnswer:
    """Returns the answer without its cost, with names encrypted if the request has a public key.

    May issue new pseudonyms, for facts that tell ambiguous choices apart. Raises NamesUsedUpError.
    """
    conclusion, found = run.ended.conclusion, run.found
    hints = [hints_for(each.choices, run.graph.blind, run.conversation.table) for each in run.read.ambiguous]
    choices = zip(run.read.ambiguous, hints, strict=True)
    read = replace(run.read, ambiguous=tuple(each.model_copy(update={"hints": told}) for each, told in choices))
    cited, behind = cited_by(run.conversation.table, found, conclusion), cases_behind(run)
    leans = [LEANS_ON_APPROVED if all(case.approved_at for case in behind) else LEANS_ON_RATING] if behind else []
    answer = ChatAnswer(
        id=run.answer_id,
        conversation=run.conversation.id,
        graph=run.request.graph,
        message=Message(role="assistant", content=run.ended.sentence),
        answered=conclusion is not None,
        entities=list(conclusion.items) if conclusion else [],
        evidence=[to_wire_fact(fact, cited, count_of(run, fact.end)) for fact in found.evidence],
        grounded=run.ended.grounded,
        confidence=confidence_in(run),
        ambiguous=list(read.ambiguous),
        inexact=list(read.inexact),
        notes=[*read.notes, *run.remarks, *leans],
        worked_out=worked_out(run),
        understood=understood(run),
        did_you_mean=[each.question for each in run.ended.asks_back],
        looked_for=list(run.found.demanded),
        turn=run.turn,
        strategy=run.strategy,
        sentences=list(run.ended.sentences),
        removed=run.ended.removed,
        suggestions=[each.text for each in run.suggestions],
        usage=Usage(),
    )
    about = _asked_about(run) if answer.answered else ()
    if run.request.public_key is None:
        return _sealed(run, answer, {}, budget, about)
    answer, names = with_kinds_to_restore(answer, _names(run, read, answer), run.graph)
    return _sealed(run, answer, names, budget, about)


def _sealed(
    run: QuestionRun,
    answer: ChatAnswer,
    names: Mapping[str, Names],
    budget: NamesBudget | None,
    about: Sequence[int] = (),
) -> ChatAnswer:
    """Returns the answer with its names sealed, after they were counted and recorded.

    `about`: MIDs of what the question named; the record has them too, as an answer may tell of a thing and restore no
    name ("yes").
    """
    if budget is not None:
        told = run.request.options
        facts = told_by([*answer.evidence, *(hint for each in answer.ambiguous for hint in each.hints)])
        facts += rows_told(run.found.draft, answer.entities)
        table = run.conversation.table
        restored = RestoredNames(names, answer.id, told.person, told.reason, table, about, facts)
        budget.take(run.graph, run.caller, restored)
    return answer if run.request.public_key is None else seal_names(run.request.public_key, answer, names)


def rows_told(draft: Draft | None, items: Sequence[Item]) -> list[ToldFact]:
    """Returns the facts of an answer that lists what goes with which, or the cells of rows, which no evidence tells.

    `items`: the results of the draft's expressions, in order. A row has no name: what it tells is told of the first
    thing in it, or of its first cell. Empty for other answers.
    """
    if draft is None or len(draft.expressions) < 2:
        return []
    words = [item.pseudonym for item in items]
    if draft.things and draft.expressions[::2] == draft.things:
        labels = [_label_of(told) for told in draft.expressions[1::2]]
        return [(one, (label,), other) for one, other, label in zip(words[::2], words[1::2], labels, strict=False)]
    rows: dict[str, list[tuple[str, Item]]] = {}
    for told, item in zip(draft.expressions, items, strict=False):
        if told.startswith("reach("):
            rows.setdefault(told.rpartition(', "')[0], []).append((_label_of(told), item))
    found: list[ToldFact] = []
    for cells in rows.values():
        head = next((item for _, item in cells if item.kind in ("entity", "set")), cells[0][1])
        found += [(head.pseudonym, (label,), item.pseudonym) for label, item in cells if item is not head]
    return found


def _label_of(told: str) -> str:
    return told.rsplit('"', 2)[1]


def _asked_about(run: QuestionRun) -> list[int]:
    """Returns the MIDs of the things that the question names, apart from sets of more than MAX_ASKED_ABOUT things."""
    topics = (each for each in run.read.dialogue.topics if each.newest or run.reading.needs_context)
    few = (each.mids.tolist() for each in topics if each.value_kind is None and len(each.mids) <= MAX_ASKED_ABOUT)
    return [mid for mids in few for mid in mids]


def _names(run: QuestionRun, read: Anonymised, answer: ChatAnswer) -> dict[str, Names]:
    """Returns the names in this answer's text, cited evidence, choices and understood things, and no others."""
    table, conclusion = run.conversation.table, run.ended.conclusion
    cited = cited_by(table, run.found, conclusion)
    words = [word for ambiguity in read.ambiguous for word in (ambiguity.pseudonym, *ambiguity.choices)]
    words += [hint.tail for ambiguity in read.ambiguous for hint in ambiguity.hints]
    words += [reading.pseudonym for reading in read.inexact]
    words += table.known(" ".join((*read.notes, run.ended.sentence, *answer.suggestions)))
    words += [*(each.pseudonym for each in answer.understood), *run.found.demanded]
    words += pseudonyms_cited(table, run.found, conclusion)
    words += [word for fact in cited for word in (fact.start, fact.end)]
    own = conclusion.names if conclusion else {}
    hinted = (step for ambiguity in read.ambiguous for hint in ambiguity.hints for step in hint.path)
    steps = (step for fact in cited for step in fact.path)
    masks = names_of_masks(run.graph, (answer.message.content, *answer.worked_out, *hinted, *steps))
    return {**run.executor.names_of(dict.fromkeys(word for word in words if word not in own)), **own, **masks}


def with_usage(answer: ChatAnswer, run: QuestionRun, milliseconds: dict[str, float], currency: str) -> ChatAnswer:
    """Returns `answer` with its cost: calls, tokens, times and price. The capsule is not bound to these."""
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
        attachment=run.ended.attachment,
        left_out=list(run.found.notes),
        milliseconds=stages,
    )
    return answer.model_copy(update={"usage": usage})
