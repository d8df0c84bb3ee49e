"""The real service without a model: a small graph, and a reasoner and a strategy that follow one relation."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from fastapi import FastAPI
from pydantic import SecretStr

from app.api.problems import error_body
from app.api.state import state_of
from app.chat.conversations import RetentionDays, purge_expired
from app.llm.reasoner import Reply
from app.llm.tasks import ReplyT, StepInput, Task, TaskKind
from app.main import build_services, create_app
from app.privacy.safe_text import Egress, Segment
from app.settings import Settings
from app.strategies.base import Draft, RetrievalResult, StrategyInput
from app.strategies.sets.prompts import STEP
from app.telemetry.logs import start_logging
from app.wiring.services import ReasonerBundle, Services, build
from app.wiring.store import ServiceContext
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Schema
from tests.support.languages import english

OPERATOR_KEY = secrets.token_urlsafe(32)
CLINIC = """
@prefix : <http://clinic.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 rdfs:label "Valdis Ozolkrasts" ; :treatedBy :p2 ; :livesIn :c1 .
:p2 rdfs:label "Quenby Thistlewood" ; :livesIn :c1 .
:c1 rdfs:label "Zemgalburg" .
"""
SECRET_NAMES = ("Valdis Ozolkrasts", "Valdis", "Ozolkrasts", "Quenby Thistlewood", "Thistlewood", "Zemgalburg")
QUESTION = "Who is Valdis Ozolkrasts treated by?"


@dataclass(slots=True)
class ScriptedReasoner:
    """Implements Reasoner: keeps every byte that it is sent, and calls `before` and waits before it replies."""

    sent: list[bytes] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    wait: asyncio.Event | None = None
    text: str = "It is {1}."
    words: str | None = None
    given_up: int = 0

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return (b"instructions of " + kind.name.encode(),)

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        static = Segment(self.statics_of(task.kind)[0], static=True)
        return Egress((static, Segment(task.input.model_dump_json().encode())))

    @property
    def longest_reply(self) -> int:
        return 50

    @property
    def is_capable(self) -> bool:
        return True

    def tokens_in(self, egress: Egress) -> int:
        return len(egress.body.split())

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        self.sent.append(egress.body)
        self.before()
        if self.wait is not None:
            try:
                await self.wait.wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        reply = {"path": [], "action": "answer", "choices": [], "answer": []}
        return Reply(task.kind.reply_model.model_validate(reply), words=self.words)


@dataclass(slots=True)
class FirstRelation:
    """Implements Strategy: asks the reasoner once, then follows `treated by` from what the question names.

    The answer has the text of the reasoner.
    """

    reasoner: ScriptedReasoner

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        step = StepInput(
            question=inquiry.dialogue.question, dialogue=[], path=[], things=[], evidence=[], candidates=[],
            round=1, last_round=True, width=1,
        )  # fmt: skip
        await inquiry.reasoner.ask(Task(STEP, step))
        for topic in inquiry.dialogue.topics:
            for hop in inquiry.graph.relations_of(topic.mids):
                if inquiry.graph.schema.label(hop).replace(" ", "").lower() == "treatedby":
                    members = inquiry.graph.neighbours(topic.mids, hop).tails
                    found = inquiry.pseudonyms.of_set(topic.pseudonym, ((hop,),), members)
                    return RetrievalResult(Draft((found,), self.reasoner.text), (found,), (), 1)
        return RetrievalResult(None, (), (), 1)


def name_things(schema: Schema) -> Sequence[str]:
    return ["thing"] * len(schema.signatures)


async def close_nothing() -> None:
    """Do nothing, as there is nothing to close."""


def settings_in(folder: Path, **changes: object) -> Settings:
    """Returns settings over `folder` with its own master key, independent of the environment."""
    key_file = folder / "keys" / "master.key"
    if not key_file.exists():
        key_file.parent.mkdir(parents=True)
        key_file.write_text(MasterKey.generate())
        key_file.chmod(0o600)
    values = {
        "data_dir": folder / "data",
        "master_key_file": key_file,
        "admin_key": SecretStr(OPERATOR_KEY),
        "reply_step_ms": 0,
    }
    return Settings(_env_file=None, **{**values, **changes})  # type: ignore[arg-type]


def purge(store: ServiceContext) -> int:
    """Deletes expired things, as the service does every hour."""
    days = RetentionDays(store.settings.ledger_days, store.settings.names_read_days)
    return purge_expired(store.master, store.conversations, store.upkeep, store.names_read, days)


def build_with(reasoner: ScriptedReasoner) -> Callable[[Settings], Services]:
    strategies = {"sets": FirstRelation(reasoner), "arog": FirstRelation(reasoner)}
    thinking = ReasonerBundle(reasoner, english(), strategies, (STEP,), name_things, "scripted", close_nothing)
    return lambda settings: build(settings, error_body, thinking)


@dataclass(frozen=True, slots=True)
class Running:
    """A running application, and a client that reaches it without a socket."""

    app: FastAPI
    http: httpx2.AsyncClient
    reasoner: ScriptedReasoner

    @property
    def services(self) -> Services:
        services: Services = state_of(self.app).services
        return services

    def key(self, tenant: str = "default", *grants: str, role: str = "user") -> dict[str, str]:
        """Creates a key and return the request headers with it."""
        issued = self.services.store.access.create(tenant, role, grants)  # type: ignore[arg-type]
        return bearer(issued.key)

    def load(
        self, tenant: str = "default", name: str = "clinic", turtle: str = CLINIC, policy: str | None = None
    ) -> None:
        """Loads a graph without a job."""
        file = self.services.store.settings.data_dir.parent / f"{secrets.token_hex(4)}.ttl"
        file.write_text(turtle)
        self.services.graphs.load(tenant, name, [file], policy).run(lambda _step, _percent: None)
        file.unlink()

    async def ended(self, job_id: str, headers: dict[str, str]) -> dict[str, object]:
        """Waits until the job has ended and return its status."""
        for _ in range(2000):
            told: dict[str, object] = (await self.http.get(f"/admin/jobs/{job_id}", headers=headers)).json()
            if told["state"] in ("done", "failed"):
                return told
            await asyncio.sleep(0.005)
        raise AssertionError("the job does not end")


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


OPERATOR = bearer(OPERATOR_KEY)


def question(text: str = QUESTION, **more: object) -> dict[str, object]:
    return {"graph": "clinic", "messages": [{"role": "user", "content": text}], **more}


@asynccontextmanager
async def running(folder: Path, *, thinks: bool = False, **changes: object) -> AsyncIterator[Running]:
    """Start the real application over `folder` and wait until it is ready.

    `thinks`: with the reasoner that its settings name, instead of the scripted one.
    """
    reasoner = ScriptedReasoner()
    app = create_app(settings_in(folder, **changes), build_services if thinks else build_with(reasoner))
    async with app.router.lifespan_context(app):
        while state_of(app).services is None:
            await asyncio.sleep(0.005)
            assert "could not be built" not in json.dumps((await state_of(app).readiness()).missing)
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://service") as http:
            yield Running(app, http, reasoner)


@contextmanager
def logging_to(stream: io.StringIO, level: int = logging.INFO) -> Iterator[io.StringIO]:
    """Writes the service's log to `stream`; afterwards the process logs as before."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level, sys.excepthook, threading.excepthook)
    start_logging(stream, level)
    yield stream
    logging.captureWarnings(False)
    root.handlers[:], root.level = before[0], before[1]
    sys.excepthook, threading.excepthook = before[2], before[3]
