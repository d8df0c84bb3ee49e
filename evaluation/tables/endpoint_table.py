"""The table of a model endpoint: the cost of questions, the effect of limits on prompts and of faults, and load."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import httpx2

from app.cli.workers import default_workers
from app.llm.reasoner import ReasonerError
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer
from evaluation.bench.bench import NO_LIMIT, TO_THE_MODEL, Bench, ReasonerName, sample
from evaluation.bench.question_sets import METAQA, PQ_2H, PQ_3H, Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.checks.metrics import mean, percentile
from evaluation.datasets.converters import Converted, convert
from evaluation.datasets.questions import Question, QuestionsError, read_questions
from evaluation.fakes.faulty_endpoint import FaultyEndpoint
from evaluation.fakes.scripted_endpoint import PathReader, ScriptedEndpoint
from evaluation.fakes.service_process import calling, load_graph, service_process, spent_by
from evaluation.tables.measures import AskedSample, Measure, asking, at_most, is_planned, mean_f1, mean_hits
from kg_store.proposals.propose import propose_policy


class CostBound(NamedTuple):
    """Bounds for one set: mean calls and tokens per question, median time outside the endpoint, most calls."""

    name: str
    source: str
    calls: float
    tokens: int
    local_ms: float
    most_calls: int


# For comparison, the ARoG paper: 12 to 25 calls, 5,605 tokens on GrailQA. Its code with a model that answers rightly,
# on PQ-2H and PQ-3H: 10.5 and 13.2 calls, 4,859 and 5,933 tokens, accuracy 0.75 and 0.40, 270 and 530 ms.
BOUNDS = (
    CostBound("PQ-2H", PQ_2H, calls=2.0, tokens=1_200, local_ms=10.0, most_calls=4),
    CostBound("PQ-3H", PQ_3H, calls=2.6, tokens=1_700, local_ms=15.0, most_calls=4),
    CostBound("MetaQA-3", METAQA[3], calls=2.6, tokens=1_700, local_ms=20.0, most_calls=4),
)
# For one-hop questions only the calls are bounded.
ONE_HOP = CostBound("MetaQA-1", METAQA[1], calls=2.0, tokens=1_200, local_ms=20.0, most_calls=2)
MIN_RIGHT = 0.995  # rounds to 1.00; not 1, since a name that others equal but for case stands for all of them


class Limit(NamedTuple):
    """Settings that limit what prompts may show.

    `bounded` marks the default: it may lose only a few right answers. The others are measured without a bound.
    """

    words: str
    reasoner: ReasonerName
    profile: str
    disclosure: str
    bounded: bool = False


# The first entry of each reasoner is the one that its others are compared with.
LIMITS = (
    Limit("open, no limit", "scripted", "open", "tell"),
    Limit("kind, no limit", "scripted", "kind", "tell"),
    Limit("kind, generalise (default)", "scripted", "kind", "generalise", bounded=True),
    Limit("kind, refuse", "scripted", "kind", "refuse"),
    Limit("strict, no limit", "scripted", "strict", "tell"),
    Limit("strict, generalise", "scripted", "strict", "generalise"),
    Limit("open, no limit", "embedded", "open", "tell"),
    Limit("kind, no limit", "embedded", "kind", "tell"),
)
LIMITED_SETS = {"PQ-3H": PQ_3H, "MetaQA-3": METAQA[3]}
MAX_LOST, MAX_REFUSED = 0.02, 0.03

FAULTS, LOAD = "faults", "chats at once"
FAULT_SHARE = 0.3
FAULTY_PER_QUESTION = 2.5  # 500 questions with faults to 200 of each set
CALL_DEADLINE_S = 4.0
QUESTION_DEADLINE_S = 60.0


async def run_endpoint_table(
    data: Path, limit: int, seed: int, only: str, show: Show, workers: int | None = None
) -> list[Measure]:
    """Measures every run whose name (`PQ-2H, sets`, `faults`) holds `only`. Raises QuestionsError.

    `workers`: those of the service that many chats ask at once; as many as it starts by default, if None.
    """
    workers = workers or default_workers()
    wanted = only.casefold()
    measures = await _costs(data, limit, seed, wanted, show)
    measures += await _limits(data, limit, seed, wanted, show)
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        if wanted in FAULTS:
            measures.append(await _with_faults(data, Path(folder), round(FAULTY_PER_QUESTION * limit), seed, show))
        if wanted in LOAD:
            measures.append(await _at_once(data, Path(folder), workers, show))
    if not measures:
        raise QuestionsError("no run's name holds what --only asks for")
    return measures


async def _costs(data: Path, limit: int, seed: int, wanted: str, show: Show) -> list[Measure]:
    """Measures the cost of `sets` against bounds, with an endpoint that first follows a candidate and then answers.

    For comparison also `sets` with an endpoint that answers at once, and `arog`, both without bounds.
    """
    runs = [(bound, f"{bound.name}, sets", "sets", True) for bound in (*BOUNDS, ONE_HOP)]
    for bound in BOUNDS:
        runs += [(bound, f"{bound.name}, sets, answered at once", "sets", False)]
        runs += [(bound, f"{bound.name}, arog", "arog", False)]
    chosen = [run for run in runs if wanted in run[1].casefold()]
    measures: list[Measure] = []
    if chosen:
        endpoint = ScriptedEndpoint()
        async with asking(data, limit, seed, show, "scripted", endpoint, TO_THE_MODEL) as asker:
            for bound, title, strategy, is_bounded in chosen:
                endpoint.at_once = title.endswith("at once")
                asked = await asker.ask_set(title, bound.source, is_planned, strategy)
                measures += _cost_measures(title, bound if is_bounded else None, asked)
    return measures


def _cost_measures(title: str, bound: CostBound | None, asked: AskedSample) -> list[Measure]:
    """Returns the lines of one run; without a bound it is a single line."""
    outcomes, count, right = asked.outcomes, len(asked.outcomes), mean_hits(asked.outcomes)
    tokens = mean([float(each.prompt_tokens + each.completion_tokens) for each in outcomes])
    if bound is None:
        reached = f"{_mean_calls(outcomes):.2f} calls, {tokens:,.0f} tokens, accuracy {right:.3f}"
        return [Measure(name=title, questions=count, reached=reached)]
    most = max((outcome.calls for outcome in outcomes), default=0)
    calls = [
        at_most(f"{title}: calls, mean", count, _mean_calls(outcomes), bound.calls, "{:.2f}"),
        at_most(f"{title}: calls, most", count, most, bound.most_calls, "{:.0f}"),
    ]
    if bound is ONE_HOP:
        return calls
    median = percentile([outcome.local_ms for outcome in outcomes if not outcome.problem], 0.5)
    accuracy = Measure(
        name=f"{title}: accuracy",
        questions=count,
        bound="1.00",
        reached=f"{right:.3f}",
        passed=right >= MIN_RIGHT and asked.leaks == 0,
        f1=mean_f1(outcomes),
        leaks=asked.leaks,
    )
    return [
        accuracy,
        *calls,
        at_most(f"{title}: tokens, mean", count, tokens, bound.tokens, "{:,.0f}"),
        at_most(f"{title}: time outside the endpoint, median", count, median, bound.local_ms, "{:.1f} ms"),
    ]


def _mean_calls(outcomes: Sequence[QuestionOutcome]) -> float:
    return mean([float(outcome.calls) for outcome in outcomes])


async def _limits(data: Path, limit: int, seed: int, wanted: str, show: Show) -> list[Measure]:
    """Measures how much is still answered rightly if prompts may show less: a line for each limit and set."""
    measures: list[Measure] = []
    for name, source in LIMITED_SETS.items():
        best: dict[str, float] = {}
        for each in LIMITS:
            title = f"{name}, limit, {each.reasoner}: {each.words}"
            if wanted not in title.casefold():
                continue
            changes = {"profile": each.profile, "disclosure": each.disclosure}
            async with asking(data, limit, seed, show, each.reasoner, _reader_of(each), changes) as asker:
                outcomes = (await asker.ask_set(title, source, is_planned)).outcomes
            measures.append(_limited(title, each, outcomes, best.get(each.reasoner)))
            best.setdefault(each.reasoner, mean_hits(outcomes))
    return measures


def _reader_of(limit: Limit) -> ScriptedEndpoint | None:
    """Returns the endpoint that can read the prompts of this limit.

    Strict prompts lack the question's text, by which a plan's topics are told apart; `PathReader` uses their path
    instead.
    """
    if limit.reasoner != "scripted":
        return None
    return PathReader() if limit.profile == "strict" else ScriptedEndpoint()


def _limited(title: str, limit: Limit, outcomes: Sequence[QuestionOutcome], best: float | None) -> Measure:
    right, refused = mean_hits(outcomes), mean([float(not outcome.answered) for outcome in outcomes])
    is_kept = best is None or (right >= best - MAX_LOST - 1e-9 and refused <= MAX_REFUSED)
    return Measure(
        name=title,
        questions=len(outcomes),
        bound=f"at most {100 * MAX_LOST:g} points lost, {MAX_REFUSED:.0%} refused" if limit.bounded else "",
        reached=f"accuracy {right:.3f}, {refused:.1%} refused, {_mean_calls(outcomes):.2f} calls",
        passed=is_kept or not limit.bounded,
    )


async def _with_faults(data: Path, folder: Path, count: int, seed: int, show: Show) -> Measure:
    """Checks that faulty replies end each question rightly, refused or in a typed error, and leave nothing open."""
    converted = _converted(PQ_3H, data, folder / "faults")
    questions = sample(read_questions(converted.questions), count, seed)
    report = await run_with_faults(
        [converted.graph], None, questions, seed=seed, progress=lambda done: show(FAULTS, done, len(questions))
    )
    bad = f"{report.wrong} wrong, {report.late} late, {report.logged.total()} logged, {report.left.total()} left"
    return Measure(
        name=f"PQ-3H, {FAULT_SHARE:.0%} of the replies with faults",
        questions=report.asked,
        bound="right, refused or a typed error",
        reached=f"{report.right} right, {report.refused} refused, {report.errors.total()} typed errors; {bad}",
        passed=report.passed,
        leaks=report.leaks,
    )


async def _at_once(data: Path, folder: Path, workers: int, show: Show) -> Measure:
    converted = _converted(PQ_2H, data, folder / "load")
    show(LOAD, 0, CHATS)
    shown = propose_policy([converted.graph]).model_copy(update={"show_relations": "all", "show_classes": "all"})
    report = await run_load(converted.graph, shown.to_toml(), read_questions(converted.questions)[0], workers)
    return Measure(
        name=f"{report.chats} chats at once, {workers} workers, time to the ideal",
        questions=report.chats,
        bound=f"under {MAX_TIMES_IDEAL:g}",
        reached=f"{report.ratio:.2f} ({report.seconds:.1f} s, of a processor {report.spent_s:.1f} s), "
        f"{report.answered} answered",
        passed=report.passed,
    )


def _converted(source: str, data: Path, folder: Path) -> Converted:
    name, _, file = source.partition(":")
    return convert(name, data / file, folder)


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Counts of questions by how they ended while replies had faults.

    `wrong` answers differ from gold; `late` ones took longer than the deadline. `errors` counts typed errors; `logged`
    error records in the log, by logger; `left` tasks and requests that were not cleaned up.
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
        """Returns True if nothing went wrong: no wrong, late or leaking answer, and every error a typed one."""
        bad = self.wrong or self.late or self.leaks or self.logged.total() or self.left.total()
        typed = {each.__name__ for each in _subclasses(ReasonerError)}
        return not bad and set(self.errors) <= typed and self.right + self.refused + self.errors.total() == self.asked


async def run_with_faults(
    graph: Sequence[Path],
    policy: str | None,
    questions: Sequence[Question],
    *,
    share: float = FAULT_SHARE,
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
            endpoint.share = share  # set only now, so that the probe of the endpoint meets no fault
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
    """The number of requests still open after their callers have gone; the server has two seconds to notice."""
    for _ in range(200):
        if not endpoint.open:
            return 0
        await asyncio.sleep(0.01)
    return endpoint.open


@contextmanager
def _errors_logged() -> Iterator[Counter[str]]:
    """Counts error records by logger; exceptions that nobody caught or awaited are logged too."""
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


CHATS: Final = 200
LATENCY_S: Final = 2.0
MAX_TIMES_IDEAL: Final = 1.5
_FIRST_CHATS: Final = 8
_MANY: Final = {
    "REASONER": "endpoint",
    "ENDPOINT_MODEL": "scripted",
    "ENDPOINT_USE": "always",
    "DISCLOSURE": "tell",
    "REQUESTS_PER_MINUTE": str(NO_LIMIT),
    "NAMES_PER_DAY": str(NO_LIMIT),
}
"""Settings of the service that many chats ask at once: nothing but the work itself holds them up."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The result of many chats begun together. `ideal_s` is how long one chat waits for the endpoint.

    `spent_s`: the processor time of the service.
    """

    chats: int
    answered: int
    calls: int
    seconds: float
    ideal_s: float
    spent_s: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.ideal_s

    @property
    def passed(self) -> bool:
        return self.answered == self.chats and self.ratio < MAX_TIMES_IDEAL


async def run_load(
    graph: Path, policy: str, question: Question, workers: int, chats: int = CHATS, latency_s: float = LATENCY_S
) -> LoadReport:
    """Asks one question (with its plan) `chats` times at once, each in its own conversation, of a service apart.

    The service has so many workers. The endpoint runs in another process too, as models do.
    """
    key = secrets.token_urlsafe(32)
    with (
        _endpoint_apart(question, latency_s) as url,
        tempfile.TemporaryDirectory(prefix="arog-load-") as folder,
        service_process(Path(folder), **_MANY, ADMIN_KEY=key, ENDPOINT_URL=url, WORKERS=str(workers)) as service,
    ):
        async with calling(service, key, chats) as http:
            await load_graph(http, graph, policy)
            # The first questions open the graph and embed its words; a service that has run for a while is measured.
            await asyncio.gather(*(_chat(http, question) for _ in range(_FIRST_CHATS * workers)))
            before, began = sum(spent_by(service).seconds), time.perf_counter()
            found = await asyncio.gather(*(_chat(http, question) for _ in range(chats)))
            seconds, spent = time.perf_counter() - began, sum(spent_by(service).seconds) - before
    calls = max(calls for _, calls in found)
    return LoadReport(chats, sum(answered for answered, _ in found), calls, seconds, calls * latency_s, spent)


@contextmanager
def _endpoint_apart(question: Question, latency_s: float) -> Iterator[str]:
    """Runs a scripted endpoint in another process and yields its base URL."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, question, latency_s), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(pipe: Connection, question: Question, latency_s: float) -> None:
    with ScriptedEndpoint(counts_tokens=True, remembers=False, latency_s=latency_s) as endpoint:
        endpoint.expect(question.plans[-1], question.texts[-1])
        pipe.send(endpoint.url)
        pipe.recv()


async def _chat(http: httpx2.AsyncClient, question: Question) -> tuple[bool, int]:
    """Asks one question; returns True if it was answered, and the number of calls."""
    dialogue = Dialogue("graph", KeyPair.generate(), "sets", {"suggestions": 0})
    request = dialogue.request(question.texts[-1], None, {})
    reply = await http.post("/chat", json=request.model_dump(mode="json", exclude_none=True))
    answer = ChatAnswer.model_validate_json(reply.raise_for_status().content)
    return answer.answered, answer.usage.calls
