"""One evaluation: a throw-away data folder, the real loader and service, questions asked, every byte scanned."""

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
from kg_store.sources.policy import Policy
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Schema

QuestionT = TypeVar("QuestionT")
ReasonerName = Literal["embedded", "scripted", "endpoint"]
Progress = Callable[[str, float], None]

TENANT = "evaluation"
TO_THE_MODEL = {"disclosure": "tell"}
"""Changes for runs that measure an endpoint: every prompt reaches it, however few fit what it shows."""

NO_LIMIT: Final = 1_000_000_000
"""Names of a day: a run asks more than any person, by one key."""

CALLER = Caller(TENANT, "evaluation", "user", frozenset({EVERY_GRAPH}))

# Header lines that any HTTP client sends of itself; all others of a request are scanned like its body.
_TRANSPORT_LINES = frozenset(
    {
        "post /v1/chat/completions http/1.1", "host", "connection", "accept", "accept-encoding", "accept-language",
        "user-agent", "content-type", "content-length", "authorization",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the reasoner was asked, and what it replied; `scores` of the reading that it followed."""

    asked: TaskModel
    reply: TaskModel
    scores: ReadingScores | None = None


class RecordingReasoner:
    """Passes everything on to `inner`. For public data only: what it keeps stays in memory, unsealed.

    `steps` are those since the last `begin`, so that a long run keeps one turn's tasks and no more; `processor_s` is
    the processor time that the whole process took for them.
    """

    def __init__(self, inner: Reasoner) -> None:
        self._inner = inner
        self.sent: list[bytes] = []
        self.steps: list[Step] = []
        self.processor_s = 0.0

    def begin(self) -> None:
        """A turn begins: the steps of the one before are forgotten."""
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
"""Sees each question, what came of it, and what its last turn asked of the reasoner."""


def ignore_outcome(
    _question: Question, _outcome: QuestionOutcome, _answer: Answer | None, _steps: Sequence[Step]
) -> None:
    """For runs that nobody looks into."""


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A graph that was loaded, and what of it the reasoner must never see."""

    graph: str
    secrets: frozenset[str] = field(repr=False)
    policy: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChatByStrategy:
    """Two services over the same graphs: strategies that need an open profile ask `opened`, all others `own`."""

    own: ChatService
    opened: ChatService

    @classmethod
    def around(cls, chat: ChatService) -> ChatByStrategy:
        """`chat` as its settings say, and beside it one that tells all and withholds nothing."""
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
    """The service as it is deployed, but for its budget of names, in a folder that is deleted at the end. For public
    data only.

    `scripted` starts an endpoint on loopback that answers by each question's plan; `endpoint` is the one of the
    AROG_ENDPOINT_ settings. `least_score` is another threshold for the embedded reasoner, `answers_unsure` has
    it answer what it would refuse, `scripted` is another such endpoint, `changes` are other settings,
    `read_back` another reader of a model's sentences. Opened, asked and closed in one event loop, as its connections
    are the loop's.
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
        """Everything that reached the reasoner so far."""
        return self.sent_from(0)

    @property
    def sent_so_far(self) -> int:
        """The number of those requests."""
        return len(self._recorder.sent if self._scripted is None else self._scripted.received)

    def sent_from(self, first: int) -> list[bytes]:
        """The requests from that one on: as sent where there is a wire, else as they were handed to the reasoner."""
        if self._scripted is None:
            return self._recorder.sent[first:]
        requests = self._scripted.received[first:]
        return [part for received in requests for part in (_own_headers(received.head), received.body)]

    @property
    def scorer(self) -> PathScorer:
        """The embedded reasoner's own."""
        return self.embedded.scorer

    @property
    def embedded(self) -> EmbeddedReasoner:
        """The reasoner that is measured, behind the recorder. Raises ValueError where it is another one."""
        if not isinstance(self._reasoner, EmbeddedReasoner):
            raise ValueError("this bench has another reasoner than the embedded one")
        return self._reasoner

    @property
    def endpoints(self) -> Sequence[ModelEndpoint]:
        """The endpoints that the reasoner asks; none for the embedded one."""
        return self.services.thinking.endpoints

    @property
    def contract_breaks(self) -> list[str]:
        """The scripted endpoint's complaints about requests; empty for other reasoners."""
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
        """Loads `sources` through the real loader, by the proposed policy where none is given. They are public, and
        their owner here: all relations and classes are shown. `masks`: what a load masks by itself stays masked."""
        given = propose_policy(sources) if policy is None else Policy.from_toml(policy)
        shown = {} if masks else {"show_relations": "all", "show_classes": "all"}
        used = given.model_copy(update=shown).to_toml()
        self.services.graphs.load(TENANT, name, sources, used).run(progress)
        return LoadedSet(name, frozenset(secret_names(sources, used)), used)

    def graph(self, loaded: LoadedSet) -> PrivateGraph:
        """A loaded graph, as the service has it."""
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
        """Asks `questions` one after the other, and scans what reached the reasoner meanwhile."""
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
        # What a load begins in the background is no part of a question.
        await asyncio.to_thread(self.services.thinking.wait_until_warm)
        outcomes = await asking.ask_all(questions, progress)
        findings = self.scanner(loaded).scan(self.sent_from(first))
        return summarise(label, outcomes, findings, len(loaded.secrets)), outcomes

    def _expect(self, plan: QueryPlan | None, typed: str) -> None:
        self._recorder.begin()
        if self._scripted:
            self._scripted.expect(plan, typed)

    def scanner(self, loaded: LoadedSet, planted: Iterable[str] = ()) -> LeakScanner:
        """Looks for the graph's names and values, and for what else was `planted`. Made once for each version."""
        graph = self.graph(loaded)
        wanted = (graph.version, frozenset((*loaded.secrets, *planted)))
        if wanted not in self._scanners:
            public = _public_texts(graph.blind.schema, self.services.thinking.kinds, self._recorder)
            self._scanners[wanted] = LeakScanner(wanted[1], public)
        return self._scanners[wanted]


def sample(questions: Sequence[QuestionT], limit: int | None, seed: int) -> list[QuestionT]:
    """`limit` questions drawn without replacement, in their order; all of them without a limit."""
    if limit is None or limit >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), limit)  # noqa: S311  # a sample, no secret  # nosec B311
    return [questions[position] for position in sorted(drawn)]


