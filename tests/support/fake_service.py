"""A small fake of the service on loopback, which really seals capsules, to test the SDK against."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from client_sdk.crypto.sealing import (
    capsule_context,
    fingerprint_of,
    memory_context,
    parse_public_key,
    seal,
    to_base64url,
    trace_context,
)
from client_sdk.protocol import (
    Ambiguity,
    AnswerRated,
    AnswerRating,
    Capsule,
    CapsuleContent,
    ChatAnswer,
    ChatRequest,
    Device,
    DeviceList,
    ErrorBody,
    Fact,
    GraphNames,
    Item,
    LedgerPage,
    LedgerRow,
    MemoryFact,
    MemoryForgotten,
    MemoryPage,
    Message,
    Names,
    NewDevice,
    Reading,
    SealedTrace,
    Sentence,
    TraceContent,
    TracedCall,
    Usage,
)

API_KEY = "a-key-of-the-tests"
NAMES = {
    "Eq7f2k": Names(names=["Anna Keller"], total=1),
    "Ex81zp": Names(names=["Dr. Bruno Weiß"], total=1),
    "Sk3mmd": Names(names=["Lea", "Noah", "Eq7f2k"], total=15),
}
PRIVATE_WORDS = ("Anna", "Keller", "Bruno", "Weiß", "Lea", "Noah")


def events_of(answer: ChatAnswer, pieces: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the events of a stream (name and data) as the service sends them; `pieces` are the parts of the text."""
    contents: list[tuple[str, object]] = [
        ("stage", {"name": "linking", "number": None}),
        ("stage", {"name": "round", "number": 1}),
        *(("text", {"text": piece}) for piece in pieces),
        ("evidence", {"evidence": [fact.model_dump() for fact in answer.evidence]}),
        ("usage", answer.usage.model_dump()),
        ("answer", answer.model_dump()),
    ]
    return [(name, json.dumps(content)) for name, content in contents]


def sse(events: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"event: {name}\ndata: {data}\n\n" for name, data in events).encode()


