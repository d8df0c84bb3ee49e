"""Reads what is common to the three protocols: models, turns, ignored fields, and clients' background tasks.

A background task is a message that asks the model for a title or the like of a chat, instead of a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from client_sdk.answers.answer_notes import typed_rating
from client_sdk.dialogue import Turn
from client_sdk.protocol import MAX_MESSAGE_CHARS, RatingWord, StrategyName
from client_sdk.proxy.errors import ProxyError, bad_request, unknown_model

Kind = Literal["title", "tags", "follow_ups", "queries", "autocomplete", "image_prompt", "emoji", "tools", "summary"]

# The chat inside a background task: between tags (Open WebUI), or as lines of two speakers (LibreChat and others).
_OPENS, _CLOSES = "<chat_history>", "</chat_history>"
_ASKER_LINE = re.compile(r"^[^\w\n]{0,4}(?:user|human)\W{0,4}:", re.MULTILINE | re.IGNORECASE)
_MODEL_LINE = re.compile(r"^[^\w\n]{0,4}(?:ai|assistant|response|model)\W{0,4}:", re.MULTILINE | re.IGNORECASE)
_PASTED: Final = "<context>"
# The kind of a task by the key of the JSON object that it asks for, in the order in which templates name the keys.
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
    """A background task and its reply, which consists of fixed words, the model's id and the time."""

    kind: Kind
    reply: str = field(repr=False)


def find_task(text: str, instructions: str, model: str) -> BackgroundTask | None:
    """Returns the background task that a message without earlier turns is, or None if it is a question.

    A task is recognised by its form: it contains a chat and says what to write about it, or it is one of a few
    templates without a chat. Raises ProxyError for a task that can't be answered without reading the chat.
    """
    kind, as_json = _kind_of(text, instructions)
    return None if kind is None else BackgroundTask(kind, _reply_to(kind, model, as_json))


def _kind_of(text: str, instructions: str) -> tuple[Kind | None, bool]:
    """Returns the kind of a task, and True if its reply must be a JSON object."""
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
    """Returns the words of a message before and after the chat that it quotes; None if it quotes none."""
    before, opened, rest = text.partition(_OPENS)
    if opened:
        return before + rest.rpartition(_CLOSES)[2]
    first = _ASKER_LINE.search(text)
    return text[: first.start()] if first and _MODEL_LINE.search(text, first.end()) else None


def _reply_to(kind: Kind, model: str, as_json: bool) -> str:
    told: dict[Kind, tuple[str, Any]] = {
        # The time distinguishes chats in a client's list.
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


_STRATEGIES: Final[dict[str, StrategyName]] = {name: name for name in get_args(StrategyName)}
_DEFAULT: Final = "auto"
# Strategies in the list of models. The others can be asked for by name too, but are left out to keep the list short.
_LISTED: Final = ("auto", "arog")
_MODEL = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})(?::([a-z]+))?")
_FIELD = re.compile(r"[a-z_]{1,40}")
_TEXT_PARTS: Final = ("text", "input_text", "output_text")
_INSTRUCTIONS: Final = ("system", "developer")
_TOOLS: Final = ("tool", "function")
BodyT = TypeVar("BodyT", bound="LooseModel")


class LooseModel(BaseModel):
    """The base of request types: unknown fields are allowed; errors leave the input out, because it contains names."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)


class Part(LooseModel):
    """A part of a message: text, or something that is not read (an image, a sound, a file, a tool's result)."""

    type: str
    text: str | None = Field(default=None, repr=False)


Content = str | list[Part] | None


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """One message of a request in any protocol; `at` is its place in the request, such as `messages[2]`."""

    role: str
    content: Content = field(repr=False)
    at: str
    calls_tools: bool = False

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text or "" for part in self.content or [] if part.type in _TEXT_PARTS)

    @property
    def is_text(self) -> bool:
        return not isinstance(self.content, list) or all(
            part.type in _TEXT_PARTS and part.text is not None for part in self.content
        )


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `turns` are those before it; `ignored` are fields that were sent but have no effect.

    With `background` it is a client's background task, which is answered without the graph; with `rating` it rates the
    answer before it. `chat_id` and `person` identify the chat and who asks, if the client tells.
    """

    model: str
    graph: str
    strategy: StrategyName
    turns: tuple[Turn, ...] = field(repr=False)
    text: str = field(repr=False)
    stream: bool
    ignored: tuple[str, ...]
    chat_id: str = ""
    person: str = field(default="", repr=False)
    background: BackgroundTask | None = None
    rating: tuple[RatingWord, list[str]] | None = field(default=None, repr=False)

    @property
    def topic(self) -> str:
        """The part of a dialogue's key beside its turns: dialogues with different topics are never mixed."""
        return "\n".join((self.graph, self.strategy, self.chat_id, self.person))


