"""ChatService: the main path of a question, from names to pseudonyms and back to a sealed answer."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from app.accounts.api_keys import Caller
from app.accounts.quotas import UNLIMITED, Budgets
from app.chat.answers.grounding import NotGroundedError, ground
from app.chat.citations import explanation, keep_reason
from app.chat.conversations import ConversationStore
from app.chat.dialogue.completion import Completed, DialogueCompleter, PseudonymMeanings
from app.chat.dialogue.explanation_requests import asks_why
from app.chat.dialogue.follow_ups import needs_context
from app.chat.reply import ConclusionResult, QuestionContext, sealed_answer, usage_of
from app.chat.stages import OnStage, StageTimer, tell_nobody
from app.egress.disclosure_control import IN_THE_HOUSE, Disclosure, MeteredReasoner
from app.egress.guard import Guard, StaticSegments
from app.egress.guarded_reasoner import GuardedReasoner, RequestContext
from app.egress.ledger.ledger import Ledger
from app.egress.profile import BelowAnonymityThresholdError, Profile, StrategyNotOfferedError
from app.egress.wire_pseudonyms import PseudonymSubstitution
from app.llm.reasoner import Reasoner
from app.privacy.anonymiser import Anonymised, Anonymiser
from app.privacy.name_recogniser import Recogniser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.words.lexicon import Lexicon, schema_words
from app.strategies.base import Draft, Limits, RetrievalResult, Strategy, StrategyInput
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import ChatAnswer, ChatRequest
from kg_store.catalog import Catalog
from kg_store.errors import ExpressionError
from kg_store.graph.cached_graph import RememberedGraph
from kg_store.graph.masked_relations import masks_of
from kg_store.names.linker import has_capitals
from kg_store.terms import NO_MIDS, Mids

NOT_IN_GRAPH = "The graph does not hold an answer to that."
OVER_BUDGET = "No answer was found within the tokens that one question may take; the graph may hold one."
WITHHELD = "The model was not asked: too few things of the graph fit what it would have been shown."
ODD_COUNTS = "The model's endpoint reported counts of tokens that can not be right, so they were counted here."
NOT_GROUNDED = "An answer was proposed that could not be traced to the graph, so it is not shown."


DEFAULT_STRATEGY = "sets"
OPEN_ALONE = frozenset({"arog"})
"""Strategies whose prompts tell of each thing what it has and what it lacks."""

RemarkOn = Callable[[str], str | None]
"""What the asker should know of a question's wording, in words of our own; it is asked without linked names."""


