"""The body of one chat completion: static words of ours around one JSON block that holds the task's input."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Protocol

from app.llm.endpoint.dialects import (
    DEFAULT,
    MODES,
    Dialect,
    limit_fields,
    schema_fields,
    schema_words,
    stream_fields,
)
from app.llm.endpoint.json_schema import strict_schema
from app.llm.endpoint.repair_messages import complaints_of
from app.llm.reasoner import Tokens
from app.llm.tasks import ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress, Segment

_SALT, _COMPLAINTS, _INPUT = "\x01", "\x02", "\x03"  # where these go; no word of ours holds such characters
_FENCE = b"```json\\n"
_BEFORE_COMPLAINTS = "Your last reply to this can't be used. "
_AFTER_COMPLAINTS = "Reply once more, with one JSON object that keeps to its schema.\n\n"


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """The same in all bodies for one endpoint. `is_salted`: it shares its prefix cache between tenants."""

    model: str
    dialect: Dialect = DEFAULT
    max_tokens: int = 1_024
    seed: int | None = None
    is_salted: bool = False


@dataclass(frozen=True, slots=True)
class _Frame:
    """The static bytes of a body: what precedes the salt (empty without one), complaints, and follows the input."""

    opening: bytes
    head: bytes
    after: bytes


def body_of(task: Task[ReplyT], wording: RequestTemplate, salt: str = "", endpoint: int = 0) -> Egress:
    """The bytes of one request. The input is JSON within a JSON string, so it is escaped once more."""
    frame = _frame_of(task.kind, wording)
    before = [frame.head + _FENCE]
    if task.manner.complaints:
        before = [frame.head, *_told(task.manner.complaints)]
    segments = [
        *((_static(frame.opening), Segment(_escaped(salt))) if wording.is_salted else ()),
        *(_static(data) for data in before),
        # A field that holds its default says nothing, and costs tokens.
        Segment(_escaped(task.input.model_dump_json(exclude_defaults=True))),
        _static(frame.after),
    ]
    return Egress(tuple(segments), endpoint)


def text_read(body: bytes) -> str:
    """The text of a body that the model reads: the messages' texts, and the schema where it stands apart from them."""
    request = json.loads(body)
    format_ = request.get("response_format", {})
    schema = format_.get("json_schema", {}).get("schema") or format_.get("schema")
    schema = schema or request.get("structured_outputs", {}).get("json")
    texts = [message["content"] for message in request["messages"]]
    return "\n".join([*texts, json.dumps(schema, separators=(",", ":"))] if schema else texts)


def statics_of(kind: TaskKind[Any], wording: RequestTemplate) -> tuple[bytes, ...]:
    """Every static segment that a body of `kind` may have, whatever the endpoint turns out to be."""
    segments: list[bytes] = []
    for dialect in _DIALECTS:
        frame = _frame_of(kind, replace(wording, dialect=dialect))
        segments += [frame.head + _FENCE, frame.head, frame.after, frame.opening]
    segments += _told(complaints_of(kind.reply_model))
    return tuple(dict.fromkeys(segment for segment in segments if segment))


@lru_cache(maxsize=256)
def _frame_of(kind: TaskKind[Any], wording: RequestTemplate) -> _Frame:
    schema, dialect = strict_schema(kind.reply_model), wording.dialect
    body: dict[str, Any] = {
        "model": wording.model,
        **({"cache_salt": _SALT} if wording.is_salted else {}),
        **limit_fields(dialect, kind.temperature, wording.seed, wording.max_tokens),
        **schema_fields(dialect, kind.name, schema),
        **stream_fields(dialect),
        "messages": [
            {"role": "system", "content": str(kind.instructions) + schema_words(dialect, kind.name, schema)},
            {"role": "user", "content": f"{_COMPLAINTS}```json\n{_INPUT}\n```"},
        ],
    }
    text = json.dumps(body, separators=(",", ":"))
    opening, _, rest = text.rpartition(_mark(_SALT)) if wording.is_salted else ("", "", text)
    head, _, rest = rest.partition(_mark(_COMPLAINTS))
    after = rest.partition(_mark(_INPUT))[2]
    return _Frame(opening.encode(), head.encode(), after.encode())


def _told(complaints: tuple[str, ...]) -> list[bytes]:
    """One segment a sentence, so that each is known to the guard, however many there are."""
    return [_escaped(_BEFORE_COMPLAINTS), *map(_escaped, complaints), _escaped(_AFTER_COMPLAINTS) + _FENCE]


def _static(data: bytes) -> Segment:
    return Segment(data, static=True)


def _escaped(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


def _mark(character: str) -> str:
    return json.dumps(character)[1:-1]


_DIALECTS = tuple(
    Dialect(mode, streams, plain) for mode in MODES for streams in (False, True) for plain in (True, False)
)


@dataclass(frozen=True, slots=True)
class Completion:
    """An endpoint's reply to one body. Token counts are None where it reports none, and any number else.

    `has_odd_usage`: it reported something as a count that is no whole number. `retries` are the requests that failed
    before this one.
    """

    content: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    retries: int = 0
    has_odd_usage: bool = False
    is_streamed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in the currency of the settings."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class CompletesChats(Protocol):
    """An endpoint that takes the body of a chat completion as bytes."""

    @property
    def wording(self) -> RequestTemplate:
        """The template of its bodies; it changes when the endpoint has been probed."""
        ...

    @property
    def price(self) -> Price | None: ...

    @property
    def is_ready(self) -> bool:
        """False while it rests after failing again and again."""
        ...

    async def complete(self, body: bytes, tenant: str = "") -> Completion:
        """Sends exactly `body`, when it is the turn of `tenant`.

        Raises ReasonerUnavailableError, ReasonerRefusedError, ReplyUnusableError.
        """
        ...


MAX_TIMES_OURS: Final = 2
"""Tokenisers differ: of JSON and English one may make so many times the tokens of another."""

MAX_FRAME_TOKENS: Final = 256
"""The most that a chat template and a schema in another form may add to a prompt."""


def checked_tokens(completion: Completion, prompt_tokens: int, written_tokens: int, max_tokens: int) -> Tokens:
    """The endpoint's counts where both can be right, else ours; retries and price are the caller's to add.

    `prompt_tokens` and `written_tokens` are counted by us, `max_tokens` is what the request asked for at most.
    Promise: neither count is below zero; the prompt's is at most MAX_TIMES_OURS times ours and MAX_FRAME_TOKENS, the
    reply's at most `max_tokens`, whatever the endpoint says. Limit: counts that are too low, but not below zero, are
    believed.
    """
    prompt, written = completion.prompt_tokens, completion.completion_tokens
    most = prompt_tokens * MAX_TIMES_OURS + MAX_FRAME_TOKENS
    is_odd = completion.has_odd_usage or not (_is_within(prompt, most) and _is_within(written, max_tokens))
    if prompt is None or written is None or is_odd:
        return Tokens(prompt_tokens, min(written_tokens, max_tokens), odd_counts=int(is_odd))
    return Tokens(prompt, written, by_endpoint=True)


def _is_within(reported: int | None, most: int) -> bool:
    """None is not odd: many endpoints report nothing."""
    return reported is None or 0 <= reported <= most
