"""The three protocols: reads a request of each as a question, and writes the reply whole or as events."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic import Field

from client_sdk.answers.answer import Answer
from client_sdk.dialogue import MAX_KEPT, Turn
from client_sdk.protocol import Usage
from client_sdk.proxy.errors import ProxyError, bad_request
from client_sdk.proxy.questions import (
    BackgroundTask,
    ClientMessage,
    Content,
    LooseModel,
    Question,
    demands_tool,
    ignored_fields,
    question_of,
    read_body,
    unsupported,
)

_DONE: Final = b"data: [DONE]\n\n"
_NO_TOOL: Final = (None, "none")


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply: the answer, or the background task that was done, and the usage of all its questions."""

    answer: Answer | None
    usage: tuple[Usage, ...] = ()
    task: BackgroundTask | None = None


class Reply(Protocol):
    """One reply in a protocol's form, whole or as events: `first`, then one `piece` after another, then `last`.

    `last` also gets the text of all pieces.
    """

    def whole(self, text: str, finished: Finished) -> dict[str, Any]: ...

    def first(self) -> bytes: ...

    def piece(self, text: str) -> bytes: ...

    def last(self, text: str, finished: Finished) -> bytes: ...

    def failure(self, error: ProxyError) -> bytes:
        """Returns an error event, which ends a stream that has begun."""
        ...


def event(content: dict[str, Any], name: str = "") -> bytes:
    named = f"event: {name}\n".encode() if name else b""
    return named + b"data: " + json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def comment(word: str) -> bytes:
    """Returns a comment line, which clients ignore; it keeps the connection open."""
    return f": {word}\n\n".encode()


def about(finished: Finished) -> dict[str, Any]:
    """Returns facts about an answer that the protocol has no field for.

    With the id, `arog ledger --answer ID` shows what the model was sent.
    """
    if finished.task is not None or finished.answer is None:
        return {"background": finished.task.kind if finished.task else None}
    answer = finished.answer
    told = {"answer": answer.id, "answered": answer.answered, "grounded": answer.grounded}
    return told | {"confidence": answer.confidence}


def token_counts(finished: Finished) -> tuple[int, int]:
    """Returns the tokens that the service's model read, and those that it wrote."""
    sent = sum(each.prompt_tokens for each in finished.usage)
    return sent, sum(each.completion_tokens for each in finished.usage)


class _Body(LooseModel):
    """The fields that the requests of all protocols have."""

    model: str
    stream: bool | None = None
    tool_choice: Any = None

    def asked(self, messages: Sequence[ClientMessage], earlier: Sequence[Turn] = ()) -> Question:
        """Returns the question in the messages. `earlier` are turns before all of them. Raises ProxyError."""
        ignored = [*ignored_fields(self.model_extra), *(["tool_choice"] if self.tool_choice not in _NO_TOOL else [])]
        return question_of(self.model, messages, earlier=earlier, stream=bool(self.stream), ignored=ignored)

    def refuse(self, refused: Mapping[str, str]) -> None:
        """Raises ProxyError if the request has one of the fields in `refused`, which would change the reply's form.

        Other unknown fields are ignored.
        """
        for name, why in refused.items():
            if (self.model_extra or {}).get(name):
                raise unsupported(name, why)


class _ChatMessage(LooseModel):
    role: str
    content: Content = Field(default=None, repr=False)
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _StreamOptions(LooseModel):
    include_usage: bool | None = None


class _ChatBody(_Body):
    messages: list[_ChatMessage] = Field(min_length=1, repr=False)
    stream_options: _StreamOptions | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None
    function_call: Any = None


def read_chat_completion(body: bytes) -> tuple[Question, ChatCompletion]:
    """Returns the question of a request to /v1/chat/completions, and the reply to fill. Raises ProxyError."""
    read = read_body(_ChatBody, body)
    read.refuse({"audio": "answers are text", "web_search_options": "nothing is looked up on the web"})
    if read.n not in (None, 1):
        raise unsupported("n", "there is one answer to a question")
    if read.response_format is not None and read.response_format.get("type") != "text":
        raise unsupported("response_format", "answers are text; leave it out")
    if read.modalities not in (None, [], ["text"]):
        raise unsupported("modalities", "answers are text")
    for name, value in (("tool_choice", read.tool_choice), ("function_call", read.function_call)):
        if demands_tool(value):
            raise unsupported(name, "no tool is ever called; leave it out, or send `auto`")
    messages = [
        ClientMessage(each.role, each.content, f"messages[{at}]", bool(each.tool_calls or each.function_call))
        for at, each in enumerate(read.messages)
    ]
    with_usage = bool(read.stream_options and read.stream_options.include_usage)
    return read.asked(messages), ChatCompletion(read.model, with_usage)


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """One reply of /v1/chat/completions; all its chunks have the same id and time."""

    model: str
    with_usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_urlsafe(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        ended = {"choices": [choice], "usage": _chat_usage(finished), "arog": about(finished)}
        return {**self._head("chat.completion"), **ended}

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def last(self, _text: str, finished: Finished) -> bytes:
        """Returns the chunk that ends the text, one with the usage if it is wanted, and the end of the stream."""
        ended = self._chunk({}, "stop", arog=about(finished))
        if not self.with_usage:
            return ended + _DONE
        usage = {**self._head("chat.completion.chunk"), "choices": [], "usage": _chat_usage(finished)}
        return ended + event(usage) + _DONE

    def failure(self, error: ProxyError) -> bytes:
        return event(error.openai_body)

    def _chunk(self, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self.with_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **usage, **more})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _chat_usage(finished: Finished) -> dict[str, int]:
    sent, got = token_counts(finished)
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}


