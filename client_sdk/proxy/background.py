"""Chores that chat clients give to the model of a chat (titles, tags, follow-ups): found by their form, answered here.

Such a request holds the whole chat, names included. Asked as a question it would search the graph for nothing. What
is answered holds no word of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from client_sdk.proxy.errors import ProxyError, bad_request

Kind = Literal["title", "tags", "follow_ups", "queries", "autocomplete", "image_prompt", "emoji", "tools", "summary"]

# The chat inside of a chore: between tags (Open WebUI), or as lines of two speakers (LibreChat and others).
_OPENS, _CLOSES = "<chat_history>", "</chat_history>"
_ASKER_LINE = re.compile(r"^[^\w\n]{0,4}(?:user|human)\W{0,4}:", re.MULTILINE | re.IGNORECASE)
_MODEL_LINE = re.compile(r"^[^\w\n]{0,4}(?:ai|assistant|response|model)\W{0,4}:", re.MULTILINE | re.IGNORECASE)
_PASTED: Final = "<context>"
# The key of the JSON object that a chore wants, in the order in which templates name them.
_KEYS: Final[dict[str, Kind]] = {
    "title": "title", "tags": "tags", "follow_ups": "follow_ups", "queries": "queries", "text": "autocomplete",
    "prompt": "image_prompt",
}  # fmt: skip
_WANTED_KEY = re.compile(rf'\{{\s*"({"|".join(_KEYS)})"\s*:')
_WORDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("title", re.compile(r"\btitle\b", re.IGNORECASE)),
    ("tags", re.compile(r"\btags?\b", re.IGNORECASE)),
    ("follow_ups", re.compile(r"\bfollow[- ]?ups?\b", re.IGNORECASE)),
    ("summary", re.compile(r"\bsummar(?:y|i[sz]e)\b", re.IGNORECASE)),
)
_EMOJI: Final = "Your task is to reflect the speaker's likely facial expression through a fitting emoji"
_SUMMARY: Final = "### Task:\nSummarize the conversation history"
_MERGE: Final = "You have been provided with a set of responses from various models"


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """A chore and its reply: words of ours, the model's id and the time."""

    kind: Kind
    reply: str = field(repr=False)


def find_task(text: str, instructions: str, model: str) -> BackgroundTask | None:
    """The chore that a message with no turns before it is; None for a question.

    It is one by its form: it holds a chat, and says what to write about it; or it is one of the few templates that
    hold none. Raises ProxyError for one that can't be answered without reading the chat.
    """
    kind, as_json = _kind_of(text, instructions)
    return None if kind is None else BackgroundTask(kind, _reply_to(kind, model, as_json))


def _kind_of(text: str, instructions: str) -> tuple[Kind | None, bool]:
    """The kind of a chore, and whether its reply is to be a JSON object."""
    if text.startswith(_MERGE):
        raise _no_question("answers of several models are not merged here")
    if text.startswith("### Task:") and _PASTED in text and _OPENS not in text:
        raise _no_question("documents and web pages that a client pastes before a question are not read")
    if "Available Tools:" in instructions and '"tool_calls"' in instructions:
        return "tools", True
    if text.startswith(_SUMMARY):
        return "summary", False
    if text.startswith(_EMOJI):
        return "emoji", False
    return _kind_with_chat(text)


def _kind_with_chat(text: str) -> tuple[Kind | None, bool]:
    said = _without_chat(text)
    if said is None:
        return None, False
    if key := _WANTED_KEY.search(said):
        return _KEYS[key[1]], True
    kind = next((kind for kind, word in _WORDS if word.search(said)), None)
    if kind is None and _OPENS in text:
        raise _no_question("it is not known what it wants of the chat that it holds")
    return kind, False


def _without_chat(text: str) -> str | None:
    """The words of a message about the chat that it holds; None where it holds none."""
    before, opened, rest = text.partition(_OPENS)
    if opened:
        return before + rest.rpartition(_CLOSES)[2]
    first = _ASKER_LINE.search(text)
    return text[: first.start()] if first and _MODEL_LINE.search(text, first.end()) else None


def _reply_to(kind: Kind, model: str, as_json: bool) -> str:
    told: dict[Kind, tuple[str, Any]] = {
        # The time tells chats apart in a list.
        "title": ("title", f"{model}, {datetime.now():%-d %b %Y, %H:%M}"),
        "tags": ("tags", [model]),
        "follow_ups": ("follow_ups", []),
        "queries": ("queries", []),
        "autocomplete": ("text", ""),
        "image_prompt": ("prompt", ""),
        "tools": ("tool_calls", []),
        "emoji": ("emoji", "💬"),
        "summary": ("summary", "Earlier turns are not summed up: the proxy that answered them still knows them."),
    }
    key, value = told[kind]
    if as_json:
        return json.dumps({key: value})
    return value if isinstance(value, str) else ", ".join(value)


def _no_question(why: str) -> ProxyError:
    sentence = f"this is a chore about a chat and no question to a graph: {why}; ask in a message of its own"
    return bad_request(sentence, "messages", "not_a_question")
