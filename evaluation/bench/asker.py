"""Asks questions through the real service and restores the answers with the real SDK code, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.accounts.api_keys import Caller
from app.llm.reasoner import ReasonerError
from app.privacy.safe_text import PrivacyError
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


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The result of one question. `problem` names the error's type when there was no answer at all; `linked` tells
    that linking found every gold topic, and is None where none is known."""

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
    local_processor_ms: float = 0.0

    @property
    def local_ms(self) -> float:
        """Everything but the reasoner's own time, by the clock; `local_processor_ms` is that of the processor."""
        return sum(value for stage, value in self.milliseconds.items() if stage != REASONER_STAGE)


Watch = Callable[[Question, QuestionOutcome, Answer | None], None]
"""Sees each question with what came of it; no answer where there was a problem."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks a set of questions in one way. `names` gives every name of everything that a text names, as the service
    links it. `expect` is told each turn, with its plan, before it is asked; `reasoner_processor_s` is the processor
    time that the reasoner took since then."""

    chat: ChatEndpoint
    caller: Caller
    graph: str
    strategy: str = "sets"
    options: Mapping[str, int] = field(default_factory=dict)
    names: Callable[[str], Collection[str]] | None = None
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
        unanswered = QuestionOutcome(
            id=question.id,
            kind=question.kind,
            score=Score(0.0, 0.0),
            answered=False,
            expects_answer=question.is_answerable,
            linked=self._is_linked(question),
            reproduced=question.reproduced,
            filtered=question.filtered,
        )
        try:
            for plan, text in zip(question.plans, question.texts, strict=True):
                self.expect(plan, text)
                began, worked = time.perf_counter(), time.process_time()
                sealed = await self.chat.answer(self.caller, dialogue.request(text, None, {}))
                spent = time.perf_counter() - began, time.process_time() - worked - self.reasoner_processor_s()
                answer = dialogue.accept(text, sealed)
        except (ReasonerError, PrivacyError) as error:
            return replace(unanswered, problem=type(error).__name__), None
        whole_ms, processor_ms = (1000 * seconds for seconds in spent)
        return replace(_judged(unanswered, question, answer, whole_ms), local_processor_ms=processor_ms), answer

    def _is_linked(self, question: Question) -> bool | None:
        if self.names is None or not question.topic_entities:
            return None
        found = {comparable(name) for name in self.names("\n".join(question.texts))}
        return found.issuperset(map(comparable, question.topic_entities))


def _judged(unanswered: QuestionOutcome, question: Question, answer: Answer, whole_ms: float) -> QuestionOutcome:
    told = answer.entities if answer.answered else ()
    # A yes or no is the answer; what stands beside it says what holds instead, or the value that decided.
    truths = [entity for entity in told if entity.kind == "truth"]
    parts = [AnswerPart(entity.names, entity.ordered) for entity in truths or told]
    usage = answer.usage
    # What the stages do not name is counted too: nothing of the road is left out.
    other = max(0.0, whole_ms - sum(usage.milliseconds.values()))
    return replace(
        unanswered,
        score=score(parts, question.answers),
        answered=answer.answered,
        grounded=answer.grounded,
        rounds=usage.rounds,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        tokens_by_endpoint=usage.tokens_counted_by == "endpoint",
        milliseconds={**usage.milliseconds, "other": other},
        names=tuple(answer.names),
    )
