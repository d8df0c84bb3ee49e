"""One evaluation: a throw-away data folder, the real loader and service, questions asked, every byte scanned."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

from pydantic import SecretStr

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.api.problems import error_body
from app.chat.service import OPEN_ALONE, ChatService
from app.egress.disclosure_control import IN_THE_HOUSE
from app.egress.profile import Profile
from app.evaluation.bench.asker import Asking, QuestionOutcome
from app.evaluation.bench.report import Report, RunLabel, summarise
from app.evaluation.checks.leak_scan import LeakScanner
from app.evaluation.checks.secret_names import secret_names
from app.evaluation.datasets.questions import QueryPlan, Question
from app.evaluation.fakes.contract import TASKS
from app.evaluation.fakes.recording_reasoner import RecordingReasoner, Step
from app.evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from app.llm.embedded.embedded_reasoner import EmbeddedReasoner
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.tasks import Size
from app.settings import Settings, load_settings
from app.wiring.endpoints import probe_all
from app.wiring.services import ReasonerBundle, Services, build, think
from client_sdk.answers.answer import Answer
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import members_of
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import Policy
from kg_store.storage.master_key import MasterKey

ReasonerName = Literal["embedded", "scripted", "endpoint"]
Progress = Callable[[str, float], None]
See = Callable[[Question, QuestionOutcome, Answer | None, Sequence[Step]], None]
"""Sees each question, what came of it, and what its last turn asked of the reasoner."""

TENANT = "evaluation"
TO_THE_MODEL = {"disclosure": "tell"}
"""Changes for runs that measure an endpoint: every prompt reaches it, however few fit what it shows."""

CALLER = Caller(TENANT, "evaluation", "user", frozenset({EVERY_GRAPH}))
# Header lines that any HTTP client sends of itself; all others of a request are scanned like its body.
_TRANSPORT_LINES = frozenset(
    {
        "post /v1/chat/completions http/1.1", "host", "connection", "accept", "accept-encoding", "accept-language",
        "user-agent", "content-type", "content-length", "authorization",
    }
)  # fmt: skip


def unseen(_question: Question, _outcome: QuestionOutcome, _answer: Answer | None, _steps: Sequence[Step]) -> None:
    """For runs that nobody looks into."""


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A graph that was loaded, and what of it the reasoner must never see."""

    graph: str
    secrets: frozenset[str] = field(repr=False)
    policy: str = field(repr=False)


class Linked:
    """What a graph's own linker finds in a text, as names; and the names that it has."""

    def __init__(self, graph: PrivateGraph) -> None:
        self._graph = graph

    def names_in(self, text: str) -> frozenset[str]:
        linker = self._graph.linker
        mentions = linker.find_mentions(text) or linker.find_unmarked(text, self._graph.public)
        mids = [mid for mention in mentions for mid in mention.mids]
        records = self._graph.vault.records(mids)
        return frozenset(
            name for record in records.values() for name in (*record.names, record.lexical) if name is not None
        )

    def has(self, name: str) -> bool:
        """Whether anything in the graph has exactly this name."""
        return any(hit.start == 0 and hit.end == len(name) for hit in self._graph.names.find(name))

    def of_kind(self, concept: str) -> list[str]:
        """The first name of everything of one concept."""
        mids = members_of(self._graph.blind, concept).tolist()
        records = self._graph.vault.records(mids)
        return [records[mid].names[0] for mid in mids if mid in records and records[mid].names]


