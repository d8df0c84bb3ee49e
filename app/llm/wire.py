"""The body of one chat completion: static words of ours around one JSON block that holds the task's input."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from app.llm.reasoner import ReplyT, Task, TaskKind, TaskModel
from app.privacy.safe_text import Egress, Segment

MAX_REPLY_TOKENS = 1_024


@lru_cache(maxsize=64)
def statics_of(kind: TaskKind[Any], model: str) -> tuple[bytes, bytes]:
    """What stands before and after the input's characters in every body of `kind`, as it is sent."""
    mark = "\x00"
    body: dict[str, Any] = {
        "model": model,
        "temperature": kind.temperature,
        "max_tokens": MAX_REPLY_TOKENS,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": kind.name, "strict": True, "schema": strict_schema(kind.reply_model)},
        },
        "messages": [
            {"role": "system", "content": str(kind.instructions)},
            {"role": "user", "content": f"```json\n{mark}\n```"},
        ],
    }
    before, after = json.dumps(body, separators=(",", ":")).split(json.dumps(mark)[1:-1])
    return before.encode(), after.encode()


def body_of(task: Task[ReplyT], model: str) -> Egress:
    """The bytes of one request. The input is JSON within a JSON string, so it is escaped once more."""
    before, after = statics_of(task.kind, model)
    block = task.input.model_dump_json()
    return Egress(
        (Segment(before, static=True), Segment(json.dumps(block)[1:-1].encode()), Segment(after, static=True))
    )


def strict_schema(model: type[TaskModel]) -> dict[str, Any]:
    """The JSON schema of a reply in the subset that endpoints enforce: every field required, none added."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    resolved = _strict(schema, definitions)
    assert isinstance(resolved, dict)
    return resolved


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    # Titles, defaults and descriptions cost tokens in every call and tell the model nothing new.
    kept = {key: _strict(value, definitions) for key, value in node.items() if key not in _DROPPED}
    if kept.get("type") == "object":
        kept["properties"] = {name: _strict(each, definitions) for name, each in node["properties"].items()}
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


_DROPPED = frozenset({"title", "default", "description"})
