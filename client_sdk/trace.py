"""The trace of one answer: what the model was sent and replied, in pseudonyms, and the names to read it with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from client_sdk.crypto.sealing import CannotOpenError, KeyPair, open_trace, trace_context
from client_sdk.errors import CannotOpenCapsuleError
from client_sdk.protocol import Names, SealedTrace
from client_sdk.restore import restore

_SHOWN_NAMES = 3
_ESCAPE = re.compile(r"(\\+(?:u[0-9a-fA-F]{4}|.))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One request to the model. `prompt` is its body as it left, `reply` what came back, both in pseudonyms.

    They are None if the service keeps them no longer, or nothing was sent or came back. `outcome` is `used`,
    `unusable` (the reply broke its rules), `blocked` (the guard stopped the request) or `none`. `anonymity`: the
    number of entities of the graph that match what the prompt shows of a thing; None if it shows none.
    """

    step: str
    at: datetime
    outcome: str
    prompt: str | None = field(repr=False)
    reply: str | None = field(repr=False)
    anonymity: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one answer in order. `names_kept` is false if its conversation is kept no longer."""

    answer_id: str
    steps: tuple[TraceStep, ...]
    names_kept: bool
    _table: Mapping[str, Names] = field(repr=False)

    @property
    def pseudonyms(self) -> frozenset[str]:
        """The pseudonyms whose names the trace has."""
        return frozenset(self._table)

    def with_names(self, text: str) -> str:
        r"""Returns `text` of a step with its names restored, to be shown on this machine to whoever holds the key.

        At most three names of a set are shown, because prompts repeat the same set. The text is JSON within JSON, so a
        pseudonym may follow an escape (`\nEq7f2k`) directly. Names are not escaped.
        """
        parts = _ESCAPE.split(text)
        return "".join(part if at % 2 else restore(part, self._table) for at, part in enumerate(parts))


def open_sealed_trace(answer_id: str, sealed: SealedTrace, key: KeyPair) -> Trace:
    """Opens a trace that was sealed to this key. Raises CannotOpenCapsuleError."""
    try:
        content = open_trace(sealed.capsule, key, trace_context(answer_id))
    except CannotOpenError as problem:
        hint = "ask again; if it happens again, is something between you and the service changing replies?"
        raise CannotOpenCapsuleError(
            f"the trace can't be opened: {problem}", code="cannot_open", hint=hint, id=answer_id
        ) from None
    short = {word: Names(names=one.names[:_SHOWN_NAMES], total=one.total) for word, one in content.table.items()}
    steps = tuple(
        TraceStep(call.step, call.at, call.outcome, call.prompt, call.reply, call.anonymity) for call in content.calls
    )
    return Trace(answer_id, steps, content.names_kept, short)


def readable_payload(payload: str | None) -> str:
    """Returns a payload for people.

    A chat request is shown as its messages, another JSON object with one part a line, and anything else as it is.
    """
    if payload is None:
        return "(no longer kept)"
    try:
        content: Any = json.loads(payload)
    except ValueError:
        return payload
    messages = content.get("messages") if isinstance(content, dict) else None
    if isinstance(messages, list) and all(isinstance(message, dict) for message in messages):
        return "\n\n".join(f"[{message.get('role')}]\n{message.get('content')}" for message in messages)
    if isinstance(content, dict):
        return "\n".join(_lines_of(key, value) for key, value in content.items())
    return payload


def _lines_of(key: str, value: Any) -> str:
    if isinstance(value, list) and value:
        return "\n".join([f"{key}:", *(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)])
    return f"{key}: {json.dumps(value, ensure_ascii=False)}"