class ChatService:
    """Answers questions over the private graphs of all tenants, through one guarded reasoner."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        ledger: Ledger,
        reasoner: Reasoner,
        strategies: Mapping[str, Strategy],
        statics: StaticSegments,
        remark_on: RemarkOn = lambda _question: None,
        currency: str = "",
        budgets: Budgets = UNLIMITED,
        recogniser: Recogniser | None = None,
        profile: Profile = Profile.OPEN,
        disclosure: Disclosure = IN_THE_HOUSE,
    ) -> None:
        self._catalog, self._conversations, self._ledger = catalog, conversations, ledger
        self._reasoner, self._strategies, self._statics = reasoner, strategies, statics
        self._remark_on, self._currency, self._budgets = remark_on, currency, budgets
        self._recogniser = recogniser
        self.profile, self.disclosure = profile, disclosure

    @property
    def strategies(self) -> list[str]:
        """Those that are offered, the default one first."""
        offered = [name for name in self._strategies if self.profile.is_open or name not in OPEN_ALONE]
        return sorted(offered, key=lambda name: name != DEFAULT_STRATEGY)

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = tell_nobody) -> ChatAnswer:
        """One question of a dialogue. Raises UnknownGraph, UnknownConversation, ConversationBusy, BadPublicKey,
        StrategyNotOfferedError, Blocked, LedgerUnavailable and BudgetUsedUp (nothing more was sent), ReasonerError."""
        watch, answer_id = StageTimer(on_stage), secrets.token_urlsafe(12)
        with watch.stage("opening"):
            # What a role sees is made when it is first asked for, and that may take a while.
            opens = asyncio.to_thread if caller.role_in(request.graph) else _at_once
            asked = await opens(self._open, caller, request)
        with watch.stage("linking"):
            completed = await asyncio.to_thread(_read, asked, self._remark_on, self._recogniser)
            needs = needs_context(completed.read.dialogue)
            completed = _in_thread(completed, answer_id, asked.conversation.table, self.profile.is_open or needs)
        if asks_why(completed.read.dialogue.question):
            return self._explained(answer_id, asked)
        async with self._guarded(caller, answer_id, asked) as reasoner:
            metered = self._metered(caller, asked, reasoner)
            for read in completed.read.readings():
                with watch.stage("finding"):
                    inquiry = _inquiry(asked, read, metered, needs_context(read.dialogue), self.profile, on_stage)
                    finding = _known(completed) or await self._found(request.strategy, inquiry)
                with watch.stage("concluding"):
                    outcome = _conclude(asked, read, finding)
                if outcome.conclusion is not None or finding.over_budget or finding.withheld:
                    break
        counted_here = (ODD_COUNTS,) if reasoner.spent.odd_counts else ()
        finding = replace(finding, notes=(*finding.notes, *metered.notes, *counted_here))
        with watch.stage("sealing"):
            sealed = sealed_answer(answer_id, asked, read, finding, outcome)
        with watch.stage("keeping"):
            keep_reason(asked.conversation, finding, outcome.conclusion)
            self._conversations.save(asked.conversation, asked.graph.blind.schema)
        usage = usage_of(reasoner.spent, finding, watch, self._currency, metered)
        return sealed.model_copy(update={"usage": usage})

    def _metered(self, caller: Caller, asked: QuestionContext, reasoner: GuardedReasoner) -> MeteredReasoner:
        budgets = self._budgets.reveals
        reveals = budgets.of(caller.tenant, asked.conversation.revealed) if budgets else None
        return self.disclosure.around(reasoner, asked.graph.blind, self.profile, reveals)

    async def _found(self, strategy: str, inquiry: StrategyInput) -> RetrievalResult:
        try:
            return await self._strategies[strategy].find(inquiry)
        except BelowAnonymityThresholdError:
            return RetrievalResult(None, (), (), 0, withheld=True)

    def _explained(self, answer_id: str, asked: QuestionContext) -> ChatAnswer:
        """What the last answer rests on, from what the conversation kept: nothing is asked of anybody."""
        self._conversations.save(asked.conversation, asked.graph.blind.schema)
        return explanation(answer_id, asked.request, asked.graph, asked.conversation)

    def _open(self, caller: Caller, request: ChatRequest) -> QuestionContext:
        if request.strategy in OPEN_ALONE and not self.profile.is_open:
            raise StrategyNotOfferedError
        if request.public_key is not None:
            parse_public_key(request.public_key)  # Before any work: a bad key must cost no model call.
        graph = self._catalog.open_as(caller.tenant, request.graph, caller.role_in(request.graph))
        conversation = self._conversations.open(
            caller.tenant, caller.key_id, request.graph, request.conversation, graph.blind.schema
        )
        names = self._catalog.name_words(caller.tenant)
        lexicon = Lexicon(graph.public, names, schema_words(graph.blind.schema))
        return QuestionContext(request, graph, conversation, lexicon)

    def _guarded(self, caller: Caller, answer_id: str, asked: QuestionContext) -> GuardedReasoner:
        return GuardedReasoner(
            inner=self._reasoner,
            guard=Guard(asked.graph.names, self._statics, asked.lexicon),
            ledger=self._ledger,
            errand=RequestContext(caller.tenant, caller.key_id, answer_id, asked.conversation.id),
            veil=lambda: _veil(asked, answer_id),
            most_tokens=self._budgets.question,
            account=self._budgets.tenants.account(caller.tenant) if self._budgets.tenants else None,
        )


async def _at_once(
    call: Callable[[Caller, ChatRequest], QuestionContext], caller: Caller, request: ChatRequest
) -> QuestionContext:
    return call(caller, request)


def _read(asked: QuestionContext, remark_on: RemarkOn, recogniser: Recogniser | None) -> Completed:
    """The dialogue in pseudonyms, with its last question in full, and a remark on its language."""
    graph, table = asked.graph, asked.conversation.table
    masks = masks_of(graph.blind.schema)
    anonymiser = Anonymiser(
        graph.linker, graph.names, asked.lexicon, masks=masks, holds=graph.holds, recogniser=recogniser
    )
    read = anonymiser.anonymise(asked.request.messages, table, lambda word: table.resolve(word, graph.blind)[0])
    if remark := remark_on(_as_worded(read.dialogue.question, table)):
        read = replace(read, notes=(*read.notes, remark))
    return DialogueCompleter(table, PseudonymMeanings(graph, table, asked.concluder)).complete(read)


def _in_thread(completed: Completed, answer_id: str, table: PseudonymTable, leans: bool) -> Completed:
    """Without the turns that the question can do without; a profile that is open keeps them all."""
    dialogue = completed.read.dialogue
    earlier = table.join_thread(answer_id, leans=leans)
    return replace(completed, read=replace(completed.read, dialogue=dialogue.with_earlier(earlier)))


def _veil(asked: QuestionContext, answer_id: str) -> PseudonymSubstitution:
    table = asked.conversation.table
    return PseudonymSubstitution(table.sent_words(asked.graph.blind.schema, answer_id), table.issued)


def _as_worded(question: str, table: PseudonymTable) -> str:
    """The question with the words that were replaced since the lexicon does not have them: they tell its language.
    It stays in the house."""
    for word in table.known(question):
        meaning = table.meaning(word)
        begins = question.lstrip("¿¡ ").startswith(word)
        if meaning is not None and meaning.literal and (begins or not has_capitals(meaning.literal)):
            question = question.replace(word, meaning.literal)
    return question


def _known(completed: Completed) -> RetrievalResult | None:
    """What needs no search: the one thing of an earlier answer that the question points at, or that there is none."""
    if completed.lost:
        return RetrievalResult(None, (), (), 0)
    pointed = completed.pointed
    return RetrievalResult(Draft((pointed,), "That is {1}."), (pointed,), (), 0) if pointed else None


def _inquiry(
    asked: QuestionContext,
    read: Anonymised,
    reasoner: MeteredReasoner,
    needs: bool,
    profile: Profile,
    on_stage: OnStage,
) -> StrategyInput:
    options = asked.request.options
    return StrategyInput(
        dialogue=read.dialogue,
        graph=RememberedGraph(asked.graph.blind),
        pseudonyms=asked.conversation.table,
        reasoner=reasoner,
        limits=Limits(options.width, options.depth, options.relations_per_concept),
        needs_context=needs,
        profile=profile,
        wider=reasoner.wider,
        on_round=lambda number: on_stage("round", number),
    )


def _conclude(asked: QuestionContext, read: Anonymised, finding: RetrievalResult) -> ConclusionResult:
    if finding.draft is None:
        sentence = OVER_BUDGET if finding.over_budget else WITHHELD if finding.withheld else NOT_IN_GRAPH
        return ConclusionResult(None, True, sentence)
    allowed = {*finding.things, *(end for fact in finding.evidence for end in (fact.start, fact.end))}
    try:
        grounded = ground(finding.draft.text, finding.draft.expressions, allowed, asked.conversation.table)
        conclusion = asked.concluder.conclude(grounded, _named_in(read))
    except (NotGroundedError, ExpressionError):
        return ConclusionResult(None, False, NOT_GROUNDED)
    if conclusion is None:
        return ConclusionResult(None, True, NOT_IN_GRAPH)
    return ConclusionResult(conclusion, True, conclusion.text)


def _named_in(read: Anonymised) -> Mids:
    """The single things that the question names itself; a set of an earlier answer may well be asked for again."""
    named = [topic.mids for topic in read.dialogue.topics if topic.newest and len(topic.mids) == 1]
    return np.unique(np.concatenate(named)) if named else NO_MIDS
