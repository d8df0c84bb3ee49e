"""Defines ChatService, which runs the stages of one question: read, search, conclude, encrypt, save."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from app.accounts.api_keys import Caller
from app.chat.conversations import ConversationStore
from app.chat.execution import Conclusion
from app.chat.fact_memory import FactMemory
from app.chat.question_run import (
    DEFAULT_STRATEGY,
    ChatOptions,
    ConclusionResult,
    OnStage,
    QuestionRun,
    StageTimer,
    no_progress,
    nothing_next,
)
from app.chat.question_thread import in_one_thread, in_service_loop, told_in_loop
from app.chat.reading import QuestionOpener, QuestionReader
from app.chat.reply import AnswerKeeper, sealed_answer, with_usage
from app.chat.search import GraphSearch, Strategies, goes_on_from, joined
from app.chat.talk_memory import TalkMemory
from app.chat.turns import with_questions
from app.chat.understanding import with_nearest
from app.egress.guard import StaticSegments
from app.egress.ledger.ledger import RequestLog
from app.language.protocol import Language
from app.llm.reasoner import Reasoner
from client_sdk.protocol import MAX_MESSAGES, ChatAnswer, ChatRequest, Message
from kg_store.catalog import Catalog

NO_MEMORY: Final = "Nothing is remembered of this graph: its owner has turned that off."


class ChatService:
    """Answers questions about the private graphs of all tenants."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        ledger: RequestLog,
        reasoner: Reasoner,
        language: Language,
        strategies: Strategies,
        statics: StaticSegments,
        options: ChatOptions = ChatOptions(),  # noqa: B008  # frozen
    ) -> None:
        self._parts = (catalog, conversations, ledger, reasoner, language, strategies, statics)
        self.strategies = options.offered(strategies)
        self.options = options
        self._opener = QuestionOpener(catalog, conversations, language, options)
        self._search = GraphSearch(catalog, reasoner, strategies, statics, ledger, options)
        self._is_in_house = self._search.is_in_house
        self._reader = QuestionReader(options, is_in_house=self._is_in_house)
        self._memory = FactMemory(options.facts, options.today, options.likeness) if options.facts else None
        self._talk_memory = TalkMemory(conversations, options.today)
        self._keeper = AnswerKeeper(conversations, options.cases, options.names, options.today)

    def with_options(self, options: ChatOptions, log: RequestLog | None = None) -> ChatService:
        """Returns a service with other options over the same graphs and conversations; `log` replaces the ledger."""
        catalog, conversations, ledger, reasoner, language, strategies, statics = self._parts
        log = log or ledger
        return ChatService(catalog, conversations, log, reasoner, language, strategies, statics, options)

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = no_progress) -> ChatAnswer:
        """Answers one question of a dialogue.

        Raises UnknownGraphError, UnknownConversationError, ConversationBusyError, BadPublicKeyError,
        StrategyNotOfferedError, NotPublicError, NamesUsedUpError, and the errors of GraphSearch.search.
        """
        timer = StageTimer(on_stage if on_stage is no_progress else told_in_loop(on_stage))
        return await in_one_thread(partial(self._answered, caller, request, timer))

    async def _answered(self, caller: Caller, request: ChatRequest, timer: StageTimer) -> ChatAnswer:
        run = await timer.in_thread("opening", self._opener.open, caller, request)
        run = await self.concluded(run, timer)
        if run.asks_why:
            return await asyncio.to_thread(self._keeper.explain, run)
        run = await asyncio.to_thread(self._with_stated, run)
        run = await self._with_next(await self._with_help(run), timer)
        answer = await timer.in_thread("sealing", sealed_answer, run, self.options.names)
        await timer.in_thread("keeping", self._keeper.keep, run)
        return with_usage(answer, run, timer.milliseconds(), self.options.currency)

    async def concluded(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Reads the question of an opened run and searches for its answer, without saving anything.

        Raises the errors of GraphSearch.search.
        """
        run = await timer.in_thread("linking", self._reader.read, run)
        if run.asks_why:
            return run
        if run.memory_turn is not None:
            return await self._remembered(run, timer)
        run = await self._with_choice(run, timer)
        return await self._answered_in_parts(run, timer) or await self._search.search(run, timer)

    def _with_stated(self, run: QuestionRun) -> QuestionRun:
        """Returns the run with a sentence on what its asker told beside the answer or instead of it, if they did."""
        facts = self.options.facts
        if self._memory is None or facts is None or run.memory_turn is not None or not run.graph.policy.memory:
            return run
        if facts.is_empty(run.fact_owner):
            return run
        return self._memory.with_stated(run)

    async def _remembered(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Returns the run with the reply to a turn that tells, recalls or forgets a fact; no model is asked."""
        if not run.graph.policy.memory:
            return await timer.in_thread("finding", _without_memory, run)
        if run.memory_turn is not None and run.memory_turn.kind == "talk":
            return await timer.in_thread("finding", self._talk_memory.replied, run)
        assert self._memory is not None  # The reader finds such turns only if there is a memory.  # nosec B101

        async def ask(question: str) -> QuestionRun:
            asked = await self._instead(run, question, timer)
            return await self._search.own_answer(replace(asked, strategy=DEFAULT_STRATEGY), timer)

        with timer.stage("finding"):
            step = await self._memory.relation_of(run, ask) if self._search.reads_in_house else None
        return await timer.in_thread("concluding", self._memory.replied, run, step)

    async def _with_choice(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        """Returns the run of the open question, asked of the thing that the turn describes ("the one who lives in X").

        Returns `run` if the turn describes none, or not exactly one of those offered. Only the embedded reasoner reads
        it so: a model reads the turns together.
        """
        choosing = run.choosing
        if choosing is None or not self._is_in_house:
            return run
        found = await self._search.search(await self._instead(run, choosing.which, timer), timer)
        words = [item.pseudonym for item in found.ended.conclusion.items] if found.ended.conclusion else []
        mids = {int(mid) for word in words for mid in run.conversation.table.resolve(word, run.graph.blind)[0]}
        chosen = [word for word in choosing.choices if run.conversation.table.entity(word) in mids]
        if len(words) != 1 or len(chosen) != 1 or len(mids) != 1:
            return run
        return await self._instead(run, choosing.then.replace(choosing.group, chosen[0]), timer)

    async def _instead(self, run: QuestionRun, question: str, timer: StageTimer) -> QuestionRun:
        """Returns the run of a question in pseudonyms in place of the last turn, with a note that says so."""
        messages = [*run.request.messages[:-1], Message(role="user", content=question)]
        asked = replace(run, request=run.request.model_copy(update={"messages": messages}), choosing=None)
        asked = await timer.in_thread("linking", self._reader.read, asked)
        note = f"read as: {question}"
        readings = [replace(each, read=replace(each.read, notes=(note,))) for each in asked.readings]
        return replace(asked, readings=tuple(readings), reading=readings[0])

    async def _answered_in_parts(self, run: QuestionRun, timer: StageTimer) -> QuestionRun | None:
        """Answers a turn that asks two questions as if they came one after the other; returns None otherwise.

        Only the embedded reasoner reads it so, and only if it answers both. With a model, reading the parts
        would change which requests of a conversation share their words.
        """
        is_plain = run.turn == "question" and run.known is None and not run.read.ambiguous
        may_be_two = is_plain and self._is_in_house
        parts = run.reader.two_questions(run.request.messages[-1].content) if may_be_two else None
        answered: list[QuestionRun] = []
        messages = run.request.messages[:-1]
        for part in parts or ():
            messages = [*messages, Message(role="user", content=part)][-MAX_MESSAGES:]
            asked = replace(run, request=run.request.model_copy(update={"messages": messages}), known=None)
            asked = await timer.in_thread("linking", self._reader.read, asked)
            asked = await self._search.search(asked, timer)
            if asked.ended.conclusion is None or not all(goes_on_from(asked, each) for each in answered):
                return None
            answered.append(asked)
            messages = [*messages, Message(role="assistant", content=asked.ended.sentence)]
        return joined(run, answered) if answered else None

    async def _with_help(self, run: QuestionRun) -> QuestionRun:
        """Adds help to a refusal or greeting: what was understood, and questions to try.

        A reply that asks back, or that a limit ended, is returned as it is.
        """
        found, sentence, is_answered = run.found, run.ended.sentence, run.ended.conclusion is not None
        is_ended = run.read.ambiguous or run.ended.asks_back or found.over_budget or found.withheld
        if not run.invites and (is_answered or is_ended):
            return run
        told = await in_service_loop(partial(self.options.suggest, run.caller, run.request.graph))
        if self.options.likeness and not (is_answered or found.draft or found.contradicted):
            sentence = await asyncio.to_thread(with_nearest, run, sentence, self.options.likeness)
        return replace(run, ended=replace(run.ended, sentence=with_questions(sentence, told.questions)))

    async def _with_next(self, run: QuestionRun, timer: StageTimer) -> QuestionRun:
        makes = self.options.suggest_next is not nothing_next and run.request.options.suggestions > 0
        if not makes or run.ended.conclusion is None or run.invites or run.memory_turn is not None:
            return run
        with timer.stage("suggesting"):
            return replace(run, suggestions=await self.options.suggest_next(run))


def _without_memory(run: QuestionRun) -> QuestionRun:
    """Returns the run with the reply to a memory turn of a graph whose policy turns memory off."""
    return replace(run, ended=ConclusionResult(Conclusion(NO_MEMORY, (), {}), sentence=NO_MEMORY))