class Bench:
    """The service as it is deployed, in a folder that is deleted at the end. For public data only.

    `scripted` starts an endpoint on loopback that answers by each question's plan; `endpoint` is the one of the
    AROG_ENDPOINT_ settings. `least_score` is another threshold for the embedded reasoner, `scripted` another such
    endpoint, `changes` are other settings. Opened, asked and closed in one event loop, as its connections are the
    loop's.
    """

    def __init__(
        self,
        reasoner: ReasonerName = "embedded",
        *,
        counts_tokens: bool = False,
        least_score: float | None = None,
        scripted: ScriptedEndpoint | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> None:
        self._name, self._least_score, self._changes = reasoner, least_score, changes or {}
        self._folder = tempfile.TemporaryDirectory(prefix="arog-evaluation-")
        self._scripted = (scripted or ScriptedEndpoint(counts_tokens)) if reasoner == "scripted" else None

    async def __aenter__(self) -> Bench:
        if self._scripted:
            self._scripted.__enter__()
        settings = _settings(Path(self._folder.name), self._name, self._scripted).model_copy(update=self._changes)
        thinking = think(settings)
        await probe_all(thinking.endpoints)
        if self._least_score is not None and isinstance(thinking.reasoner, EmbeddedReasoner):
            thinking.reasoner.least_score = self._least_score
        self._reasoner = thinking.reasoner
        self._recorder = RecordingReasoner(thinking.reasoner)
        self._scorer = _scorer_of(thinking, settings)
        self._profile = Profile(settings.told)
        self._services: Services = build(settings, error_body, dataclasses.replace(thinking, reasoner=self._recorder))
        chat = self._services.chat
        self._disclosure = chat.disclosure if isinstance(chat, ChatService) else IN_THE_HOUSE
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._services.close()
        if self._scripted:
            self._scripted.__exit__(kind, error, trace)
        self._folder.cleanup()

    @property
    def services(self) -> Services:
        return self._services

    @property
    def sent(self) -> Sequence[bytes]:
        """Everything that reached the reasoner so far."""
        return self.sent_from(0)

    @property
    def sent_so_far(self) -> int:
        """How many requests that were."""
        return len(self._recorder.sent if self._scripted is None else self._scripted.received)

    def sent_from(self, first: int) -> list[bytes]:
        """What reached the reasoner from that request on: at the wire where there is one, else what it was handed."""
        if self._scripted is None:
            return self._recorder.sent[first:]
        requests = self._scripted.received[first:]
        return [part for received in requests for part in (_own_headers(received.head), received.body)]

    @property
    def scorer(self) -> PathScorer:
        """Scores paths as the embedded reasoner does; for other reasoners, as it would."""
        return self._scorer()

    @property
    def embedded(self) -> EmbeddedReasoner:
        """The reasoner that is measured, behind the recorder. Raises ValueError where it is another one."""
        if not isinstance(self._reasoner, EmbeddedReasoner):
            raise ValueError("this bench has another reasoner than the embedded one")
        return self._reasoner

    @property
    def endpoints(self) -> Sequence[ModelEndpoint]:
        """The endpoints that the reasoner asks; none for the embedded one."""
        return self._services.thinking.endpoints

    @property
    def contract_breaks(self) -> list[str]:
        """What the scripted endpoint had against requests; empty for other reasoners."""
        return self._scripted.contract_breaks if self._scripted else []

    def load(
        self,
        name: str,
        sources: Sequence[Path],
        policy: str | None,
        progress: Progress = lambda _step, _percent: None,
    ) -> LoadedSet:
        """Loads `sources` through the real loader, by the proposed policy where none is given. They are public, and
        their owner here: all relations and classes are shown."""
        given = propose_policy(sources) if policy is None else Policy.from_toml(policy)
        used = given.model_copy(update={"show_relations": "all", "show_classes": "all"}).to_toml()
        self._services.graphs.load(TENANT, name, sources, used).run(progress)
        return LoadedSet(name, frozenset(secret_names(sources, used)), used)

    def graph(self, loaded: LoadedSet) -> PrivateGraph:
        """A loaded graph, as the service has it."""
        return self._services.store.catalog.open(TENANT, loaded.graph)

    def allow(self, strategy: str) -> None:
        """Lets questions be asked by `strategy`: what needs an open profile gets one, all others the settings' own."""
        if isinstance(chat := self._services.chat, ChatService):
            is_open = strategy in OPEN_ALONE
            chat.profile = Profile.OPEN if is_open else self._profile
            chat.disclosure = dataclasses.replace(self._disclosure, policy="tell") if is_open else self._disclosure

    async def ask(
        self,
        loaded: LoadedSet,
        label: RunLabel,
        questions: Sequence[Question],
        options: Mapping[str, int] | None = None,
        progress: Callable[[int], None] = lambda _done: None,
        see: See = unseen,
    ) -> tuple[Report, list[QuestionOutcome]]:
        """Asks `questions` one after the other, and scans what reached the reasoner meanwhile."""
        graph = self.graph(loaded)
        first = self.sent_so_far
        self.allow(label.strategy)
        asking = Asking(
            chat=self._services.chat,
            caller=CALLER,
            graph=loaded.graph,
            strategy=label.strategy,
            options=options or {},
            names=Linked(graph),
            expect=self._expect,
            watch=lambda question, outcome, answer: see(question, outcome, answer, self._recorder.steps),
        )
        outcomes = await asking.ask_all(questions, progress)
        findings = self.scanner(loaded).scan(self.sent_from(first))
        return summarise(label, outcomes, findings, len(loaded.secrets)), outcomes

    def _expect(self, plan: QueryPlan | None, typed: str) -> None:
        self._recorder.begin()
        if self._scripted:
            self._scripted.expect(plan, typed)

    def scanner(self, loaded: LoadedSet, planted: Iterable[str] = ()) -> LeakScanner:
        """Looks for the graph's names and values, and for what else was `planted`."""
        return LeakScanner((*loaded.secrets, *planted), self._public_texts(self.graph(loaded)))

    def _public_texts(self, graph: PrivateGraph) -> set[str]:
        """Words that a request holds whatever is asked: relation words, concepts, instructions, field names."""
        schema = graph.blind.schema
        texts = {text for relation in schema.relations for text in (relation.label, relation.inverse_label)}
        texts |= {relation.description for relation in schema.relations}
        texts |= {str(concept) for concept in schema.concepts}
        texts |= {word for signature in schema.signatures for word in signature.classes}
        for kind in self._services.thinking.kinds:
            # Line by line, for all dialects have most lines in common.
            texts |= {line for part in self._recorder.statics_of(kind) for line in part.decode().split("\\n")}
            texts.add(str(kind.instructions))
        for asked, _, _ in TASKS.values():
            texts.add(asked.model_json_schema().__str__())
        return texts | set(get_args(Size))


def sample(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """`limit` questions drawn without replacement, in their order; all of them without a limit."""
    if limit is None or limit >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), limit)  # noqa: S311  # a sample, no secret  # nosec B311
    return [questions[position] for position in sorted(drawn)]


def _scorer_of(thinking: ReasonerBundle, settings: Settings) -> Callable[[], PathScorer]:
    """The embedded reasoner's own scorer; for other reasoners one that is built when it is first asked for."""
    reasoner = thinking.reasoner
    if isinstance(reasoner, EmbeddedReasoner):
        return lambda: reasoner.scorer
    return cache(lambda: PathScorer(Embedder(settings.embedder)))


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
        }
    )
    if scripted is None:
        return inner
    key = SecretStr("scripted")
    return inner.model_copy(
        update={"endpoint_url": scripted.url, "endpoint_model": "scripted", "endpoint_api_key": key}
    )


def _own_headers(head: bytes) -> bytes:
    lines = head.decode("latin-1").split("\r\n" if b"\r\n" in head else "\n")
    kept = [line for line in lines if line.partition(":")[0].strip().lower() not in _TRANSPORT_LINES]
    # Constant words of the OpenAI package: language, version, platform.
    return "\n".join(line for line in kept if not line.lower().startswith("x-stainless")).encode()
