"""Ask questions of the real service, restore its answers with the SDK, and report the run as JSON and Markdown."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from app.accounts.api_keys import Caller
from app.graphs.markdown_table import markdown_table
from app.llm.reasoner import ReasonerError
from app.privacy.safe_text import PrivacyError
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatRequest
from evaluation.checks.leak_scan import Findings
from evaluation.checks.metrics import AnswerPart, Score, comparable, interval, mean, percentile, score
from evaluation.datasets.questions import QueryPlan, Question

REASONER_STAGE = "reasoning"
MAX_NAMES = 10_000  # the service's limit; large, because F1 needs the whole answer set
ANSWER_ALONE: Mapping[str, int] = {"names": MAX_NAMES, "suggestions": 0}


class ChatEndpoint(Protocol):
    """The interface that POST /chat calls."""

    async def answer(self, caller: Caller, request: ChatRequest) -> ChatAnswer: ...


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The result of one question.

    `problem`: the type of the error, if there was no answer. `linked`: True if linking found every gold topic; None if
    the topics are unknown. `reproduced` and `filtered` are copied from the question.
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
    local_processor_ms: float = 0.0

    @property
    def local_ms(self) -> float:
        """Returns the elapsed time outside the reasoner; `local_processor_ms` is the processor time outside it."""
        return sum(value for stage, value in self.milliseconds.items() if stage != REASONER_STAGE)


Watch = Callable[[Question, QuestionOutcome, Answer | None], None]
"""Is called with each question, its outcome, and its answer (None if there was a problem)."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A way to ask a set of questions.

    `names` returns every name of everything that a text mentions, as the service links it. `expect` is called with
    each turn's plan and text before it is asked; `reasoner_processor_s` returns the reasoner's processor time since
    then.
    """

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
        """Returns one outcome per question, in order; `progress` is called with how many are done."""
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
    # If there is a yes or no, it alone is the answer; other entities only explain it.
    truths = [entity for entity in told if entity.kind == "truth"]
    parts = [AnswerPart(entity.names, entity.ordered) for entity in truths or told]
    usage = answer.usage
    # Time outside the named stages is reported as "other", so that the stages add up to the whole.
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


class Spread(BaseModel):
    """Median, 95th percentile and mean of one quantity over the questions without a problem."""

    model_config = ConfigDict(frozen=True)
    p50: float
    p95: float
    mean: float


class Quality(BaseModel):
    """Measures of how well a group of questions was answered: means between 0 and 1."""

    model_config = ConfigDict(frozen=True)
    questions: int
    hits_at_1: float
    hits_at_1_interval: tuple[float, float]
    f1: float


class Leaks(BaseModel):
    """The scanner's findings in all bytes that reached the reasoner. It holds names: for public data only."""

    model_config = ConfigDict(frozen=True)
    payloads: int
    bytes_read: int
    names_looked_for: int
    leaks: int
    leaked: dict[str, int]
    public_word_hits: int
    public_words: dict[str, int]


class RunLabel(BaseModel):
    """The questions, strategy and reasoner of a run."""

    model_config = ConfigDict(frozen=True)
    set_name: str
    strategy: str
    reasoner: str
    seed: int = 0


_SPREADS = ("rounds", "calls", "prompt_tokens", "completion_tokens", "local_ms")


class Report(RunLabel):
    """The results of one run of one set. `unanswerable_answered` counts questions without an answer that got one."""

    quality: Quality
    reproduced: Quality
    filtered: Quality
    by_kind: dict[str, Quality]
    linked: float | None
    answered: int
    refused: int
    unanswerable: int
    unanswerable_answered: int
    ungrounded: int
    problems: dict[str, int]
    rounds: Spread
    calls: Spread
    prompt_tokens: Spread
    completion_tokens: Spread
    tokens_counted_by: str
    milliseconds: dict[str, Spread]
    local_ms: Spread
    leaks: Leaks


