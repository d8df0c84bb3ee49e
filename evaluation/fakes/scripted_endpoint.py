"""ScriptedEndpoint: a real HTTP server with the OpenAI interface whose "model" answers by a gold plan."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Final, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.llm.endpoint.answer_words import tree_of, tree_of_reply
from app.llm.endpoint.prompted_reasoner import wire_words
from app.llm.endpoint.request_body import input_text, read_step
from app.llm.tasks import AnswerReply, StepReply, TaskModel, TaskName
from app.strategies.sets.prompts import ASKED, PATH, PUZZLES
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_replies import ScriptedReplies, Unmasked

_TASKS = get_args(TaskName)
_FENCE = "```json"


class _ChatMessage(BaseModel):
    model_config = ConfigDict(extra="ignore")
    role: str
    content: str


class _JsonSchema(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: str
    strict: bool
    schema_: dict[str, object] = Field(alias="schema")


class _ResponseFormat(BaseModel):
    type: str
    json_schema: _JsonSchema


class _Completion(BaseModel):
    """The fields of a chat completion request that the contract needs; other fields are ignored."""

    model_config = ConfigDict(extra="ignore")
    model: str
    messages: list[_ChatMessage] = Field(min_length=1)
    response_format: _ResponseFormat
    stream: bool = False


class ContractBrokenError(Exception):
    """A request does not keep to docs/reasoner_contract.md; the message says where."""


@dataclass(frozen=True, slots=True)
class Received:
    """Every byte of one request: request line and header lines (`head`), and the body."""

    head: bytes = field(repr=False)
    body: bytes = field(repr=False)


class ScriptedEndpoint:
    """A fake model endpoint on a free loopback port that is given the plan of each question (`expect`).

    `counts_tokens` adds a `usage` object to the replies, as vendors do. `latency_s` is how long a reply takes. Without
    `remembers`, every request is answered only from what it shows, so that one question can be asked many times at
    once (strategy `sets` only; the tasks of `arog` depend on earlier ones).

    `at_once`: answer with what candidates lead to, if possible, without following them first. `meanings` maps the
    owner's descriptions of masked relations to the words that plans use.
    """

    at_once = False
    meanings: Mapping[str, str] = MappingProxyType({})

    def __init__(self, counts_tokens: bool = False, remembers: bool = True, latency_s: float = 0.0) -> None:
        self._counts_tokens, self._remembers, self.latency_s = counts_tokens, remembers, latency_s
        self._lock = threading.Lock()
        self.expect(None)
        self._received: list[Received] = []
        self._broken: list[str] = []
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """Returns the base URL for an OpenAI client."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    @property
    def received(self) -> list[Received]:
        """Returns all requests since the start, in order of arrival."""
        with self._lock:
            return list(self._received)

    @property
    def contract_breaks(self) -> list[str]:
        """Returns descriptions of the faults in requests that got a 400."""
        with self._lock:
            return list(self._broken)

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        """Sets the plan of the next question and its text as typed; a plan of None means that there is no answer."""
        with self._lock:
            self._plan, self._typed = plan, typed
            self._replies = ScriptedReplies(plan, typed, self.at_once)

    def __enter__(self) -> ScriptedEndpoint:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, wire: EndpointWire, received: Received) -> None:
        """Replies to one chat completion request."""
        time.sleep(self.latency_s)
        wire.send_json(*self.answer(received))

    def answer(self, received: Received) -> tuple[int, dict[str, object]]:
        """Returns status and body of the reply to one chat completion request."""
        with self._lock:
            self._received.append(received)
            try:
                content = self._content(_Completion.model_validate_json(received.body))
            except (ContractBrokenError, ValueError) as error:
                self._broken.append(_in_words(error))
                return 400, {"error": {"message": "the request breaks the contract", "type": "invalid_request_error"}}
        return 200, self._completion(content, received.body)

    def _content(self, request: _Completion) -> str:
        schema = request.response_format.json_schema
        if schema.name == "step" and (solved := _solved(_block(request.messages))):
            return solved
        if schema.name not in _TASKS:
            return json.dumps(_instance(schema.schema_, cast(dict[str, Any], schema.schema_.get("$defs", {}))))
        if not schema.strict or request.response_format.type != "json_schema":
            raise ContractBrokenError("response_format is not a strict json_schema")
        masked = Unmasked.read(_block(request.messages), self.meanings)
        task = cast(TaskName, schema.name)
        reply = self.reply_to(task, masked.block)
        reply = type(reply).model_validate_json(masked.in_its_words(reply.model_dump_json()))
        return self.written(task, _block(request.messages), reply)

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        """Returns the reply to `task`, whose input is `block`. Subclasses override this to reply in another way."""
        replies = self._replies if self._remembers else ScriptedReplies(self._plan, self._typed, self.at_once)
        return replies.reply_to(task, block)

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:  # noqa: ARG002  # for those that lie
        """Returns a reply as the text that an endpoint sends: answers as JSON trees, and no field with its default.

        Subclasses override this to write something else.
        """
        if isinstance(reply, StepReply):
            return wire_words(reply, tree_of_reply(reply))
        if isinstance(reply, AnswerReply):
            is_answer = reply.sufficient and reply.answer
            told = StepReply(action="answer" if is_answer else "not_in_graph", answer=reply.answer)
            return wire_words(reply, tree_of_reply(told))
        return reply.model_dump_json(exclude_defaults=True)

    def _completion(self, content: str, body: bytes) -> dict[str, object]:
        message = {"role": "assistant", "content": content}
        reply: dict[str, object] = {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if self._counts_tokens:
            # There is no tokenizer here; bytes / 4 is the usual rule of thumb.
            counts = {"prompt_tokens": len(body) // 4, "completion_tokens": len(content) // 4}
            reply["usage"] = counts | {"total_tokens": sum(counts.values())}
        return reply


FORMS: Final = {"things": "{0}", "count": "count({0})", "truth": "exists({0})", "average": "average({0})"}
"""Expressions over the end of a path, for the forms of a question that need nothing else."""


class PathReader(ScriptedEndpoint):
    """An endpoint that follows the path that a prompt states, and answers in the form that the prompt asks for.

    Prompts under the profile "strict" state such a path in place of the question. Plans are ignored, so that a wrong
    path gives a wrong answer.
    """

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "step":
            return super().reply_to(task, block)
        asked = read_step(block)
        start = asked.path[0].head if asked.path else ""
        path = [triple.relation for triple in asked.path]
        form = next((words for name, words in FORMS.items() if asked.question == f"{PATH}: {ASKED[name]}?"), "{0}")
        walked = [fact for fact in asked.evidence if fact.start == start and fact.path == path]
        if walked:
            return StepReply(action="answer", answer=[form.format(walked[0].end)])
        ways = [way.number for way in asked.candidates if way.start == start and way.path == path]
        if ways and not asked.last_round:
            return StepReply(action="follow", choices=ways[:1])
        return StepReply(action="not_in_graph")


def _block(messages: Sequence[_ChatMessage]) -> str:
    """Returns the json block that the last user message must begin with; a complaint may follow it."""
    content = next((message.content for message in reversed(messages) if message.role == "user"), "")
    # Compare whole lines: a question may hold such marks too, but within JSON they never fill a line.
    lines = content.rstrip().split("\n")
    if lines[0] != _FENCE or lines.count("```") != 1:
        raise ContractBrokenError("the last user message does not begin with exactly one fenced json block")
    return "\n".join(lines[1 : lines.index("```")])


def _solved(block: str) -> str:
    """Returns the answer to a puzzle of the probe, which tests what an endpoint can do; "" for anything else."""
    for puzzle in PUZZLES:
        if input_text(puzzle.task.input, "tree") == block:
            return json.dumps({"answer": tree_of(puzzle.right[0])})
    return ""


def _instance(schema: dict[str, Any], definitions: dict[str, Any]) -> object:
    """Returns the smallest value that fits a schema, as a reply to requests that are none of our tasks."""
    if isinstance(choices := schema.get("enum"), list):
        return choices[0]
    if isinstance(several := schema.get("anyOf"), list):
        return _instance(several[0], definitions)
    if isinstance(named := schema.get("$ref"), str):
        return _instance(definitions[named.rpartition("/")[2]], definitions)
    if "const" in schema:
        return schema["const"]
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return {key: _instance(value, definitions) for key, value in properties.items()}
    smallest: dict[object, object] = {"array": [], "integer": 0, "number": 0, "boolean": False}
    return smallest.get(schema.get("type"), "")


def _in_words(error: ContractBrokenError | ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{error.title}, {'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # many requests may arrive at once

    def __init__(self, endpoint: ScriptedEndpoint) -> None:
        self.endpoint = endpoint
        super().__init__(("127.0.0.1", 0), EndpointWire)


class EndpointWire(BaseHTTPRequestHandler):
    """One connection to the endpoint."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        head = f"{self.requestline}\r\n{self.headers.as_string()}".encode()
        if self.path != "/v1/chat/completions":
            self.send_json(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})
            return
        self.server.endpoint.serve(self, Received(head, body))

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self.send_json(
                200, {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "arog"}]}
            )
        else:
            self.send_json(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})

    def send_json(self, status: int, content: object, **headers: str) -> None:
        self.send_bytes(status, json.dumps(content).encode(), **headers)

    def send_bytes(self, status: int, data: bytes, **headers: str) -> None:
        """Sends a reply with the given header lines; their names have underscores for hyphens.

        A content length is added if it is missing.
        """
        lines = {"content_type": "application/json", "content_length": str(len(data)), **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        # A single write: with two, Nagle's algorithm and a delayed acknowledgement add 40 ms to every call.
        self.wfile.write(f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + data)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing, since a request line could hold anything."""