def _names_in(graph: PrivateGraph, text: str) -> frozenset[str]:
    """Every name of everything that `text` names, by the graph's own linker."""
    mentions = graph.linker.find_mentions(text) or graph.linker.find_unmarked(text, graph.public)
    records = graph.vault.records([mid for mention in mentions for mid in mention.mids]).values()
    return frozenset(name for record in records for name in (*record.names, record.lexical) if name is not None)


def _public_texts(schema: Schema, kinds: Iterable[TaskKind[Any]], recorder: RecordingReasoner) -> set[str]:
    """Texts of a request that name nothing of a graph, whatever is asked: relation words, concepts, instructions,
    field names."""
    texts = set(phrases_of(schema))
    for kind in kinds:
        # Line by line, for all dialects have most lines in common.
        texts |= {line for part in recorder.statics_of(kind) for line in part.decode().split("\\n")}
        texts.add(str(kind.instructions))
    texts |= {str(asked.model_json_schema()) for asked, _, _ in TASKS.values()}
    return texts | set(get_args(Size))


def _own_headers(head: bytes) -> bytes:
    """The lines of a request's head that any HTTP client does not send of itself."""
    lines = head.decode("latin-1").split("\r\n" if b"\r\n" in head else "\n")
    kept = [line for line in lines if line.partition(":")[0].strip().lower() not in _TRANSPORT_LINES]
    # Constant words of the OpenAI package: language, version, platform.
    return "\n".join(line for line in kept if not line.lower().startswith("x-stainless")).encode()


def _settings(folder: Path, reasoner: ReasonerName, scripted: ScriptedEndpoint | None) -> Settings:
    """Settings of their own: of the environment's, only the endpoint, the embedder and its head are taken."""
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
