"""A chat completion as OpenAI's clients ask for it, read: what of it is a question here, and what can't be done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from client_sdk.dialogue import Turn
from client_sdk.protocol import StrategyName
from client_sdk.proxy.errors import ProxyError, bad_request, unknown_model

STRATEGIES: Final[dict[str, StrategyName]] = {"sets": "sets", "arog": "arog"}
DEFAULT: Final = "sets"
_MODEL = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})(?::([a-z]+))?")

# What would change what the reply means, and when it does. Everything else that is not read is ignored.
_REFUSED: Final[dict[str, str]] = {
    "tools": "there are no tools",
    "functions": "there are no functions",
    "function_call": "there are no functions",
    "logprobs": "there are no log-probabilities",
    "top_logprobs": "there are no log-probabilities",
    "stop": "answers are not cut",
    "audio": "answers are text",
    "prediction": "answers are not predicted",
    "web_search_options": "nothing is looked up on the web",
}
_FIELD = re.compile(r"[a-z_]{1,40}")
_TEXT_PARTS: Final = ("text", "input_text")
_CHORE: Final = "<chat_history>"


class _Loose(BaseModel):
    """Clients send more than is read here; input is kept out of errors, for it holds names."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)


class _Part(_Loose):
    type: str
    text: str | None = Field(default=None, repr=False)


class _Message(_Loose):
    role: str
    content: str | list[_Part] | None = Field(default=None, repr=False)
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _StreamOptions(_Loose):
    include_usage: bool | None = None


class _Body(_Loose):
    model: str
    messages: list[_Message] = Field(min_length=1, repr=False)
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One question. `turns` are those before it; `ignored` are fields that were sent and have no meaning here."""

    model: str
    graph: str
    strategy: StrategyName
    turns: tuple[Turn, ...] = field(repr=False)
    question: str = field(repr=False)
    stream: bool
    include_usage: bool
    ignored: tuple[str, ...]
    chat_id: str = ""

    @property
    def topic(self) -> str:
        """The key of a dialogue beside its turns: they go on in one of the same topic."""
        return "\n".join((self.graph, self.strategy, self.chat_id))


def read_question(body: bytes, chat_id: str = "") -> Wanted:
    """Raises ProxyError, which says what of the request is not right and never what it held."""
    try:
        asked = _Body.model_validate_json(body)
    except ValidationError as problem:
        error = problem.errors(include_input=False)[0]
        where = _path(error["loc"])
        raise bad_request(f"{where or 'the body'}: {error['msg']}", where or None) from None
    _refuse(asked)
    graph, strategy = graph_and_strategy(asked.model)
    turns = list(_turns(asked.messages))
    if not turns or turns[-1].role != "user":
        raise bad_request("the last message is not the user's: it is the question", "messages")
    if _CHORE in turns[-1].text:
        sentence = (
            "this is a chore about a chat and no question to a graph; docs/how-to/openai-clients.md turns it off"
        )
        raise bad_request(sentence, "messages", "not_a_question")
    return Wanted(
        model=asked.model,
        graph=graph,
        strategy=strategy,
        turns=tuple(turns[:-1]),
        question=turns[-1].text,
        stream=bool(asked.stream),
        include_usage=bool(asked.stream_options and asked.stream_options.include_usage),
        ignored=tuple(_ignored(asked)),
        chat_id=chat_id,
    )


def graph_and_strategy(model: str) -> tuple[str, StrategyName]:
    """`people` is the graph with the default strategy, `people:arog` with another. Raises ProxyError."""
    found = _MODEL.fullmatch(model)
    if found is None or found[2] not in (None, *STRATEGIES):
        raise unknown_model()
    return found[1], STRATEGIES[found[2] or DEFAULT]


def _refuse(asked: _Body) -> None:
    extra = asked.model_extra or {}
    for name, why in _REFUSED.items():
        if extra.get(name) not in (None, False, 0, "", [], {}, "none"):
            raise _not_here(name, why)
    if asked.n not in (None, 1):
        raise _not_here("n", "there is one answer to a question")
    if asked.response_format is not None and asked.response_format.get("type") != "text":
        raise _not_here("response_format", "answers are text")
    if asked.modalities not in (None, [], ["text"]):
        raise _not_here("modalities", "answers are text")
    if extra.get("tool_choice") not in (None, "none", "auto"):
        raise _not_here("tool_choice", "there are no tools")


def _turns(messages: Sequence[_Message]) -> Iterator[Turn]:
    """Questions and answers in their order. Instructions are no part of the dialogue; empty turns say nothing."""
    for at, message in enumerate(messages):
        if message.role in ("system", "developer"):
            continue
        if message.role not in ("user", "assistant"):
            raise _not_here(f"messages[{at}].role", "a turn is the user's or the assistant's")
        if message.tool_calls or message.function_call:
            raise _not_here(f"messages[{at}].tool_calls", "there are no tools")
        text = _text(message, at)
        if text.strip():
            yield Turn("user" if message.role == "user" else "assistant", text)


def _text(message: _Message, at: int) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = message.content or []
    if any(part.type not in _TEXT_PARTS or part.text is None for part in parts):
        raise _not_here(f"messages[{at}].content", "a turn is text: images, sound and files are not read")
    return "\n".join(part.text or "" for part in parts)


def _ignored(asked: _Body) -> Iterator[str]:
    """Names of fields as a header can tell them; a client's own odd ones are told as one."""
    if any(message.role in ("system", "developer") for message in asked.messages):
        yield "messages.system"
    given = [name for name, value in (asked.model_extra or {}).items() if value is not None and name not in _REFUSED]
    yield from (name for name in given if _FIELD.fullmatch(name))
    if not all(map(_FIELD.fullmatch, given)):
        yield "others"


def _not_here(param: str, why: str) -> ProxyError:
    return bad_request(f"{param} is not supported: {why}", param, "unsupported_parameter")


def _path(location: Sequence[int | str]) -> str:
    """`messages[0].content` of ("messages", 0, "content", "str")."""
    words = ("".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)).lstrip(".")
    return re.sub(r"\.(str|list\[.*)$", "", words)
