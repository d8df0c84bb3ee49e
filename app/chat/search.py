"""The third stage: a strategy searches the graph, reading by reading; its draft is checked and executed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from app.chat.answers.execution import Conclusion
from app.chat.answers.grounding import NotGroundedError, ground
from app.chat.dialogue.did_you_mean import did_you_mean
from app.chat.dialogue.small_talk import invitation
from app.chat.question_run import (
    AUTO,
    DEFAULT_STRATEGY,
    NOT_FOUND,
    OPEN_PROFILE_STRATEGIES,
    ChatOptions,
    ConclusionResult,
    QuestionReading,
    QuestionRun,
    ReadBack,
    StageTimer,
)
from app.chat.refusals import refusal
from app.chat.replies import checked_reply
from app.chat.second_opinion import is_sure, remarked, weighed, why_not
from app.egress.budgets import BudgetUsedUpError
from app.egress.disclosure import BelowAnonymityThresholdError, Profile
from app.egress.guard import Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, InHouseRunner, RequestContext, pseudonyms_of_answer
from app.egress.ledger.ledger import RequestLog
from app.llm.reasoner import Reasoner, ReasonerError, TaskRunner
from app.privacy.anonymiser import Anonymised
from app.strategies.base import Draft, Limits, RetrievalResult, Strategy, StrategyInput
from app.telemetry.logs import event_log
from client_sdk.protocol import Item
from kg_store.errors import ExpressionError
from kg_store.graph.blind_graph import RememberedGraph
from kg_store.graph.traversal import kinds_of
from kg_store.storage.vault import NO_NAME
from kg_store.terms import NO_MIDS, Mids, Schema, ValueKind, cached_by_version

NAMELESS: Final = "What was found has no name of its own: please ask for what it belongs to, or how many there are."
NOT_GROUNDED: Final = "An answer was proposed that could not be traced to the graph, so it is not shown."


def conclude(run: QuestionRun, read_back: ReadBack | None) -> QuestionRun:
    """Returns the run with its end, from what was found. `read_back`: for replies that a model worded."""
    draft = run.found.draft
    return replace(run, ended=_without_draft(run) if draft is None else _executed(run, draft, read_back))


def _without_draft(run: QuestionRun) -> ConclusionResult:
    said, asks_back = run.found.said, run.found.asks_back
    if said:
        return ConclusionResult(Conclusion(said, (), {}), sentence=said)
    # An ambiguous name has to be resolved first.
    if asks_back and not run.read.ambiguous:
        return ConclusionResult(sentence=did_you_mean(asks_back), asks_back=asks_back)
    return ConclusionResult(sentence=refusal(run))


def _executed(run: QuestionRun, draft: Draft, read_back: ReadBack | None) -> ConclusionResult:
    if run.found.reply:
        return checked_reply(run, read_back)
    found, table = run.found, run.conversation.table
    allowed = {*found.things, *(end for fact in found.evidence for end in (fact.start, fact.end))}
    try:
        grounded = ground(draft.text, draft.expressions, allowed, table)
        conclusion = run.executor.conclude(grounded, _named_in(run.read), found.in_order)
    except (NotGroundedError, ExpressionError):
        return ConclusionResult(grounded=False, sentence=NOT_GROUNDED)
    if conclusion is None:
        return ConclusionResult(sentence=refusal(run))
    if _is_nameless(conclusion):
        return ConclusionResult(sentence=NAMELESS)
    return ConclusionResult(conclusion, sentence=conclusion.text)


def _is_nameless(conclusion: Conclusion) -> bool:
    """True if everything found only joins other things and has no name, as an admission joins a patient and a ward."""
    names = [name for item in conclusion.items if item.kind in ("set", "entity") for name in _names(conclusion, item)]
    return bool(names) and set(names) == {NO_NAME} and all(item.kind != "value" for item in conclusion.items)


def _names(conclusion: Conclusion, item: Item) -> list[str]:
    found = conclusion.names.get(item.pseudonym)
    return found.names if found else []


def _named_in(read: Anonymised) -> Mids:
    """The single things that the question itself names; sets of earlier answers may be asked for again."""
    named = [topic.mids for topic in read.dialogue.topics if topic.newest and len(topic.mids) == 1]
    return np.unique(np.concatenate(named)) if named else NO_MIDS


def _with_invitation(found: RetrievalResult, run: QuestionRun) -> RetrievalResult:
    """Adds what can be asked to a turn that does not ask the graph and got no reply."""
    is_lost = found.draft is None and not (found.said or found.over_budget or found.contradicted or found.asks_back)
    if not is_lost or run.turn not in ("talk", "neither") or run.request.strategy != AUTO:
        return found
    return replace(found, said=f"{NOTHING_TO_SAY} {invitation(kinds_of(run.graph.blind.schema))}")


def in_order(readings: Sequence[QuestionReading], *, is_model: bool) -> list[QuestionReading]:
    """Returns the readings with those by common nouns first.

    A model gets none of these: beside the plain question they would reveal what a pseudonym stands for.
    """
    by_kinds = [] if is_model else [each for each in readings if each.by_kinds]
    return [*by_kinds, *(each for each in readings if not each.by_kinds)]


log = event_log("search")
NOTHING_TO_SAY: Final = "I can only talk about what this graph holds."
ODD_COUNTS: Final = "The model's endpoint reported counts of tokens that can not be right, so they were counted here."


Strategies = Mapping[str, Strategy]
"""Strategies by name."""


@cached_by_version
def _labels(schema: Schema) -> frozenset[str]:
    return frozenset(relation.label for relation in schema.relations)


@dataclass(frozen=True, slots=True)
class _Asker:
    """The reasoner that reads a question, and how much its prompts may show of the graph."""

    runner: TaskRunner
    profile: Profile


class GraphSearch:
    """Searches with the requested strategy, through one guarded reasoner for each question."""

    def __init__(
        self,
        reasoner: Reasoner,
        strategies: Strategies,
        statics: StaticSegments,
        ledger: RequestLog,
        options: ChatOptions,
    ) -> None:
        self._reasoner, self._strategies, self._statics = reasoner, strategies, statics
        self._ledger, self._options = ledger, options

    async def search(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Returns the run with its end. Raises BlockedError, LedgerUnavailableError, BudgetUsedUpError (no more was
        sent), ReasonerError.
        """
        own = await self._own(run, timer) if self._has_second_opinion(run) else None
        if own is not None and self._options.endpoint_use == "unsure" and is_sure(own):
            return own
        async with self._guarded(run) as reasoner:
            told = await self._asked(run, own, reasoner, timer)
        odd = (ODD_COUNTS,) if reasoner.spent.odd_counts else ()
        shown = reasoner.disclosure
        found = replace(told.found, notes=(*told.found.notes, *shown.notes, *odd))
        return replace(told, found=found, spent=reasoner.spent, anonymity=shown.fewest, withheld=shown.kept)

    def _has_second_opinion(self, run: QuestionRun) -> bool:
        is_model = self._reasoner.longest_reply > 0 and run.known is None and run.strategy == DEFAULT_STRATEGY
        return is_model and self._options.in_house is not None and self._options.endpoint_use != "alone"

    async def _asked(
        self, run: QuestionRun, own: QuestionRun | None, reasoner: GuardedReasoner, timer: StageTimer
    ) -> QuestionRun:
        """The end of the question with the model, combined with the service's own reading if there is one."""
        try:
            if own is None:
                return await self._read_in_turn(run, _Asker(reasoner, self._options.profile), timer)
            readings = [own.reading] if own.is_settled and not own.reading.by_kinds else list(run.readings)
            first = replace(run, readings=tuple(in_order(readings, is_model=True)[:1]))
            asked = await self._read_in_turn(first, _Asker(reasoner, self._options.profile), timer)
            return weighed(own, asked, is_capable=reasoner.is_capable)
        except (ReasonerError, BudgetUsedUpError) as error:
            if not (reasoner.is_model and self._options.falls_back and self._options.in_house):
                raise
            log.warning("fell_back", code=type(error).__name__, status=getattr(error, "status", None))
            return remarked(own or await self._own(run, timer), why_not(error))

    async def _own(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """The end of the question by the reasoner inside the service; nothing is sent, so prompts may
        show everything.
        """
        assert self._options.in_house is not None
        asker = _Asker(InHouseRunner(self._options.in_house), Profile.OPEN)
        strategy = DEFAULT_STRATEGY if run.strategy in OPEN_PROFILE_STRATEGIES else run.strategy
        return await self._read_in_turn(replace(run, strategy=strategy), asker, timer)

    async def _read_in_turn(self, run: QuestionRun, asker: _Asker, timer: StageTimer) -> QuestionRun:
        """Tries reading after reading until one settles the question."""
        asks_back: QuestionRun | None = None
        last = run
        for reading in in_order(run.readings, is_model=asker.runner.is_model):
            run = replace(run, reading=reading)
            run = await self._with_cases(run)
            with timer.stage("finding"):
                run = replace(run, found=run.known or await self._found(run, asker, timer))
            run = await timer.in_thread("concluding", conclude, run, self._options.read_back)
            if run.is_settled:
                return run
            asks_back = asks_back or (run if run.ended.asks_back and not reading.by_kinds else None)
            last = last if reading.by_values else run
        return asks_back or last

    async def _with_cases(self, run: QuestionRun) -> QuestionRun:
        """The run with the cases that this reading may use, limited to what the asker sees."""
        cases = self._options.cases
        if cases is None or run.known is not None:
            return run
        labels, person = _labels(run.graph.blind.schema), run.request.options.person
        asked = run.tenant, run.request.graph, run.conversation.key_id, person, labels, run.read.dialogue.question
        return replace(run, near_cases=await asyncio.to_thread(cases.near, *asked))

    async def _found(self, run: QuestionRun, asker: _Asker, timer: StageTimer) -> RetrievalResult:
        asked, runner = run.request.options, asker.runner
        guarded = runner if isinstance(runner, GuardedReasoner) else None
        inquiry = StrategyInput(
            dialogue=run.read.dialogue,
            graph=RememberedGraph(run.graph.blind, None if runner.is_model else run.graph.in_house),
            pseudonyms=run.conversation.table,
            reasoner=runner,
            limits=Limits(asked.width, asked.depth, asked.relations_per_concept),
            needs_context=run.reading.needs_context,
            language=run.reader,
            on_round=timer.begin_round,
            profile=asker.profile,
            wider=guarded.disclosure.wider if guarded else {},
            truth_of=run.executor.truth_of,
            result_of=run.executor.result_of,
            turn=run.turn,
            may_leave=guarded.may_leave if guarded else lambda _text: True,
            today=lambda: run.conversation.table.of_literal(str(self._options.today()), ValueKind.DATE),
            cases=run.near_cases.gains,
            typed={} if runner.is_model else run.read.typed,
        )
        try:
            found = await self._strategies[run.strategy].find(inquiry)
        except BelowAnonymityThresholdError:
            return replace(NOT_FOUND, withheld=True)
        return _with_invitation(found, run)

    def _guarded(self, run: QuestionRun) -> GuardedReasoner:
        conversation, budgets, tenant = run.conversation, self._options.budgets, run.tenant
        reveals = budgets.reveals.of(tenant, conversation.revealed) if budgets.reveals else None
        return GuardedReasoner(
            inner=self._reasoner,
            guard=Guard(run.graph.names, self._statics, run.lexicon),
            ledger=self._ledger,
            errand=RequestContext(tenant, conversation.key_id, run.answer_id, conversation.id),
            pseudonyms=pseudonyms_of_answer(conversation.table, run.graph.blind.schema, run.answer_id),
            disclosure=self._options.disclosure.of_question(run.graph.blind, self._options.profile, reveals),
            most_tokens=budgets.question,
            account=budgets.tenants.account(tenant) if budgets.tenants else None,
        )
