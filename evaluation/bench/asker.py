"""Asks questions through the real service and restores the answers with the real SDK code, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.accounts.api_keys import Caller
from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatRequest
from evaluation.checks.metrics import AnswerPart, Score, comparable, score
from evaluation.datasets.questions import QueryPlan, Question

REASONER_STAGE = "reasoning"
MAX_NAMES = 10_000  # the service's limit: F1 is over the whole set
ANSWER_ALONE: Mapping[str, int] = {"names": MAX_NAMES, "suggestions": 0}


class ChatEndpoint(Protocol):
    """The interface that POST /chat calls."""

    async def answer(self, caller: Caller, request: ChatRequest) -> ChatAnswer: ...


class KnowsNames(Protocol):
    """Tells which names a text mentions, as the service links them."""

    def names_in(self, text: str) -> frozenset[str]:
        """Every name of everything that `text` names."""
        ...


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The result of one question. `problem` names the error's type when there was no answer at all.

    `missed_topics` are gold topics that linking did not find; `linked` is None where no topic is known.
    """

    id: str
    kind: str
    score: Score
    answered: bool
    expects_answer: bool
    linked: bool | None
    reproduced: bool = True
    filtered: bool = False
    grounded: bool = True
    rounds: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_by_endpoint: bool = False
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""
    names: tuple[str, ...] = field(default=(), repr=False)
    missed_topics: tuple[str, ...] = field(default=(), repr=False)
    local_processor_ms: float = 0.0

    @property
    def local_ms(self) -> float:
        """Everything but the reasoner's own time, by the clock; `local_processor_ms` is that of the processor."""
        return sum(value for stage, value in self.milliseconds.items() if stage != REASONER_STAGE)


Watch = Callable[[Question, QuestionOutcome, Answer | None], None]
"""Sees each question with what came of it; no answer where there was a problem."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks a set of questions in one way. `expect` is told each turn, with its plan, before it is asked;
    `reasoner_processor_s` is the processor time that the reasoner took since then."""

    chat: ChatEndpoint
    caller: Caller
    graph: str
    strategy: str = "sets"
    options: Mapping[str, int] = field(default_factory=dict)
    names: KnowsNames | None = None
    expect: Callable[[QueryPlan | None, str], None] = lambda _plan, _typed: None
    reasoner_processor_s: Callable[[], float] = lambda: 0.0
    watch: Watch = lambda _question, _outcome, _answer: None

    async def ask_all(
        self, questions: Sequence[Question], progress: Callable[[int], None] = lambda _done: None
    ) -> list[QuestionOutcome]:
        """One outcome a question, in their order; `progress` gets how many are done."""
        key = KeyPair.generate()
        outcomes = []
        for done, question in enumerate(questions, start=1):
            outcome, answer = await self._ask(question, key)
            self.watch(question, outcome, answer)
            outcomes.append(outcome)
            progress(done)
        return outcomes

    async def _ask(self, question: Question, key: KeyPair) -> tuple[QuestionOutcome, Answer | None]:
        dialogue = Dialogue(self.graph, key, self.strategy, {**ANSWER_ALONE, **self.options})
        missed = self._missed_topics(question)
        try:
            for plan, text in zip(question.plans, question.texts, strict=True):
                self.expect(plan, text)
                began, worked = time.perf_counter(), time.process_time()
                sealed = await self.chat.answer(self.caller, dialogue.request(text, None, {}))
                spent = time.perf_counter() - began, time.process_time() - worked - self.reasoner_processor_s()
                answer = dialogue.accept(text, sealed)
        except (ReasonerError, PrivacyError) as error:
            return _failed(question, missed, type(error).__name__), None
        return _outcome(question, answer, missed, *(1000 * seconds for seconds in spent)), answer

    def _missed_topics(self, question: Question) -> tuple[str, ...] | None:
        if self.names is None or not question.topic_entities:
            return None
        found = {comparable(name) for name in self.names.names_in("\n".join(question.texts))}
        return tuple(topic for topic in question.topic_entities if comparable(topic) not in found)


def _failed(question: Question, missed: tuple[str, ...] | None, problem: str) -> QuestionOutcome:
    return QuestionOutcome(
        id=question.id,
        kind=question.kind,
        score=Score(0.0, 0.0),
        answered=False,
        expects_answer=question.is_answerable,
        linked=None if missed is None else not missed,
        reproduced=question.reproduced,
        filtered=question.filtered,
        problem=problem,
        missed_topics=missed or (),
    )


def _outcome(
    question: Question, answer: Answer, missed: tuple[str, ...] | None, whole_ms: float, local_processor_ms: float
) -> QuestionOutcome:
    told = answer.entities if answer.answered else ()
    # A yes or no is the answer; what stands beside it says what holds instead, or the value that decided.
    truths = [entity for entity in told if entity.kind == "truth"]
    parts = [AnswerPart(entity.names, entity.ordered) for entity in truths or told]
    usage = answer.usage
    milliseconds = dict(usage.milliseconds)
    # What the stages do not name is counted too: nothing of the road is left out.
    milliseconds["other"] = max(0.0, whole_ms - sum(milliseconds.values()))
    return QuestionOutcome(
        id=question.id,
        kind=question.kind,
        score=score(parts, question.answers),
        answered=answer.answered,
        expects_answer=question.is_answerable,
        linked=None if missed is None else not missed,
        reproduced=question.reproduced,
        filtered=question.filtered,
        grounded=answer.grounded,
        rounds=usage.rounds,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        tokens_by_endpoint=usage.tokens_counted_by == "endpoint",
        milliseconds=milliseconds,
        names=tuple(answer.names),
        missed_topics=missed or (),
        local_processor_ms=local_processor_ms,
    )
