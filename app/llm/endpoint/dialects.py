"""Dialects: the ways in which endpoints take a JSON schema, a limit and a wish for a stream."""

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
    """The form in which an endpoint wants to be asked.

    `mode`: where the schema goes. `json_schema`: nested in `response_format`; `structured_outputs`: vLLM's own field;
    `object_schema`: beside `json_object`, as llama-cpp-python takes it; `json_object`: into the instructions, with
    JSON alone enforced; `prompt`: into the instructions.
    `is_plain`: false for models that take `max_completion_tokens`, and neither temperature nor seed.
    `form`: what a model was seen to do with a closed schema; those who do little choose from a list.
    """

    mode: SchemaMode = "json_schema"
    streams: bool = False
    is_plain: bool = True
    form: ReplyForm = "tree"


DEFAULT = Dialect()


def schema_fields(dialect: Dialect, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of a body that tell the schema beside its messages."""
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
    """The words of the instructions about the schema, for endpoints that don't enforce it."""
    if dialect.mode in ENFORCING:
        return ""
    text = json.dumps(schema, separators=(",", ":"))
    return f"\n\nReply with one JSON object and nothing else. Its JSON schema, named `{name}`:\n{text}"


def limit_fields(dialect: Dialect, temperature: float, seed: int | None, max_tokens: int) -> dict[str, Any]:
    """The fields that bound how much and how freely the model may write."""
    if not dialect.is_plain:
        return {"max_completion_tokens": max_tokens}
    seeded = {} if seed is None else {"seed": seed}
    return {"temperature": temperature, **seeded, "max_tokens": max_tokens}


def stream_fields(dialect: Dialect) -> dict[str, Any]:
    """A stream is read as it comes, so that one that goes wrong is ended early."""
    return {"stream": True, "stream_options": {"include_usage": True}} if dialect.streams else {}
