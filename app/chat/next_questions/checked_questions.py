"""Answers questions to go on with in the house, as the asker would ask them next; those that hold are suggested."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Protocol

import numpy as np

from app.chat.answers.execution import AnswerExecutor
from app.chat.conversations import Reason
from app.chat.next_questions.candidates import THING, NextQuestion, next_questions
from app.chat.question_run import QuestionRun, StageTimer, SuggestedQuestion
from app.egress.budgets import BudgetUsedUpError
from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import MAX_MESSAGE_CHARS, MAX_MESSAGES, Message
from kg_store.terms import Mids, as_mids

MAX_TRIED: Final = 6
MAX_WORDINGS: Final = 2


class Concluder(Protocol):
    """Reads a question and searches for its answer; keeps nothing."""

    async def concluded(self, run: QuestionRun, timer: StageTimer) -> QuestionRun: ...


@dataclass(frozen=True, slots=True)
class NextQuestions:
    """Promise: each question that is suggested was answered, by just what its step leads to, on the graph as the asker
    sees it and in a copy of the conversation. Nothing is kept of what was tried: no turn, no pseudonym, no row in the
    ledger, no budget.

    `most`: of one answer, however many are asked for. Condition: `chat` asks a reasoner inside the service, so that
    nothing leaves. Limit: where a model answers later, it may read the same question otherwise.
    """

    chat: Concluder = field(repr=False)
    most: int = 3

    async def after(self, run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
        """At most as many as were asked for, in pseudonyms; those of their things are issued here."""
        most = min(self.most, run.request.options.suggestions)
        if not _is_sure(run):
            return ()
        candidates = await asyncio.to_thread(next_questions, run)
        saved = await asyncio.to_thread(run.conversation.table.to_bytes, run.graph.blind.schema)
        chosen: list[SuggestedQuestion] = []
        asked = set[str]()
        for candidate, wording in islice(_in_turn(candidates, asked), MAX_TRIED):
            if await self._holds(run, saved, candidate, wording):
                asked.add(candidate.relation)
                text = _in_pseudonyms(candidate, wording, run.conversation.table)
                chosen.append(SuggestedQuestion(text, candidate.expected))
            if len(chosen) == most:
                break
        return tuple(chosen)

    async def _holds(self, run: QuestionRun, saved: bytes, candidate: NextQuestion, wording: str) -> bool:
        """True where the question is answered by what its step leads to, when it is the next turn."""
        try:
            following = await asyncio.to_thread(_next_run, run, saved, candidate, wording)
            if following is None:
                return False
            ended = await self.chat.concluded(following, StageTimer())
        except (BudgetUsedUpError, PrivacyError, ReasonerError):
            return False  # Whoever waits for an answer has not asked this.
        return _is_answer(ended, candidate)


def _is_sure(run: QuestionRun) -> bool:
    """True of an answer that knows what it was asked about."""
    return run.ended.grounded and not run.read.ambiguous


def _in_turn(candidates: Sequence[Sequence[NextQuestion]], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    """The next wording of each thing in turn; none by a relation that was `asked` of a thing meanwhile."""
    queues = [_wordings_of(each, asked) for each in candidates]
    while queues:
        for queue in list(queues):
            if attempt := next(queue, None):
                yield attempt
            else:
                queues.remove(queue)


def _wordings_of(candidates: Sequence[NextQuestion], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    """Those of one thing, each once."""
    tried = set[str]()
    for candidate in candidates:
        for wording in candidate.wordings[:MAX_WORDINGS]:
            if candidate.relation not in asked and wording not in tried:
                tried.add(wording)
                yield candidate, wording


def _in_pseudonyms(candidate: NextQuestion, wording: str, table: PseudonymTable) -> str:
    mid = candidate.subject.mid
    return wording if mid is None else wording.replace(THING, table.of_entity(mid))


def _next_run(run: QuestionRun, saved: bytes, candidate: NextQuestion, wording: str) -> QuestionRun | None:
    """The run of the question as the next turn of a copy of the conversation; None where it has no room."""
    before, schema = run.conversation, run.graph.blind.schema
    table = PseudonymTable.from_bytes(saved, schema)
    text = _as_asked(run, candidate, wording, table)
    if not text or len(text) > MAX_MESSAGE_CHARS:
        return None
    turns = [*run.request.messages, Message(role="assistant", content=run.ended.sentence)]
    messages = [*turns[-(MAX_MESSAGES - 2) :], Message(role="user", content=text)]
    request = run.request.model_copy(update={"messages": messages, "conversation": before.id})
    copied = replace(
        before, version=before.version + 1, table=table, reason=Reason(), revealed={*before.revealed}, answers={}
    )
    return QuestionRun(secrets.token_urlsafe(12), run.tenant, request, run.graph, copied, run.lexicon, run.reader)


def _as_asked(run: QuestionRun, candidate: NextQuestion, wording: str, table: PseudonymTable) -> str:
    """The text that will be sent: with the name, where the asker gets names; empty where the thing has none."""
    mid = candidate.subject.mid
    if mid is None:
        return wording
    word = table.of_entity(mid)
    if run.request.public_key is None:
        return wording.replace(THING, word)
    executor = AnswerExecutor(run.graph, table, run.request.options.names, run.language)
    found = executor.names_of([word]).get(word)
    return wording.replace(THING, found.names[0]) if found is not None and found.names else ""


def _is_answer(ended: QuestionRun, candidate: NextQuestion) -> bool:
    """True of a sure answer of one part that is what the step leads to."""
    conclusion, read = ended.ended.conclusion, ended.read
    if conclusion is None or not ended.ended.grounded or read.ambiguous or read.inexact or ended.asks_why:
        return False
    if len(conclusion.items) != 1 or conclusion.items[0].kind not in ("entity", "set", "value"):
        return False
    told = ended.conversation.table.resolve(conclusion.items[0].pseudonym, ended.graph.blind)[0]
    return _are_same(told, candidate.expected, candidate.subject.mids)


def _are_same(told: Mids, expected: Mids, named: Mids) -> bool:
    """True of equal sets; from a set the answer leaves out the thing that the question names, where others remain."""
    others = as_mids(np.setdiff1d(expected, named))
    wanted = others if len(others) else expected
    return np.array_equal(as_mids(told), wanted) or np.array_equal(as_mids(told), as_mids(expected))
