"""One evaluation: ask the real service, in a temporary folder, and scan every byte that reaches its reasoner."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

from pydantic import SecretStr

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.api.problems import error_body
from app.chat.question_run import OPEN_PROFILE_STRATEGIES, OnStage, ReadBack, no_progress
from app.chat.service import ChatService
from app.egress.disclosure import Profile
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.in_house import ReadingScores
from app.llm.reasoner import Reasoner, Reply, Retry
from app.llm.tasks import ReplyT, Size, Task, TaskKind, TaskModel
from app.privacy.safe_text import Egress
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.reader.scoring.path_scoring import PathScorer
from app.settings import Settings, load_settings
from app.wiring.endpoints import probe_all
from app.wiring.services import Services, build, think
from client_sdk.answers.answer import Answer
from client_sdk.protocol import ChatAnswer, ChatRequest
from evaluation.bench.report import Asking, QuestionOutcome, Report, RunLabel, summarise
from evaluation.checks.leak_scan import LeakScanner, secret_names
from evaluation.datasets.questions import QueryPlan, Question
from evaluation.fakes.contract import TASKS
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.catalog import PrivateGraph
from kg_store.graph.schema import phrases_of
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import BudgetPolicy, Policy
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Schema

QuestionT = TypeVar("QuestionT")
ReasonerName = Literal["embedded", "scripted", "endpoint"]
Progress = Callable[[str, float], None]

TENANT = "evaluation"
TO_THE_MODEL = {"disclosure": "tell"}
"""Settings for runs that measure an endpoint: every prompt is sent, even if only few entities fit what it shows."""

NO_LIMIT: Final = 1_000_000_000
"""Budget of names per day: one key of a run asks more than any person does."""

CALLER = Caller(TENANT, "evaluation", "user", frozenset({EVERY_GRAPH}))

# Header lines that every HTTP client sends; all other header lines are scanned like the body.
_TRANSPORT_LINES = frozenset(
    {
        "post /v1/chat/completions http/1.1", "host", "connection", "accept", "accept-encoding", "accept-language",
        "user-agent", "content-type", "content-length", "authorization",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One task that the reasoner was given, with its reply.

    `scores` are those of the embedded reasoner's reading of the question; None if another reasoner replied.
    """

    asked: TaskModel
    reply: TaskModel
    scores: ReadingScores | None = None


class RecordingReasoner:
    """A reasoner that passes every task on to `inner` and records it in memory, unencrypted: for public data only.

    `steps` are the tasks since the last `begin`, so that a long run keeps only one turn's; `processor_s` is the
    processor time of the whole process while they ran.
    """

    def __init__(self, inner: Reasoner) -> None:
        self._inner = inner
        self.sent: list[bytes] = []
        self.steps: list[Step] = []
        self.processor_s = 0.0

    def begin(self) -> None:
        """Begins a turn by forgetting the steps of the turn before."""
        self.steps, self.processor_s = [], 0.0

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return self._inner.statics_of(kind)

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return self._inner.egress_of(task)

    @property
    def longest_reply(self) -> int:
        return self._inner.longest_reply

    @property
    def is_capable(self) -> bool:
        return self._inner.is_capable

    def tokens_in(self, egress: Egress) -> int:
        return self._inner.tokens_in(egress)

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        self.sent.append(egress.body)
        began = time.process_time()
        try:
            reply = await self._inner.reply_to(task, egress)
        finally:
            self.processor_s += time.process_time() - began
        if isinstance(reply, Reply):
            self.steps.append(Step(task.input, reply.value, reply.scores))
        return reply


See = Callable[[Question, QuestionOutcome, Answer | None, Sequence[Step]], None]
"""Is called with each question, its outcome, its answer, and the steps of the reasoner in its last turn."""


