"""The tables of every route and type over HTTP, from the service's OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.main import create_app
from app.settings import load_settings

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "http.md"
_HEAD = """# HTTP: every route and field

<!-- Written by `python -m tests.write_docs` from the service's routes and types. -->

[HTTP API](../api.md) says what they are for. The tables are made from the service's OpenAPI document, which a running
service has at `/openapi.json`.
"""


def page() -> str:
    """The text of docs/reference/http.md."""
    return f"{_HEAD}\n{api_tables(openapi())}".rstrip("\n") + "\n"


def openapi() -> dict[str, Any]:
    """The document of the service, which need not run for it."""
    document: dict[str, Any] = create_app(load_settings(None)).openapi()
    return document


def api_tables(document: dict[str, Any]) -> str:
    """A heading for each route and for each type, with a row for each field."""
    parts = ["## Routes", ""]
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            parts += [f"### {method.upper()} {path}", "", _sentences(told.get("description", "")), ""]
            parts += [f"- sends: {_body(told['requestBody'])}"] if "requestBody" in told else []
            parts += [f"- `{one['name']}` ({one['in']})" for one in told.get("parameters", [])]
            parts += [
                f"- {status}: {_body(reply) or reply['description']}" for status, reply in told["responses"].items()
            ]
            parts.append("")
    parts += ["## Types", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f"### {name}", "", _sentences(schema.get("description", "")), ""]
        rows = [_row(field, told, schema.get("required", [])) for field, told in schema.get("properties", {}).items()]
        parts += ["| field | type | |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join(parts)


def _body(told: dict[str, Any]) -> str:
    return ", ".join(
        f"{_type(one['schema'])} ({kind})" for kind, one in told.get("content", {}).items() if "schema" in one
    )


def _row(field: str, told: dict[str, Any], required: list[str]) -> str:
    default = "" if field in required or "default" not in told else f"default `{json.dumps(told['default'])}`. "
    return f"| `{field}` | {_type(told)} | {default}{_sentences(told.get('description', ''))} |"


def _type(told: dict[str, Any]) -> str:
    match told:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(options)}:
            return " or ".join(_type(option) for option in options)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_type(items)}"
        case {"enum": list(values)}:
            return ", ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
    return str(told.get("type", "any"))


def _sentences(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
