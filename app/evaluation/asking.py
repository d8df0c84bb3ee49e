"""Asks questions through the real service and restores the answers with the real SDK code, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.access import Caller
from app.evaluation.metrics import Part, Score, comparable, score
from app.evaluation.questions import Plan, Question
from app.llm.reasoner import ReasonerError
from app.privacy.errors import PrivacyError
from client_sdk.answer import Answer
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatRequest
from client_sdk.sealing import KeyPair

REASONER_STAGE = "reasoning"
MOST_NAMES = 10_000  # the service's limit: F1 is over the whole set


class AnswersQuestions(Protocol):
    """What POST /chat calls."""

    async def answer(self, caller: Caller, request: ChatRequest) -> ChatAnswer: ...


class KnowsNames(Protocol):
    """Tells which names a text mentions, as the service links them."""

    def names_in(self, text: str) -> frozenset[str]:
        """Every name of everything that `text` names."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question. `problem` names the error's type when there was no answer at all."""

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

    @property
    def local_ms(self) -> float:
        """Everything but the reasoner's own time."""
        return sum(value for stage, value in self.milliseconds.items() if stage != REASONER_STAGE)


@dataclass(frozen=True, slots=True)
class Asking:
    """How a set of questions is asked. `expect` tells a scripted endpoint the plan of the next turn."""

    chat: AnswersQuestions
    caller: Caller
    graph: str
    strategy: str = "sets"
    options: Mapping[str, int] = field(default_factory=dict)
    names: KnowsNames | None = None
    expect: Callable[[Plan | None, str], None] = lambda _plan, _typed: None

    async def ask_all(
        self, questions: Sequence[Question], progress: Callable[[int], None] = lambda _done: None
    ) -> list[Outcome]:
        """One outcome a question, in their order; `progress` gets how many are done."""
        key = KeyPair.generate()
        outcomes = []
        for done, question in enumerate(questions, start=1):
            outcomes.append(await self._ask(question, key))
            progress(done)
        return outcomes

    async def _ask(self, question: Question, key: KeyPair) -> Outcome:
        dialogue = Dialogue(self.graph, key, self.strategy, {"names": MOST_NAMES, **self.options})
        linked = self._is_linked(question)
        try:
            for plan, text in zip(question.plans, question.texts, strict=True):
                self.expect(plan, text)
                began = time.perf_counter()
                sealed = await self.chat.answer(self.caller, dialogue.request(text, None, {}))
                whole_ms = (time.perf_counter() - began) * 1000
                answer = dialogue.accept(text, sealed)
        except (ReasonerError, PrivacyError) as error:
            return self._failed(question, linked, type(error).__name__)
        return _outcome(question, answer, linked, whole_ms)

    def _failed(self, question: Question, linked: bool | None, problem: str) -> Outcome:
        wrong = Score(0.0, 0.0)
        return Outcome(
            question.id, question.kind, wrong, False, question.is_answerable, linked,
            question.reproduced, question.filtered, problem=problem,
        )  # fmt: skip

    def _is_linked(self, question: Question) -> bool | None:
        if self.names is None or not question.topic_entities:
            return None
        found = {comparable(name) for name in self.names.names_in("\n".join(question.texts))}
        return all(comparable(topic) in found for topic in question.topic_entities)


def _outcome(question: Question, answer: Answer, linked: bool | None, whole_ms: float) -> Outcome:
    parts = [Part(entity.names, entity.ordered) for entity in answer.entities] if answer.answered else []
    usage = answer.usage
    milliseconds = dict(usage.milliseconds)
    # What the stages do not name is counted too: nothing of the road is left out.
    milliseconds["other"] = max(0.0, whole_ms - sum(milliseconds.values()))
    return Outcome(
        id=question.id,
        kind=question.kind,
        score=score(parts, question.answers),
        answered=answer.answered,
        expects_answer=question.is_answerable,
        linked=linked,
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
    )
