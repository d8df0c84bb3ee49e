"""POST /chat: a question as it is sent."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM

StrategyName = Literal["auto", "sets", "arog", "dialogue"]
"""`auto`: turn by turn, `sets` for what asks the graph and `dialogue` for what talks about its things."""
Role = Literal["user", "assistant"]

MAX_MESSAGES = 100
MAX_MESSAGE_CHARS = 8_000


class Message(Wire):
    """One turn. User turns are plain text; assistant turns travel as the service sent them, in pseudonyms."""

    role: Role
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS)]


_LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
_MAX_LANGUAGE_TAG_CHARS = 35


def _as_language_tag(text: str) -> str:
    if len(text) <= _MAX_LANGUAGE_TAG_CHARS and re.fullmatch(_LANGUAGE_TAG, text):
        return text
    raise PydanticCustomError("language_tag", "Give a language by its tag, as en, de or pt-BR")


LanguageTag = Annotated[
    str,
    AfterValidator(_as_language_tag),
    Field(json_schema_extra={"pattern": _LANGUAGE_TAG, "maxLength": _MAX_LANGUAGE_TAG_CHARS}),
]
"""A language as BCP 47 tags it: `de`, `pt-BR`."""


class ChatOptions(Wire):
    """Limits of one question: W relations a round, D rounds, K relations for a concept, names to restore; the
    `language` of these; how many questions to go on with are suggested; and which `person` asks."""

    width: int = Field(default=3, ge=1, le=20, strict=True)
    depth: int = Field(default=3, ge=1, le=5, strict=True)
    relations_per_concept: int = Field(default=5, ge=1, le=20, strict=True)
    names: int = Field(default=50, ge=1, le=10_000, strict=True, description="names restored of one set")
    language: LanguageTag | None = Field(
        default=None,
        description="names in this language, where things have labels in it; else that of the names in the question",
    )
    suggestions: int = Field(
        default=3, ge=0, le=3, strict=True, description="questions to go on with; each takes a little time to check"
    )
    person: str = Field(
        default="",
        max_length=64,
        pattern=r"^[A-Za-z0-9_-]*$",
        repr=False,
        description="who asks, where several share a key: a sign that stands for one of them, and no name. What one "
        "person rates changes no answer of another's",
    )


class ChatRequest(Wire):
    """Ask `graph` the last message, which must be a user's. Without `public_key` there is no capsule."""

    graph: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    conversation: str | None = Field(default=None, max_length=64)
    strategy: StrategyName = "auto"
    options: ChatOptions = ChatOptions()
    public_key: str | None = Field(default=None, max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    stream: bool = Field(default=False, strict=True, description="server-sent events instead of one JSON reply")
