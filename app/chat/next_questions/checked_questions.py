"""Answers follow-up questions inside the service, as if the asker had asked them next, and keeps those that hold."""

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
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import PrivacyError
from client_sdk.protocol import MAX_MESSAGE_CHARS, MAX_MESSAGES, Message
from kg_store.terms import Mids, as_mids

MAX_TRIED: Final = 6
MAX_WORDINGS: Final = 2


class Concluder(Protocol):
    """Reads a question and searches for its answer; keeps nothing."""

    async def concluded(self, run: QuestionRun, timer: StageTimer) -> QuestionRun: ...


@dataclass(frozen=True, slots=True)
class NextQuestions:
    """Checks follow-up questions before they are suggested.

    Promise: each suggested question was answered by exactly what its relation leads to, on the graph as the asker sees
    it and in a copy of the conversation. Nothing of the attempts is kept: no turn, no pseudonym, no row in the ledger,
    no budget.

    `most`: the greatest number for one answer. Condition: `chat` asks a reasoner inside the service, so nothing
    leaves. Limit: a model that answers later may read the same question differently.
    """

    chat: Concluder = field(repr=False)
    most: int = 3

    async def after(self, run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
        """Returns at most as many questions as were asked for, in pseudonyms; pseudonyms of their subjects are issued
        here.
        """
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
        """True if the question, asked as the next turn, is answered by what its hop leads to."""
        try:
            following = await asyncio.to_thread(_next_run, run, saved, candidate, wording)
            if following is None:
                return False
            ended = await self.chat.concluded(following, StageTimer())
        except (BudgetUsedUpError, PrivacyError, ReasonerError):
            return False  # The user did not ask this question, so its failure is not reported.
        return _is_answer(ended, candidate)


def _is_sure(run: QuestionRun) -> bool:
    """True of an answer with no doubt about what it was asked about."""
    return run.ended.grounded and not run.read.ambiguous


def _in_turn(candidates: Sequence[Sequence[NextQuestion]], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    """The next wording for each subject in turn, without relations that are already in `asked`."""
    queues = [_wordings_of(each, asked) for each in candidates]
    while queues:
        for queue in list(queues):
            if attempt := next(queue, None):
                yield attempt
            else:
                queues.remove(queue)


def _wordings_of(candidates: Sequence[NextQuestion], asked: Set[str]) -> Iterator[tuple[NextQuestion, str]]:
    """The wordings for one subject, each once."""
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
    """A run that asks the question as the next turn in a copy of the conversation; None if it would be too long."""
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
    return QuestionRun(secrets.token_urlsafe(12), run.caller, request, run.graph, copied, run.lexicon, run.reader)


def _as_asked(run: QuestionRun, candidate: NextQuestion, wording: str, table: PseudonymTable) -> str:
    """The text that the user would send: with the name, if the asker gets names; empty if the thing has none."""
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
    """True of a certain answer of one part that equals what the hop leads to."""
    conclusion, read = ended.ended.conclusion, ended.read
    if conclusion is None or not ended.ended.grounded or read.ambiguous or read.inexact or ended.asks_why:
        return False
    if len(conclusion.items) != 1 or conclusion.items[0].kind not in ("entity", "set", "value"):
        return False
    told = ended.conversation.table.resolve(conclusion.items[0].pseudonym, ended.graph.blind)[0]
    return _are_same(told, candidate.expected, candidate.subject.mids)


def _are_same(told: Mids, expected: Mids, named: Mids) -> bool:
    """True of equal sets; the answer may leave out things that the question names, if other members remain."""
    others = as_mids(np.setdiff1d(expected, named))
    wanted = others if len(others) else expected
    return np.array_equal(as_mids(told), wanted) or np.array_equal(as_mids(told), as_mids(expected))
