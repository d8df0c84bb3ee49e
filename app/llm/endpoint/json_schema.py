"""JSON schemas of replies, in the subset that endpoints enforce: every field required, none added."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_DROPPED = frozenset({"title", "default", "description"})


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply."""
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
