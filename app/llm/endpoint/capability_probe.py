"""Finds out by a few test requests what an endpoint can do, and judges by the replies, not by the status codes.

Test requests are constant: fixed words, the model's name and the settings' seed, nothing of a graph or a caller. The
first ones find the form in which the endpoint takes requests, the others are puzzles: a model that solves them may
write answers of its own, any other chooses from lists.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.llm.endpoint.prompted_reasoner import MisfitError, read_reply
from app.llm.endpoint.request_body import (
    DEFAULT,
    ENFORCING,
    MODES,
    Completion,
    Dialect,
    RequestTemplate,
    SchemaMode,
    body_of,
    limit_fields,
    schema_fields,
    schema_words,
    stream_fields,
)
from app.llm.reasoner import ReasonerError, ReasonerUnavailableError, ReplyUnusableError
from app.llm.tasks import StepReply, Task

WORD: Final = "quorvexil"  # An invented word: a model writes it only if the schema is enforced.
PROBE_DEADLINE_S: Final = 30.0
_ASKED: Final = "Reply with a JSON object whose field `word` holds the colour of fresh snow."
_MAX_TOKENS: Final = 256
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "word": {"anyOf": [{"$ref": "#/$defs/word"}, {"type": "array", "items": {"$ref": "#/$defs/word"}}]}
    },
    "required": ["word"],
    "additionalProperties": False,
    "$defs": {"word": {"type": "string", "enum": [WORD]}},
}
"""Uses every construct that the schemas of answers use, so that an endpoint which does not support one fails the test.
"""
ENOUGH: Final = 4
"""The number of puzzles that a model must solve to be allowed to write answers of its own. Chosen by hand; not fitted.
"""
# With these statuses the request is tried with other fields, because some servers refuse unknown ones.
_OTHER_FIELDS: Final = (400, 404, 422, 500)

Send = Callable[[bytes], Awaitable[Completion]]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A fixed test question for a model, and all expressions that count as the right answer."""

    task: Task[StepReply]
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The findings of a probe.

    `enforces_schema`: replies keep to the JSON schema. `reports_usage`: replies hold token counts. `problem`: why the
    endpoint can't be asked, else empty. `puzzles`: number solved, None if none were asked. `seconds`, `prompt_tokens`
    and `reply_tokens` are means over the puzzles, which are about as long as questions; 0 if not reported.
    """

    dialect: Dialect = DEFAULT
    enforces_schema: bool = False
    streams: bool = False
    reports_usage: bool = False
    problem: str = ""
    puzzles: int | None = None
    seconds: float = field(default=0.0, compare=False)
    prompt_tokens: int = field(default=0, compare=False)
    reply_tokens: int = field(default=0, compare=False)


def probe_body(wording: RequestTemplate, dialect: Dialect) -> bytes:
    """Returns the bytes of one test request in the form `dialect`; they depend on the settings alone."""
    body = {
        "model": wording.model,
        **limit_fields(dialect, 0.0, wording.seed, min(_MAX_TOKENS, wording.max_tokens)),
        **schema_fields(dialect, "probe", _SCHEMA),
        **stream_fields(dialect),
        "messages": [{"role": "user", "content": _ASKED + schema_words(dialect, "probe", _SCHEMA)}],
    }
    return json.dumps(body, separators=(",", ":")).encode()


async def find_capabilities(send: Send, wording: RequestTemplate, is_vllm: bool) -> Capabilities:
    """Finds the capabilities of an endpoint with a few short requests.

    An error of the endpoint is not raised but returned as `problem`. `is_vllm`: vLLM's own fields are tried too.
    """
    problem = ""
    for is_plain in (True, False):
        try:
            found = await _best_dialect(send, wording, is_vllm, is_plain)
        except ReasonerError as error:
            problem = str(error)
            if error.status not in _OTHER_FIELDS:
                break
        else:
            return await _with_stream(send, wording, found)
    return Capabilities(problem=problem)


async def _best_dialect(send: Send, wording: RequestTemplate, is_vllm: bool, is_plain: bool) -> Capabilities:
    """Returns the capabilities in the best form of request that the endpoint answers.

    Raises the error of the last try if it answers none.
    """
    modes: list[SchemaMode] = [mode for mode in MODES if is_vllm or mode != "structured_outputs"]
    for mode in modes:
        dialect = Dialect(mode, is_plain=is_plain)
        try:
            completion = await _ask(send, wording, dialect)
        except ReasonerError as error:
            if mode == modes[-1] or not (isinstance(error, ReplyUnusableError) or error.status in _OTHER_FIELDS):
                raise
            continue
        is_enforced = mode in ENFORCING and _word_in(completion) == WORD
        if is_enforced or mode == "prompt" or (mode == "json_object" and _object_in(completion) is not None):
            return Capabilities(dialect, is_enforced, reports_usage=completion.completion_tokens is not None)
    raise ReasonerUnavailableError(
        "the endpoint gave no reply to a probe"
    )  # pragma: no cover - `prompt` returns or raises


async def _with_stream(send: Send, wording: RequestTemplate, found: Capabilities) -> Capabilities:
    """Returns the findings with streaming turned on if a streamed reply has all that an unstreamed one has."""
    dialect = replace(found.dialect, streams=True)
    try:
        completion = await _ask(send, wording, dialect)
    except ReasonerError:
        return found
    streams = completion.is_streamed and bool(completion.content)
    is_whole = (completion.completion_tokens is not None) or not found.reports_usage
    is_kept = _word_in(completion) == WORD or not found.enforces_schema
    return replace(found, streams=streams, dialect=dialect if streams and is_whole and is_kept else found.dialect)


async def with_puzzles(
    send: Send, wording: RequestTemplate, found: Capabilities, puzzles: Sequence[Puzzle]
) -> Capabilities:
    """Asks the puzzles; returns the findings with the number solved and the form of reply that this allows."""
    spoken = replace(wording, dialect=replace(found.dialect, form="tree"))
    right, began, completions = 0, time.monotonic(), list[Completion]()
    for puzzle in puzzles:
        with suppress(ReasonerError, MisfitError, TimeoutError):
            async with asyncio.timeout(PROBE_DEADLINE_S):
                completions.append(await send(body_of(puzzle.task, spoken).body))
            right += read_reply(puzzle.task, completions[-1]).answer[:1] in [[each] for each in puzzle.right]
    asked = max(1, len(completions))
    return replace(
        found,
        dialect=replace(found.dialect, form="tree" if right >= ENOUGH else "choice"),
        puzzles=right,
        seconds=(time.monotonic() - began) / asked,
        prompt_tokens=sum(each.prompt_tokens or 0 for each in completions) // asked,
        reply_tokens=sum(each.completion_tokens or 0 for each in completions) // asked,
    )


async def _ask(send: Send, wording: RequestTemplate, dialect: Dialect) -> Completion:
    try:
        async with asyncio.timeout(PROBE_DEADLINE_S):
            return await send(probe_body(wording, dialect))
    except TimeoutError:
        raise ReasonerUnavailableError("the endpoint did not answer a probe in time") from None


def _word_in(completion: Completion) -> object:
    found = _object_in(completion)
    return found.get("word") if found else None


def _object_in(completion: Completion) -> dict[str, object] | None:
    try:
        content = json.loads(completion.content)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