def summarise(label: RunLabel, outcomes: Sequence[QuestionOutcome], findings: Findings, names: int) -> Report:
    """Returns the report of a run; `names` is how many names the scanner looked for."""
    whole = [outcome for outcome in outcomes if not outcome.problem]
    linked = [float(outcome.linked) for outcome in outcomes if outcome.linked is not None]
    unanswerable = [outcome for outcome in outcomes if not outcome.expects_answer]
    counted = {"endpoint" if outcome.tokens_by_endpoint else "wordpiece" for outcome in whole if outcome.calls}
    kinds = sorted({outcome.kind for outcome in outcomes})
    return Report(
        **label.model_dump(),
        quality=_quality(outcomes),
        reproduced=_quality([outcome for outcome in outcomes if outcome.reproduced]),
        filtered=_quality([outcome for outcome in outcomes if outcome.filtered]),
        by_kind={kind: _quality([outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds},
        linked=mean(linked) if linked else None,
        answered=sum(outcome.answered for outcome in outcomes),
        refused=sum(not outcome.answered and not outcome.problem for outcome in outcomes),
        unanswerable=len(unanswerable),
        unanswerable_answered=sum(outcome.answered for outcome in unanswerable),
        ungrounded=sum(not outcome.grounded for outcome in whole),
        problems=dict(Counter(outcome.problem for outcome in outcomes if outcome.problem)),
        **{each: _spread(getattr(outcome, each) for outcome in whole) for each in _SPREADS},
        tokens_counted_by=" and ".join(sorted(counted)) or "none",
        milliseconds={
            stage: _spread(outcome.milliseconds.get(stage, 0.0) for outcome in whole)
            for stage in sorted({stage for outcome in whole for stage in outcome.milliseconds})
        },
        leaks=Leaks(
            payloads=findings.payloads,
            bytes_read=findings.bytes_read,
            names_looked_for=names,
            leaks=findings.leaks.total(),
            leaked=dict(findings.leaks.most_common()),
            public_word_hits=findings.public_words.total(),
            public_words=dict(findings.public_words.most_common()),
        ),
    )


def write_json(reports: Sequence[Report], outcomes: Sequence[Sequence[QuestionOutcome]], file: Path) -> None:
    """Writes each report with its questions (id, hit, F1, calls, problem), without any text of question or answer."""
    told = ("id", "answered", "linked", "rounds", "calls", "problem")
    rows = []
    for report, asked in zip(reports, outcomes, strict=True):
        questions = [
            {each: getattr(outcome, each) for each in told}
            | {"hit": outcome.score.hit, "f1": outcome.score.f1, "local_ms": round(outcome.local_ms, 2)}
            | {"local_processor_ms": round(outcome.local_processor_ms, 2)}
            for outcome in asked
        ]
        rows.append({"report": report.model_dump(), "questions": questions})
    file.write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")


def markdown(reports: Sequence[Report]) -> str:
    """Returns a Markdown table with one row per run."""
    head = (
        "set", "strategy", "reasoner", "n", "hits@1 (95 %)", "F1", "linked", "answered / refused", "rounds",
        "calls mean / p95", "tokens in + out", "local ms p50 / p95", "leaks", "public-word hits",
    )  # fmt: skip
    return markdown_table(head, map(_row, reports))


def stages_markdown(report: Report) -> str:
    """Returns a Markdown table of the milliseconds of each stage of one run."""
    rows = [(stage, f"{s.p50:.2f}", f"{s.p95:.2f}", f"{s.mean:.2f}") for stage, s in report.milliseconds.items()]
    return markdown_table(("stage", "p50 ms", "p95 ms", "mean ms"), rows)


def _row(report: Report) -> tuple[str, ...]:
    low, high = report.quality.hits_at_1_interval
    tokens = f"{report.prompt_tokens.mean:.0f} + {report.completion_tokens.mean:.0f}"
    words = ", ".join(list(report.leaks.public_words)[:5])
    return (
        report.set_name,
        report.strategy,
        report.reasoner,
        str(report.quality.questions),
        f"{report.quality.hits_at_1:.3f} ({low:.2f}-{high:.2f})",
        f"{report.quality.f1:.3f}",
        "" if report.linked is None else f"{report.linked:.3f}",
        f"{report.answered} / {report.refused}",
        f"{report.rounds.mean:.1f}",
        f"{report.calls.mean:.1f} / {report.calls.p95:.0f}",
        f"{tokens} ({report.tokens_counted_by})",
        f"{report.local_ms.p50:.1f} / {report.local_ms.p95:.1f}",
        str(report.leaks.leaks),
        f"{report.leaks.public_word_hits}" + (f" ({words} ...)" if words else ""),
    )


def _quality(outcomes: Sequence[QuestionOutcome]) -> Quality:
    hits = [outcome.score.hit for outcome in outcomes]
    f1 = mean([outcome.score.f1 for outcome in outcomes])
    return Quality(questions=len(hits), hits_at_1=mean(hits), hits_at_1_interval=interval(hits), f1=f1)


def _spread(values: Iterable[float]) -> Spread:
    known = list(values)
    return Spread(p50=percentile(known, 0.5), p95=percentile(known, 0.95), mean=mean(known))