class _AnthropicMessage(LooseModel):
    role: str
    content: Content = Field(repr=False)


class _MessagesBody(_Body):
    messages: list[_AnthropicMessage] = Field(min_length=1, repr=False)
    system: Content = Field(default=None, repr=False)
    output_config: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None


def read_message_request(body: bytes) -> tuple[Question, MessageReply]:
    """Returns the question of a request to /v1/messages, and the reply to fill. Raises ProxyError."""
    read = read_body(_MessagesBody, body)
    if isinstance(read.tool_choice, dict) and read.tool_choice.get("type") in ("any", "tool"):
        raise unsupported("tool_choice", "no tool is ever called; leave it out, or send the type `auto`")
    if read.output_format is not None or (read.output_config or {}).get("format") is not None:
        raise unsupported("output_format", "answers are text; leave it out")
    messages = [ClientMessage("system", read.system, "messages[system]")] if read.system else []
    for at, each in enumerate(read.messages):
        content = each.content
        if isinstance(content, list):  # A model's thinking is no part of the question.
            content = [part for part in content if part.type not in ("thinking", "redacted_thinking")]
        messages.append(ClientMessage(each.role, content, f"messages[{at}]"))
    return read.asked(messages), MessageReply(read.model)


@dataclass(frozen=True, slots=True)
class MessageReply:
    """One reply of /v1/messages, with all of its text in one block."""

    model: str
    id: str = field(default_factory=lambda: f"msg_{secrets.token_urlsafe(12)}")

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        ended = {"stop_reason": "end_turn", "usage": _messages_usage(finished), "arog": about(finished)}
        return {**self._head(), "content": [{"type": "text", "text": text}], **ended}

    def first(self) -> bytes:
        block = {"type": "text", "text": ""}
        return _named_event("message_start", message=self._head()) + _named_event(
            "content_block_start", index=0, content_block=block
        )

    def piece(self, text: str) -> bytes:
        return _named_event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def last(self, _text: str, finished: Finished) -> bytes:
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        return (
            _named_event("content_block_stop", index=0)
            + _named_event("message_delta", delta=ended, usage=_messages_usage(finished), arog=about(finished))
            + _named_event("message_stop")
        )

    def failure(self, error: ProxyError) -> bytes:
        return event(error.anthropic_body, "error")

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 0},
        }  # fmt: skip


def _named_event(name: str, **content: Any) -> bytes:
    return event({"type": name, **content}, name)


def _messages_usage(finished: Finished) -> dict[str, int]:
    sent, got = token_counts(finished)
    return {"input_tokens": sent, "output_tokens": got}


class _Item(LooseModel):
    """An input item: a message, or something that is not read, such as a tool's call or a model's thoughts."""

    type: str = "message"
    role: str | None = None
    content: Content = Field(default=None, repr=False)


class _ResponsesBody(_Body):
    input: str | list[_Item] = Field(repr=False)
    instructions: str | None = Field(default=None, repr=False)
    previous_response_id: str | None = None
    store: bool | None = None
    text: dict[str, Any] | None = None


class ResponseHistory:
    """The turns of a dialogue up to each of the newest responses, by the response's id, in memory only.

    A request can name such an id instead of sending the turns. Threads may share it.
    """

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._turns: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def turns(self, id: str | None) -> tuple[Turn, ...]:
        """Returns the turns that led to the response `id`; empty for None.

        Raises ProxyError if that response is not known.
        """
        if id is None:
            return ()
        with self._lock:
            if id in self._turns:
                self._turns.move_to_end(id)
                return self._turns[id]
        sentence = "previous_response_id is not known: responses are kept while the proxy runs; send the turns instead"
        raise bad_request(sentence, "previous_response_id", "previous_response_not_found")

    def keep(self, id: str, turns: tuple[Turn, ...]) -> None:
        with self._lock:
            self._turns[id] = turns
            while len(self._turns) > self._most:
                self._turns.popitem(last=False)


