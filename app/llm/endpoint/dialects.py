"""Dialects: the ways in which endpoints accept a JSON schema, a token limit and streaming."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from app.llm.tasks import ReplyForm

SchemaMode = Literal["json_schema", "structured_outputs", "object_schema", "json_object", "prompt"]
MODES: tuple[SchemaMode, ...] = ("json_schema", "structured_outputs", "object_schema", "json_object", "prompt")
ENFORCING: tuple[SchemaMode, ...] = ("json_schema", "structured_outputs", "object_schema")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form in which an endpoint takes requests.

    `mode`: where the schema goes. `json_schema`: in `response_format`; `structured_outputs`: vLLM's own field;
    `object_schema`: beside `json_object`, as llama-cpp-python takes it; `json_object`: in the instructions, with JSON
    alone enforced; `prompt`: in the instructions. `is_plain`: False for models that take `max_completion_tokens` and
    neither temperature nor seed. `form`: "tree", or "choice" for models that can only choose from a list.
    """

    mode: SchemaMode = "json_schema"
    streams: bool = False
    is_plain: bool = True
    form: ReplyForm = "tree"


DEFAULT = Dialect()


def schema_fields(dialect: Dialect, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a body that carry the schema outside of the messages."""
    if dialect.mode == "json_schema":
        return {
            "response_format": {
                "type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema},
            }
        }  # fmt: skip
    if dialect.mode == "structured_outputs":
        return {"structured_outputs": {"json": {"title": name, **schema}}}
    if dialect.mode == "object_schema":
        return {"response_format": {"type": "json_object", "schema": schema}}
    return {"response_format": {"type": "json_object"}} if dialect.mode == "json_object" else {}


def schema_words(dialect: Dialect, name: str, schema: dict[str, Any]) -> str:
    """Returns the schema as text for the instructions, for endpoints that do not enforce it; else empty."""
    if dialect.mode in ENFORCING:
        return ""
    text = json.dumps(schema, separators=(",", ":"))
    return f"\n\nReply with one JSON object and nothing else. Its JSON schema, named `{name}`:\n{text}"


def limit_fields(dialect: Dialect, temperature: float, seed: int | None, max_tokens: int) -> dict[str, Any]:
    """Returns the fields that limit the length and the randomness of a reply."""
    if not dialect.is_plain:
        return {"max_completion_tokens": max_tokens}
    seeded = {} if seed is None else {"seed": seed}
    return {"temperature": temperature, **seeded, "max_tokens": max_tokens}


def stream_fields(dialect: Dialect) -> dict[str, Any]:
    """Returns the fields that ask for a stream; a stream that goes wrong can be ended early."""
    return {"stream": True, "stream_options": {"include_usage": True}} if dialect.streams else {}
