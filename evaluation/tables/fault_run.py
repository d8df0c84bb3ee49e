"""A run against an endpoint that misbehaves: every question must end rightly, refused, or in a typed error."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.llm.reasoner import ReasonerError
from evaluation.bench.bench import TO_THE_MODEL, Bench
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question
from evaluation.fakes.faulty_endpoint import FaultyEndpoint

CALL_DEADLINE_S = 4.0
QUESTION_DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Counts of questions by how they ended. `wrong` answers differ from gold; `late` took more than the deadline.

    `errors` counts typed errors; `logged` are records of errors in the log, by logger; `left` what was not cleaned up.
    """

    asked: int
    right: int
    refused: int
    wrong: int
    late: int
    leaks: int
    errors: Counter[str]
    injected: Counter[str]
    logged: Counter[str]
    left: Counter[str]

    @property
    def passed(self) -> bool:
        """True where nothing happened that must not."""
        typed = {each.__name__ for each in _subclasses(ReasonerError)}
        bad = self.wrong or self.late or self.leaks or self.logged.total() or self.left.total()
        return not bad and set(self.errors) <= typed and self.right + self.refused + self.errors.total() == self.asked


async def run_with_faults(
    graph: Sequence[Path],
    policy: str | None,
    questions: Sequence[Question],
    *,
    share: float = 0.3,
    seed: int = 0,
    call_deadline_s: float = CALL_DEADLINE_S,
    progress: Callable[[int], None] = lambda _done: None,
) -> FaultReport:
    """Asks `questions` (with plans) one after the other, while `share` of the endpoint's replies have a fault."""
    tasks_before = len(asyncio.all_tasks())
    endpoint, ended = FaultyEndpoint(0.0, seed), list[float]()
    changes = {"endpoint_deadline_s": call_deadline_s, "request_deadline_s": QUESTION_DEADLINE_S}
    with _errors_logged() as logged:
        async with Bench("scripted", scripted=endpoint, changes={**changes, **TO_THE_MODEL}) as bench:
            loaded = bench.load("asked", graph, policy)
            label = RunLabel(set_name="faults", strategy="sets", reasoner="scripted", seed=seed)
            endpoint.share = share  # Not before: what the endpoint can do has been found out in peace.
            ended.append(time.perf_counter())
            report, outcomes = await bench.ask(
                loaded, label, questions, progress=progress, see=lambda *_told: ended.append(time.perf_counter())
            )
            await bench.services.thinking.close()
            left = Counter(tasks=len(asyncio.all_tasks()) - tasks_before, requests=await _still_open(endpoint))
    errors = Counter(outcome.problem for outcome in outcomes if outcome.problem)
    answered = [outcome for outcome in outcomes if outcome.answered]
    right = sum(outcome.score.f1 == 1.0 for outcome in answered)
    return FaultReport(
        asked=len(outcomes),
        right=right,
        refused=len(outcomes) - len(answered) - errors.total(),
        wrong=len(answered) - right,
        late=sum(end - begin > QUESTION_DEADLINE_S for begin, end in pairwise(ended)),
        leaks=report.leaks.leaks,
        errors=errors,
        injected=endpoint.injected,
        logged=logged,
        left=+left,
    )


async def _still_open(endpoint: FaultyEndpoint) -> int:
    """Requests that are open although their callers have gone; the server is given a moment to notice."""
    for _ in range(200):
        if not endpoint.open:
            return 0
        await asyncio.sleep(0.01)
    return endpoint.open


@contextmanager
def _errors_logged() -> Iterator[Counter[str]]:
    """Counts records of errors by logger: what nobody caught or awaited ends there."""
    seen: Counter[str] = Counter()

    class Counting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR or record.exc_info:
                seen[record.name] += 1

    handler = Counting()
    logging.getLogger().addHandler(handler)
    try:
        yield seen
    finally:
        logging.getLogger().removeHandler(handler)


def _subclasses(kind: type[ReasonerError]) -> list[type[ReasonerError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in _subclasses(child))]