def ignore_outcome(
    _question: Question, _outcome: QuestionOutcome, _answer: Answer | None, _steps: Sequence[Step]
) -> None:
    """Does nothing with an outcome."""


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A loaded graph, with the names and values of it that the reasoner must never see."""

    graph: str
    secrets: frozenset[str] = field(repr=False)
    policy: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChatByStrategy:
    """Two services over the same graphs: `own` with the bench's settings, `opened` with the profile "open".

    The profile "open" lets prompts show relations of single things; `opened` answers the strategies that need this.
    """

    own: ChatService
    opened: ChatService

    @classmethod
    def around(cls, chat: ChatService) -> ChatByStrategy:
        """Returns `chat` as `own`, and as `opened` a copy of it with the profile "open" that holds back no prompt."""
        disclosure = dataclasses.replace(chat.options.disclosure, policy="tell")
        options = dataclasses.replace(chat.options, profile=Profile.OPEN, disclosure=disclosure)
        return cls(chat, chat.with_options(options))

    @property
    def strategies(self) -> list[str]:
        return self.opened.strategies

    async def answer(self, caller: Caller, request: ChatRequest, on_stage: OnStage = no_progress) -> ChatAnswer:
        chat = self.opened if request.strategy in OPEN_PROFILE_STRATEGIES else self.own
        return await chat.answer(caller, request, on_stage)


class Bench:
    """The service as deployed, without a budget of names, in a folder that is deleted at the end. For public data.

    `reasoner` is `embedded`, `scripted` (an endpoint on loopback that answers by each question's plan), or `endpoint`
    (that of the AROG_ENDPOINT_ settings). The argument `scripted` replaces that scripted endpoint, `least_score` the
    threshold of the embedded reasoner, `read_back` the reader of a model's sentences. With `answers_unsure` the
    embedded reasoner answers what it would refuse. `changes` are other settings. Open, use and close a bench in one
    event loop, which owns its connections.
    """

    def __init__(
        self,
        reasoner: ReasonerName = "embedded",
        *,
        least_score: float | None = None,
        answers_unsure: bool = False,
        scripted: ScriptedEndpoint | None = None,
        changes: Mapping[str, object] | None = None,
        read_back: ReadBack | None = None,
    ) -> None:
        self._name, self._changes, self._read_back = reasoner, changes or {}, read_back
        self._least_score, self._answers_unsure = least_score, answers_unsure
        self._folder = tempfile.TemporaryDirectory(prefix="arog-evaluation-")
        self._scanners: dict[tuple[str, frozenset[str]], LeakScanner] = {}
        self._scripted = (scripted or ScriptedEndpoint()) if reasoner == "scripted" else None

    async def __aenter__(self) -> Bench:
        if self._scripted:
            self._scripted.__enter__()
        settings = _settings(Path(self._folder.name), self._name, self._scripted).model_copy(update=self._changes)
        thinking = think(settings)
        await probe_all(thinking.endpoints)
        if isinstance(thinking.reasoner, EmbeddedReasoner):
            thinking.reasoner.answers_unsure = self._answers_unsure
            if self._least_score is not None:
                thinking.reasoner.least_score = self._least_score
        self._reasoner = thinking.reasoner
        self._recorder = RecordingReasoner(thinking.reasoner)
        recorded = dataclasses.replace(
            thinking, reasoner=self._recorder, read_back=self._read_back or thinking.read_back
        )
        services = build(settings, error_body, recorded)
        chat = ChatByStrategy.around(services.chat) if isinstance(services.chat, ChatService) else services.chat
        self.services: Services = dataclasses.replace(services, chat=chat)
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.services.close()
        if self._scripted:
            self._scripted.__exit__()
        self._folder.cleanup()

    @property
    def sent(self) -> Sequence[bytes]:
        """Returns everything that reached the reasoner so far."""
        return self.sent_from(0)

    @property
    def sent_so_far(self) -> int:
        """Returns the number of requests that reached the reasoner so far."""
        return len(self._recorder.sent if self._scripted is None else self._scripted.received)

    def sent_from(self, first: int) -> list[bytes]:
        """The requests from number `first` on, as sent to a scripted endpoint or handed to another reasoner."""
        if self._scripted is None:
            return self._recorder.sent[first:]
        requests = self._scripted.received[first:]
        return [part for received in requests for part in (_own_headers(received.head), received.body)]

    @property
    def scorer(self) -> PathScorer:
        """Returns the path scorer of the embedded reasoner."""
        return self.embedded.scorer

    @property
    def embedded(self) -> EmbeddedReasoner:
        """Returns the reasoner behind the recorder. Raises ValueError if it is not the embedded one."""
        if not isinstance(self._reasoner, EmbeddedReasoner):
            raise ValueError("this bench has another reasoner than the embedded one")
        return self._reasoner

    @property
    def endpoints(self) -> Sequence[ModelEndpoint]:
        """Returns the endpoints that the reasoner asks; none for the embedded one."""
        return self.services.thinking.endpoints

    @property
    def contract_breaks(self) -> list[str]:
        """Returns the scripted endpoint's complaints about requests; empty for other reasoners."""
        return self._scripted.contract_breaks if self._scripted else []

    def load(
        self,
        name: str,
        sources: Sequence[Path],
        policy: str | None,
        progress: Progress = lambda _step, _percent: None,
        *,
        masks: bool = False,
    ) -> LoadedSet:
        """Loads `sources` through the real loader, by `policy` or else by the policy that is proposed for them.

        Public data need no protection of their schema, so all relations and classes are shown; with `masks`, those
        that the loader would hide behind opaque words are hidden.
        """
        given = propose_policy(sources) if policy is None else Policy.from_toml(policy)
        shown = {} if masks else {"show_relations": "all", "show_classes": "all"}
        # The settings of the bench limit how many names are read, or the defaults, where an attack asks for these.
        used = given.model_copy(update={**shown, "budget": BudgetPolicy()}).to_toml()
        self.services.graphs.load(TENANT, name, sources, used).run(progress)
        return LoadedSet(name, frozenset(secret_names(sources, used)), used)

    def graph(self, loaded: LoadedSet) -> PrivateGraph:
        """Returns a loaded graph as the service has it."""
        return self.services.store.catalog.open(TENANT, loaded.graph)

    async def ask(
        self,
        loaded: LoadedSet,
        label: RunLabel,
        questions: Sequence[Question],
        options: Mapping[str, int] | None = None,
        progress: Callable[[int], None] = lambda _done: None,
        see: See = ignore_outcome,
    ) -> tuple[Report, list[QuestionOutcome]]:
        """Asks `questions` one after the other and scans what reached the reasoner; returns report and outcomes."""
        graph = self.graph(loaded)
        first = self.sent_so_far
        asking = Asking(
            chat=self.services.chat,
            caller=CALLER,
            graph=loaded.graph,
            strategy=label.strategy,
            options=options or {},
            names=lambda text: _names_in(graph, text),
            expect=self._expect,
            reasoner_processor_s=lambda: self._recorder.processor_s,
            watch=lambda question, outcome, answer: see(question, outcome, answer, self._recorder.steps),
        )
        # Wait for background work of the load, so that it is not timed as part of a question.
        await asyncio.to_thread(self.services.thinking.wait_until_warm)
        outcomes = await asking.ask_all(questions, progress)
        findings = self.scanner(loaded).scan(self.sent_from(first))
        return summarise(label, outcomes, findings, len(loaded.secrets)), outcomes

    def _expect(self, plan: QueryPlan | None, typed: str) -> None:
        self._recorder.begin()
        if self._scripted:
            self._scripted.expect(plan, typed)

    def scanner(self, loaded: LoadedSet, planted: Iterable[str] = ()) -> LeakScanner:
        """Returns a scanner for the graph's names and values and for `planted` texts; kept for each graph version."""
        graph = self.graph(loaded)
        wanted = (graph.version, frozenset((*loaded.secrets, *planted)))
        if wanted not in self._scanners:
            public = _public_texts(graph.blind.schema, self.services.thinking.kinds, self._recorder)
            self._scanners[wanted] = LeakScanner(wanted[1], public)
        return self._scanners[wanted]


def sample(questions: Sequence[QuestionT], limit: int | None, seed: int) -> list[QuestionT]:
    """Returns `limit` questions drawn without replacement, in their order; all of them without a limit."""
    if limit is None or limit >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), limit)  # noqa: S311  # a sample, no secret  # nosec B311
    return [questions[position] for position in sorted(drawn)]