def read_response_request(body: bytes, history: ResponseHistory) -> tuple[Question, ResponseReply]:
    """Returns the question of a request to /v1/responses, and the reply to fill. Raises ProxyError."""
    read = read_body(_ResponsesBody, body)
    read.refuse(
        {
            "background": "a reply is waited for; leave it out, and stream",
            "conversation": "conversations are not kept by id; send the earlier turns, or `previous_response_id`",
            "prompt": "no prompts are kept here; send the question itself",
        }
    )
    form = (read.text or {}).get("format")
    if form is not None and (not isinstance(form, dict) or form.get("type") != "text"):
        raise unsupported("text.format", "answers are text; leave it out")
    if demands_tool(read.tool_choice):
        raise unsupported("tool_choice", "no tool is ever called; leave it out, or send `auto`")
    question = read.asked(list(_items_as_messages(read)), history.turns(read.previous_response_id))
    kept = None if read.store is False or question.background else history
    return question, ResponseReply(question, read.previous_response_id, kept)


def _items_as_messages(read: _ResponsesBody) -> Iterator[ClientMessage]:
    if read.instructions:
        yield ClientMessage("system", read.instructions, "input[instructions]")
    if isinstance(read.input, str):
        yield ClientMessage("user", read.input, "input[0]")
        return
    for at, item in enumerate(read.input):
        role = (item.role or "user") if item.type == "message" else "tool"
        yield ClientMessage(role, item.content, f"input[{at}]")


@dataclass(slots=True)
class ResponseReply:
    """One reply of /v1/responses: one message with one part. Its events are numbered from 0."""

    question: Question
    previous: str | None = None
    history: ResponseHistory | None = None
    id: str = field(default_factory=lambda: f"resp_{secrets.token_urlsafe(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    _sent: int = 0

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        if self.history is not None:
            asked = (*self.question.turns, Turn("user", self.question.text))
            self.history.keep(self.id, (*asked, Turn("assistant", text)))
        ended = {"usage": _responses_usage(finished), "arog": about(finished), "completed_at": int(time.time())}
        return {**self._head("completed"), "output": [self._message("completed", _part(text))], **ended}

    def first(self) -> bytes:
        return (
            self._event("response.created", response=self._head("in_progress"))
            + self._event("response.in_progress", response=self._head("in_progress"))
            + self._event("response.output_item.added", output_index=0, item=self._message("in_progress"))
            + self._part_event("response.content_part.added", part=_part(""))
        )

    def piece(self, text: str) -> bytes:
        return self._part_event("response.output_text.delta", delta=text, logprobs=[])

    def last(self, text: str, finished: Finished) -> bytes:
        item = self._message("completed", _part(text))
        return (
            self._part_event("response.output_text.done", text=text, logprobs=[])
            + self._part_event("response.content_part.done", part=_part(text))
            + self._event("response.output_item.done", output_index=0, item=item)
            + self._event("response.completed", response=self.whole(text, finished))
        )

    def failure(self, error: ProxyError) -> bytes:
        """Returns an `error` event, at which OpenAI's clients raise, and `response.failed` for other clients."""
        told = error.openai_body["error"]
        failed = {"code": "rate_limit_exceeded" if error.status == 429 else "server_error", "message": error.sentence}
        return self._event("error", **{**told, "type": "error"}, error=told) + self._event(
            "response.failed", response={**self._head("failed"), "error": failed}
        )

    def _part_event(self, name: str, **content: Any) -> bytes:
        return self._event(name, item_id=self._message_id, output_index=0, content_index=0, **content)

    def _event(self, name: str, **content: Any) -> bytes:
        number, self._sent = self._sent, self._sent + 1
        return event({**content, "type": name, "sequence_number": number}, name)

    @property
    def _message_id(self) -> str:
        return self.id.replace("resp_", "msg_", 1)

    def _message(self, status: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._message_id, "type": "message", "role": "assistant", "status": status, "content": list(content),
        }  # fmt: skip

    def _head(self, status: str) -> dict[str, Any]:
        """Returns the fields of a response without its text.

        Options that the proxy ignores have the values that a request without options would get.
        """
        return {
            "id": self.id, "object": "response", "created_at": self.created, "status": status, "error": None,
            "incomplete_details": None, "instructions": None, "max_output_tokens": None, "metadata": {},
            "model": self.question.model, "output": [], "parallel_tool_calls": False,
            "previous_response_id": self.previous, "reasoning": {"effort": None, "summary": None},
            "store": self.history is not None, "temperature": None, "text": {"format": {"type": "text"}},
            "tool_choice": "none", "tools": [], "top_p": None, "truncation": "disabled", "usage": None,
        }  # fmt: skip


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _responses_usage(finished: Finished) -> dict[str, Any]:
    sent, got = token_counts(finished)
    return {
        "input_tokens": sent, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": got, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sent + got,
    }  # fmt: skip
