"""A small real HTTP server that plays a model endpoint: it keeps all requests and replies as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from app.llm.endpoint.answer_words import tree_of
from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepInput, TaskModel, TaskName
from evaluation.fakes.contract import TASKS
from kg_store.errors import ExpressionError


@dataclass(frozen=True, slots=True)
class Canned:
    """One HTTP response. `hangs`: nothing is sent; `drips`: after the body, one byte at a time, for ever."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    hangs: bool = False
    drips: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the endpoint got, with its task and the task's input."""

    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content

    @property
    def task(self) -> str:
        name: str = self.json["response_format"]["json_schema"]["name"]
        return name

    @property
    def input(self) -> dict[str, Any]:
        """Returns the object in the fenced block of the last message, with defaults filled in.

        It has `choices` if the reply must be one of a list.
        """
        asked, _, _ = TASKS[cast(TaskName, self.task)]
        if asked is StepInput and "choices" in (listed := json.loads(self.block)):
            return {"evidence": [], "candidates": [], "things": [], "round": 1, **listed}
        given = read_step(self.block) if asked is StepInput else asked.model_validate_json(self.block)
        return given.model_dump()

    @property
    def block(self) -> str:
        """Returns the fenced block as it was sent."""
        content: str = self.json["messages"][-1]["content"]
        return content.partition("```json\n")[2].partition("\n```")[0]


Replies = Callable[[Request], Canned]


def completion(content: str, finish_reason: str = "stop", usage: tuple[int, int] | None = None) -> Canned:
    """Returns a chat completion with this content; `usage` is the number of tokens of prompt and completion."""
    message = {"role": "assistant", "content": content}
    body: dict[str, object] = {
        "id": "c", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }  # fmt: skip
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Canned(json.dumps(body).encode())


def reply(value: TaskModel | dict[str, Any]) -> Canned:
    """Returns a reply as endpoints write it: the expressions of `answer`, and what is followed, as a list of words."""
    told = value.model_dump() if isinstance(value, TaskModel) else dict(value)
    action = told.pop("action", None)
    if action is None and not isinstance(told.get("answer"), list):
        return completion(json.dumps(told))
    given = [each for each in told.pop("answer", ()) if isinstance(each, str)]
    choices = told.pop("choices", [])
    action = action or ("answer" if given else "not_in_graph")
    return completion(json.dumps(told | {"answer": words_of(action, choices, given)}))


def words_of(action: str, choices: Sequence[int], answer: Sequence[str]) -> list[str]:
    """Returns the words of a step's reply; a text that is not an expression stays as it is."""
    try:
        if action == "answer":
            parts = [tree_of(each) for each in answer]
            return parts[0] if len(parts) == 1 else ["both", *(word for part in parts for word in part)]
    except ExpressionError:
        return list(answer)
    if action == "follow":
        return ["follow", *(f"way({number})" for number in choices)] if choices else ["more"]
    return ["none"]


def failure(status: int, text: str = "no", **more: object) -> Canned:
    """Returns an error body as vendors send them."""
    return Canned(json.dumps({"error": {"message": text, **more}}).encode(), status)


def in_turn(*canned: Canned) -> Replies:
    """Returns the responses one after the other; the last one is repeated."""
    rest = list(canned)
    return lambda _request: rest.pop(0) if len(rest) > 1 else rest[0]


@dataclass(slots=True)
class ModelServer:
    """A server on a free loopback port; a test may replace `replies` between questions.

    `hung_up` counts callers that closed the connection before their reply was sent.
    """

    url: str
    replies: Replies
    received: list[Request] = field(default_factory=list)
    hung_up: int = 0

    @property
    def everything(self) -> bytes:
        """Returns all bytes that reached the server: headers and bodies, also with escapes undone."""
        parts: list[str] = []
        for request in self.received:
            parts += [repr(request.headers), request.body.decode(), json.dumps(request.json, ensure_ascii=False)]
            parts += [message["content"] for message in request.json["messages"]]
        return "\n".join(parts).encode()


@contextmanager
def serving(replies: Replies | None = None) -> Iterator[ModelServer]:
    """Runs a server; hanging responses end with it."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = Request(dict(self.headers.items()), body)
            running.received.append(request)
            if not _send(self, running.replies(request), over):
                running.hung_up += 1

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    running = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1", replies or in_turn(failure(500)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield running
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _send(handler: BaseHTTPRequestHandler, canned: Canned, over: threading.Event) -> bool:
    """Sends the response; return False if the caller hung up before the end."""
    if canned.hangs:
        over.wait()
        handler.close_connection = True
        return True
    length = 1_000_000 if canned.drips else len(canned.body)
    lines = [f"HTTP/1.1 {canned.status} -", f"Content-Type: {canned.content_type}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in canned.headers]
    is_there = _write(handler, "\r\n".join([*lines, "", ""]).encode() + canned.body)
    while canned.drips and is_there and not over.wait(0.02):
        is_there = _write(handler, b" ")
    return is_there


def _write(handler: BaseHTTPRequestHandler, data: bytes) -> bool:
    """Sends bytes; return False if the caller has hung up."""
    try:
        handler.wfile.write(data)
    except OSError:
        handler.close_connection = True
        return False
    return True


def sent_to(server: ModelServer, task: str) -> Sequence[dict[str, Any]]:
    """Returns the inputs of all requests of one task, in order."""
    return [request.input for request in server.received if request.task == task]


def follows_all(request: Request) -> Canned:
    """Follows the first three candidates of each page in the first two rounds, then give up."""
    numbers = [each["number"] for each in request.input["candidates"]][:3]
    action = "follow" if numbers and request.input["round"] < 3 else "not_in_graph"
    return reply({"action": action, "choices": numbers if action == "follow" else []})