def read_body(kind: type[BodyT], body: bytes) -> BodyT:
    """Parses a request's body. Raises ProxyError, which names the wrong field and its fault but not its content."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as problem:
        error = problem.errors(include_input=False)[0]
        where = _path(error["loc"])
        raise bad_request(f"{where or 'the body'}: {error['msg']}", where or None) from None


def question_of(
    model: str,
    messages: Sequence[ClientMessage],
    *,
    earlier: Sequence[Turn] = (),
    stream: bool,
    ignored: Iterable[str],
) -> Question:
    """Returns the question: the last message, which must be text and the user's.

    `earlier` are turns before all messages. Messages and parts before the question that are not text (an image,
    another model's tool calls) are left out, and listed in `ignored`. Raises ProxyError.
    """
    graph, strategy = graph_and_strategy(model)
    instructions = "\n".join(each.text for each in messages if each.role in _INSTRUCTIONS)
    if all(each.role in _INSTRUCTIONS for each in messages) and find_task(instructions, "", model):
        # Some clients send a background task as an instruction, without any other message.
        messages = [ClientMessage("user", instructions, each.at) for each in messages[:1]]
    last = _last_of(messages)
    *turns, asked = _turns(messages, last)
    before = _without_ratings((*earlier, *turns))
    return Question(
        model=model,
        graph=graph,
        strategy=strategy,
        turns=before,
        text=asked.text,
        stream=stream,
        ignored=(*_left_out(messages, last), *ignored),
        background=None if before else find_task(asked.text, instructions, model),
        rating=typed_rating(asked.text),
    )


def _without_ratings(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Returns the turns without ratings and the replies to them, which are no part of the dialogue."""
    rated = [turn.role == "user" and typed_rating(turn.text) is not None for turn in turns]
    return tuple(
        turn
        for at, turn in enumerate(turns)
        if not rated[at] and not (at and rated[at - 1] and turn.role == "assistant")
    )


def graph_and_strategy(model: str) -> tuple[str, StrategyName]:
    """Returns the graph and strategy of a model's id: `people` means the default strategy, `people:arog` another.

    Raises ProxyError.
    """
    found = _MODEL.fullmatch(model)
    if found is None or found[2] not in (None, *_STRATEGIES):
        raise unknown_model()
    return found[1], _STRATEGIES[found[2] or _DEFAULT]


def model_ids(graphs: Iterable[str], strategies: Iterable[str]) -> list[str]:
    """Returns the id of a model for each graph and strategy; for the default strategy it is the graph's name."""
    offered = [name for name in _LISTED if name in set(strategies)]
    return [graph if name == _DEFAULT else f"{graph}:{name}" for graph in graphs for name in offered]


def ignored_fields(extra: Mapping[str, Any] | None) -> Iterator[str]:
    """Yields the names of the given fields, to be listed in a header.

    All names that a header cannot contain are replaced by a single "others".
    """
    given = [name for name, value in (extra or {}).items() if value not in (None, [], {})]
    yield from (name for name in given if _FIELD.fullmatch(name))
    if not all(map(_FIELD.fullmatch, given)):
        yield "others"


def demands_tool(choice: Any) -> bool:
    """True if `tool_choice` requires that a tool is called: `required`, or the name of one."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        mode = (choice.get("allowed_tools") or choice).get("mode")
        return bool(mode == "required")
    return choice not in (None, "none", "auto", {})


def unsupported(param: str, why: str) -> ProxyError:
    return bad_request(f"{param} is not supported: {why}", param, "unsupported_parameter")


def _last_of(messages: Sequence[ClientMessage]) -> ClientMessage:
    """Returns the message that asks. Raises ProxyError if it is not the user's, or not text."""
    said = [each for each in messages if each.role not in _INSTRUCTIONS and (each.text.strip() or not each.is_text)]
    if not said or said[-1].role != "user":
        where = messages[-1].at.partition("[")[0] if messages else "messages"
        raise bad_request("the last message is not the user's: it is the question", where)
    if not said[-1].is_text:
        sentence = "images, sound and files are not read: ask in text alone"
        raise bad_request(sentence, f"{said[-1].at}.content", "unsupported_parameter")
    return said[-1]


def _turns(messages: Sequence[ClientMessage], last: ClientMessage) -> Iterator[Turn]:
    """Yields questions and answers in order, without instructions and empty turns.

    Raises ProxyError for unknown roles.
    """
    for message in messages:
        if message.role in (*_INSTRUCTIONS, *_TOOLS):
            continue
        if message.role not in ("user", "assistant"):
            raise unsupported(f"{message.at}.role", "a turn is the user's or the assistant's")
        # A turn that is too long was refused when it was asked, but clients keep it in the history.
        if message.text.strip() and (message is last or len(message.text) <= MAX_MESSAGE_CHARS):
            yield Turn("user" if message.role == "user" else "assistant", message.text)


def _left_out(messages: Sequence[ClientMessage], last: ClientMessage) -> Iterator[str]:
    """Yields a word for each kind of content that is not read, such as `messages.system` or `messages.parts`."""
    name = last.at.partition("[")[0]
    before = [each for each in messages if each is not last]
    if any(each.role in _INSTRUCTIONS for each in before):
        yield f"{name}.system"
    if any(each.role in _TOOLS or each.calls_tools for each in before):
        yield f"{name}.tools"
    spoken = [each for each in before if each.role in ("user", "assistant")]
    if not all(each.is_text for each in spoken):
        yield f"{name}.parts"
    if any(len(each.text) > MAX_MESSAGE_CHARS for each in spoken):
        yield f"{name}.too_long"


def _path(location: Sequence[int | str]) -> str:
    """Returns a field's path as it is written in code: `messages[0].content` of ("messages", 0, "content", "str")."""
    words = ("".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)).lstrip(".")
    return re.sub(r"\.(str|list\[.*)$", "", words)