def _names_in(graph: PrivateGraph, text: str) -> frozenset[str]:
    """Returns every name of everything that `text` mentions, by the graph's own linker."""
    mentions = graph.linker.find_mentions(text) or graph.linker.find_unmarked(text, graph.public)
    records = graph.vault.records([mid for mention in mentions for mid in mention.mids]).values()
    return frozenset(name for record in records for name in (*record.names, record.lexical) if name is not None)


def _public_texts(schema: Schema, kinds: Iterable[TaskKind[Any]], recorder: RecordingReasoner) -> set[str]:
    """Returns texts of a request that name nothing of a graph: relation words, concepts, instructions, field names."""
    texts = set(phrases_of(schema))
    for kind in kinds:
        # Split into lines, because all dialects have most lines in common.
        texts |= {line for part in recorder.statics_of(kind) for line in part.decode().split("\\n")}
        texts.add(str(kind.instructions))
    texts |= {str(asked.model_json_schema()) for asked, _, _ in TASKS.values()}
    return texts | set(get_args(Size))


def _own_headers(head: bytes) -> bytes:
    """Returns the header lines of a request that not every HTTP client sends."""
    lines = head.decode("latin-1").split("\r\n" if b"\r\n" in head else "\n")
    kept = [line for line in lines if line.partition(":")[0].strip().lower() not in _TRANSPORT_LINES]
    # The OpenAI package sends these with constants: language, version, platform.
    return "\n".join(line for line in kept if not line.lower().startswith("x-stainless")).encode()


def _settings(folder: Path, reasoner: ReasonerName, scripted: ScriptedEndpoint | None) -> Settings:
    """Returns the environment's settings with a data folder, master key, reasoner and name budget of their own."""
    outer = load_settings()
    inner = outer.model_copy(
        update={
            "data_dir": folder,
            "database_url": None,
            "master_key": SecretStr(MasterKey.generate()),
            "master_key_file": None,
            "reasoner": "embedded" if reasoner == "embedded" else "endpoint",
            "names_per_day": NO_LIMIT,
        }
    )
    if scripted is None:
        return inner
    key = SecretStr("scripted")
    alone = {"endpoint_use": "alone", "endpoint_fallbacks": ()}
    return inner.model_copy(
        update={"endpoint_url": scripted.url, "endpoint_model": "scripted", "endpoint_api_key": key, **alone}
    )
