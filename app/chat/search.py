"""The third stage: a strategy searches the graph, reading after reading, and what it drafts is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from app.chat.conclusion import conclude
from app.chat.options import ChatOptions
from app.chat.question_run import NOT_FOUND, QuestionRun
from app.chat.stages import StageTimer
from app.egress.guard import Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, RequestContext
from app.egress.ledger.ledger import Ledger
from app.egress.profile import BelowAnonymityThresholdError
from app.egress.wire_pseudonyms import AnswerPseudonyms
from app.llm.reasoner import Reasoner
from app.strategies.base import Limits, RetrievalResult, Strategy, StrategyInput
from kg_store.graph.cached_graph import RememberedGraph

ODD_COUNTS: Final = "The model's endpoint reported counts of tokens that can not be right, so they were counted here."


Strategies = Mapping[str, Strategy]
"""Strategies by their names."""


class GraphSearch:
    """Searches by the strategy that was asked for, through one guarded reasoner for each question."""

    def __init__(
        self,
        reasoner: Reasoner,
        strategies: Strategies,
        statics: StaticSegments,
        ledger: Ledger,
        options: ChatOptions,
    ) -> None:
        self._reasoner, self._strategies, self._statics = reasoner, strategies, statics
        self._ledger, self._options = ledger, options

    async def search(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Raises BlockedError, LedgerUnavailableError, BudgetUsedUpError (nothing more was sent), ReasonerError."""
        async with self._guarded(run) as reasoner:
            for reading in run.readings:
                run = replace(run, reading=reading)
                with timer.stage("finding"):
                    run = replace(run, found=run.known or await self._found(run, reasoner, timer))
                run = await timer.in_thread("concluding", conclude, run)
                if run.is_settled:
                    break
        odd = (ODD_COUNTS,) if reasoner.spent.odd_counts else ()
        told = reasoner.disclosure
        found = replace(run.found, notes=(*run.found.notes, *told.notes, *odd))
        return replace(run, found=found, spent=reasoner.spent, anonymity=told.fewest, withheld=told.kept)

    async def _found(self, run: QuestionRun, reasoner: GuardedReasoner, timer: StageTimer) -> RetrievalResult:
        asked = run.request.options
        inquiry = StrategyInput(
            dialogue=run.read.dialogue,
            graph=RememberedGraph(run.graph.blind),
            pseudonyms=run.conversation.table,
            reasoner=reasoner,
            limits=Limits(asked.width, asked.depth, asked.relations_per_concept),
            needs_context=run.reading.needs_context,
            on_round=timer.begin_round,
            profile=self._options.profile,
            wider=reasoner.disclosure.wider,
        )
        try:
            return await self._strategies[run.request.strategy].find(inquiry)
        except BelowAnonymityThresholdError:
            return replace(NOT_FOUND, withheld=True)

    def _guarded(self, run: QuestionRun) -> GuardedReasoner:
        conversation, budgets, tenant = run.conversation, self._options.budgets, run.tenant
        reveals = budgets.reveals.of(tenant, conversation.revealed) if budgets.reveals else None
        return GuardedReasoner(
            inner=self._reasoner,
            guard=Guard(run.graph.names, self._statics, run.lexicon),
            ledger=self._ledger,
            errand=RequestContext(tenant, conversation.key_id, run.answer_id, conversation.id),
            pseudonyms=AnswerPseudonyms(conversation.table, run.graph.blind.schema, run.answer_id),
            disclosure=self._options.disclosure.of_question(run.graph.blind, self._options.profile, reveals),
            most_tokens=budgets.question,
            account=budgets.tenants.account(tenant) if budgets.tenants else None,
        )
