"""The tables of every HTTP route and type, generated from the service's OpenAPI document."""

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

[HTTP API](../api.md) says what they are for. A running service has the same at `/openapi.json`, with examples.

Bodies are JSON where nothing else is said. Every error is an [ErrorBody](#errorbody). Each route may reply with 400,
401, 413, 422, 429, 500 and 503, and with the codes beside it. A field with `= VALUE` may be left out, and is then that
value; `?` says that it may be null, `[]` that it is a list; without a type it is a string. Parts of previews and
reports are described in `/openapi.json` alone.
"""
OF_OWNERS = (
    *(
        "ColumnSeen",
        "ColumnChoice",
        "EntitySeen",
        "FactSeen",
        "LexiconReport",
        "MaskedWord",
        "NameGaps",
        "PredicateSeen",
    ),
    *("ProfileRisk", "RelationUse", "SetSizes", "TableSeen"),
)
"""Types of previews and reports that the page only names; `/openapi.json` describes them."""
LONG_DEFAULT = 60
"""The longest default shown, in characters. Longer ones are whole types, whose fields show their own defaults."""
_ALWAYS = frozenset({"400", "401", "413", "422", "429", "500", "503"})


def page() -> str:
    """Returns the text of docs/reference/http.md."""
    return f"{_HEAD}\n{api_tables(openapi())}".rstrip("\n") + "\n"


def openapi() -> dict[str, Any]:
    """Returns the OpenAPI document of the service without starting it."""
    document: dict[str, Any] = create_app(load_settings(None)).openapi()
    return document


def api_tables(document: dict[str, Any]) -> str:
    """Returns a table row for each route, and a heading with its fields for each type."""
    rows = [
        _route(f"{method.upper()} {path}", told)
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    ]
    parts = ["## Routes", "", "| route | | sends | replies |", "|---|---|---|---|", *rows, "", "## Types", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        if name in OF_OWNERS:
            continue
        parts += [f"### {name}", "", _sentences(schema.get("description", "")), ""]
        needed = schema.get("required", [])
        fields = [(_field(field, told, needed), told) for field, told in schema.get("properties", {}).items()]
        alone = [field for field, told in fields if "description" not in told]
        said = [f"- {field}: {_sentences(told['description'])}" for field, told in fields if "description" in told]
        said += [f"- {', '.join(alone)}"] if alone else []
        parts += [*said, ""] if said else []
    return "\n".join(parts)


def _route(route: str, told: dict[str, Any]) -> str:
    sent = [f"`{one['name']}`" for one in told.get("parameters", []) if one["in"] == "query"]
    sent += [_body(told["requestBody"])] if "requestBody" in told else []
    replies = [
        f"{status} {_body(reply) or reply['description']}"
        for status, reply in told["responses"].items()
        if status[0] == "2"
    ]
    others = ", ".join(sorted(set(told["responses"]) - _ALWAYS - {one for one in told["responses"] if one[0] == "2"}))
    what = _sentences(told.get("description", "")).split(". ")[0].rstrip(".")
    cells = (f"`{route}`", what, ", ".join(sent), "; ".join(replies))
    return f"| {' | '.join(cells)}{f'; {others}' if others else ''} |"


def _body(told: dict[str, Any]) -> str:
    return ", ".join(
        _type(one["schema"]) + ("" if kind == "application/json" else f" ({kind})")
        for kind, one in told.get("content", {}).items()
        if "schema" in one
    )


def _field(field: str, told: dict[str, Any], required: list[str]) -> str:
    given = "" if field in required or "default" not in told else f" = `{json.dumps(told['default'])}`"
    kind = _type(told)
    may_be_null, kind = kind.endswith(" or null"), kind.removesuffix(" or null")
    shown = "" if kind == "string" else f" ({kind})"
    return f"`{field}`{'?' if may_be_null else ''}{shown}{given if len(given) < LONG_DEFAULT else ''}"


def _type(told: dict[str, Any]) -> str:
    match told:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return name if name in OF_OWNERS else f"[{name}](#{name.lower()})"
        case {"anyOf": list(options)}:
            return " or ".join(_type(option) for option in options)
        case {"type": "array", "items": dict(items)}:
            return f"{_type(items)}[]"
        case {"enum": list(values)}:
            return ", ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
    return str(told.get("type", "any"))


def _sentences(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