def in_sevens(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


Step = bytes | threading.Event
"""One step of a stream: bytes to send, or an event to wait for."""


@dataclass
class Canned:
    """A reply that is given once, before the service answers as usual."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    held_until: threading.Event | None = None


def seal_capsule(content: CapsuleContent | TraceContent, public_key: str, context: bytes) -> Capsule:
    """Seals as the service does: JSON, padded with spaces."""
    plain = content.model_dump_json().encode().ljust(512)
    key = parse_public_key(public_key)
    return Capsule(suite=key.suite.name, sealed=to_base64url(seal(plain, key, context)))


def problem(status: int, code: str, **headers: str) -> Canned:
    told = ErrorBody(code=code, message="It went wrong.", hint="Do it otherwise.", id="err-1")
    return Canned(status, told.model_dump_json().encode(), {k.replace("_", "-"): v for k, v in headers.items()})


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up, which is no failure of the service."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class FakeService:
    """Gives every question the same answer; tests change its parts by setting attributes."""

    def __init__(self) -> None:
        self.canned: list[Canned] = []
        self.seen: list[dict[str, Any]] = []
        self.ratings: list[AnswerRating] = []
        self.learns = True
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.table = dict(NAMES)
        self.text = "Eq7f2k is treated by Ex81zp, and so are Sk3mmd; Ezzzz9 is not."
        self.sealed_answer_id: str | None = None
        self.sealed_conversation: str | None = None
        self.without_capsule = False
        self.names_kept = True
        self.may_inspect = True
        self.devices: list[Device] = []
        self.memory: list[MemoryFact] = []
        self.extra: dict[str, Any] = {}  # fields added to a reply, or replaced in it, after its names were sealed
        self.inexact: list[Reading] = []
        self.confidence: float | None = None
        self.did_you_mean: list[str] = []
        self.sentences: list[Sentence] = []
        self.removed = 0
        self.suggestions: list[str] = []
        self.strategy = ""
        self.graphs = GraphNames(graphs=["clinic", "demo"], strategies=["auto", "sets", "arog", "dialogue"])
        self.usage = Usage(calls=2, rounds=1)
        self.conversations = 0
        self.numbers_conversations = False  # if not set, every new conversation has the id of the first
        self.steps: Callable[[list[tuple[str, str]]], Iterable[Step]] = lambda events: [sse(events)]
        self.cut = False
        self.hung_up = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body go into one packet; otherwise the client's delayed acknowledgement costs 40 ms.
            wbufsize = 1 << 16

            def do_POST(self) -> None:
                fake.handle(self)

            def do_GET(self) -> None:
                fake.handle(self)

            def do_DELETE(self) -> None:
                fake.handle(self)

            def log_message(self, *args: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        body = http.rfile.read(int(http.headers.get("content-length") or 0))
        self.paths.append(http.path)
        self.keys.append(http.headers.get("authorization"))
        asks = bool(body) and http.path != "/ratings"
        if asks:
            self.seen.append(json.loads(body))
        if not self.canned and asks and self.seen[-1].get("stream"):
            self._stream(http, ChatRequest.model_validate_json(body))
            return
        reply = self.canned.pop(0) if self.canned else self._usual(http.command, http.path, body)
        if reply.held_until:
            reply.held_until.wait()
        if reply.hang_up:
            http.close_connection = True
            return
        http.send_response(reply.status)
        for name, value in {**reply.headers, "content-length": str(len(reply.body))}.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(reply.body)

    def _stream(self, http: BaseHTTPRequestHandler, request: ChatRequest) -> None:
        """Sends the answer in chunks, so that the client notices a cut; `hung_up` is set if the client has gone."""
        answer = self.answer(request, len(self.seen))
        http.send_response(200)
        http.send_header("content-type", "text/event-stream; charset=utf-8")
        http.send_header("transfer-encoding", "chunked")
        http.end_headers()
        try:
            for step in self.steps(events_of(answer, in_sevens(answer.message.content))):
                http.wfile.flush()
                if isinstance(step, threading.Event):
                    step.wait()
                elif step:
                    http.wfile.write(b"%x\r\n%b\r\n" % (len(step), step))
            if not self.cut:
                http.wfile.write(b"0\r\n\r\n")
            http.wfile.flush()
        except OSError:
            self.hung_up.set()
        http.close_connection = self.cut

    def _usual(self, method: str, path: str, body: bytes) -> Canned:
        if path == "/graphs":
            return Canned(200, self.graphs.model_dump_json().encode())
        if path.startswith("/devices"):
            return self._devices(method, urlsplit(path).path, body)
        if path.startswith("/memory"):
            return self._memory(method, path)
        if path.startswith("/trace/") and not self.may_inspect:
            return problem(404, "unknown_answer")
        if path.startswith("/trace/"):
            return Canned(200, self._trace(path).model_dump_json().encode())
        if path == "/ratings":
            rating = AnswerRating.model_validate_json(body)
            self.ratings.append(rating)
            rated = AnswerRated(answer=rating.answer, rating=rating.rating, learnt=self.learns)
            return Canned(200, rated.model_dump_json().encode())
        if path.startswith("/ledger"):
            return Canned(200, self._ledger().model_dump_json().encode())
        answer = self.answer(ChatRequest.model_validate_json(body), len(self.seen))
        whole = {**json.loads(answer.model_dump_json()), **self.extra}
        return Canned(200, json.dumps(whole).encode())

    def answer(self, request: ChatRequest, number: int) -> ChatAnswer:
        if request.conversation is None:
            self.conversations += 1
        new = f"conversation-{self.conversations if self.numbers_conversations else 1}"
        answer_id, conversation = f"answer-{number}", request.conversation or new
        answer = ChatAnswer(
            id=answer_id,
            conversation=conversation,
            graph=request.graph,
            message=Message(role="assistant", content=self.text),
            answered=True,
            confidence=self.confidence,
            did_you_mean=self.did_you_mean,
            strategy=self.strategy,
            sentences=self.sentences,
            removed=self.removed,
            suggestions=self.suggestions[: request.options.suggestions],
            entities=[
                Item(pseudonym="Ex81zp", kind="entity", concept="doctor"),
                Item(pseudonym="Sk3mmd", kind="set", concept="patient", size=15, ordered=True),
                Item(pseudonym="Eunk01", kind="entity", concept="ward"),
            ],
            evidence=[
                Fact(
                    head="Eq7f2k",
                    head_concept="patient",
                    path=["treated by"],
                    tail="Ex81zp",
                    tail_concept="doctor",
                    cited=True,
                ),
                Fact(
                    head="Ehid01",
                    head_concept="patient",
                    path=["ward", "^works in"],
                    tail="Ex81zp",
                    tail_concept="doctor",
                ),
            ],
            grounded=True,
            ambiguous=[Ambiguity(pseudonym="Eq7f2k", choices=["Eq7f2k (patient)", "Ehid01 (nurse)"])],
            notes=["3 relations of Eq7f2k were left out"],
            inexact=self.inexact,
            usage=self.usage,
        )
        if not request.public_key or self.without_capsule:
            return answer
        content = CapsuleContent(answer_id=self.sealed_answer_id or answer_id, table=self.table)
        sealed_in = answer.model_copy(update={"conversation": self.sealed_conversation or conversation})
        capsule = seal_capsule(content, request.public_key, capsule_context(sealed_in))
        return answer.model_copy(update={"capsule": capsule})

    def _devices(self, method: str, path: str, body: bytes) -> Canned:
        """Keeps devices as the service does, but refuse none."""
        at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        if method == "GET":
            told = DeviceList(key_id="k1", required=False, devices=self.devices)
            return Canned(200, told.model_dump_json().encode())
        if method == "POST":
            public = NewDevice.model_validate_json(body).public_key
            suite = parse_public_key(public).suite.name
            self.devices.append(Device(fingerprint=fingerprint_of(public), suite=suite, registered_at=at))
            return Canned(200, self.devices[-1].model_dump_json().encode())
        (old,) = [one for one in self.devices if one.fingerprint == path.removeprefix("/devices/")]
        revoked = old.model_copy(update={"revoked_at": at})
        self.devices[self.devices.index(old)] = revoked
        return Canned(200, revoked.model_dump_json().encode())

    def _memory(self, method: str, path: str) -> Canned:
        found = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(found.query).items()}
        if method == "DELETE":
            fact_id = found.path.removeprefix("/memory").removeprefix("/")
            going = [each for each in self.memory if fact_id in ("", each.id)]
            self.memory = [each for each in self.memory if each not in going]
            told = MemoryForgotten(facts=len(going))
            return Canned(200, told.model_dump_json().encode()) if going else problem(404, "unknown_fact")
        page = MemoryPage(id="m1", graph=asked["graph"], facts=self.memory, total=len(self.memory))
        content = CapsuleContent(answer_id="m1", table=self.table).model_dump_json().encode()
        key = parse_public_key(asked["public_key"])
        sealed = to_base64url(seal(content, key, memory_context(page)))
        page = page.model_copy(update={"capsule": Capsule(suite=key.suite.name, sealed=sealed)})
        return Canned(200, page.model_dump_json().encode())

    def _trace(self, path: str) -> SealedTrace:
        """Returns a trace of four model calls for any answer; the model has guessed a name in the first."""
        found = urlsplit(path)
        answer_id, (public_key,) = unquote(found.path.removeprefix("/trace/")), parse_qs(found.query)["public_key"]
        at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        prompt = json.dumps({"messages": [{"role": "user", "content": "Who treats\nEq7f2k?"}]})
        calls = [
            TracedCall(
                step="structure", at=at, outcome="unusable", prompt=prompt, reply="Ex81zp? Or Anna?", anonymity=1_234
            ),
            TracedCall(step="step", at=at, outcome="none", prompt=prompt),
            TracedCall(step="step", at=at, outcome="blocked"),
            TracedCall(step="answer", at=at, outcome="used"),
        ]
        content = TraceContent(
            answer_id=answer_id, calls=calls, names_kept=self.names_kept, table=self.table if self.names_kept else {}
        )
        context = trace_context(self.sealed_answer_id or answer_id)
        return SealedTrace(answer=answer_id, capsule=seal_capsule(content, public_key, context))

    def _ledger(self) -> LedgerPage:
        payload = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Who treats\nEq7f2k?"}]})
        rows = [
            LedgerRow(
                id=f"row-{number}",
                at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
                answer=f"answer-{number}",
                conversation="conversation-1",
                step="step",
                size=len(payload),
                digest="ab" * 32,
                verdict="clear",
                payload=payload,
            )
            for number in (2, 1)
        ]
        return LedgerPage(entries=rows)
