"""What the site needs beside the documents: the tables of the HTTP API, and links that leave the documents."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from mkdocs.structure.pages import Page

from app.graphs.markdown_table import markdown_table
from app.main import create_app
from app.settings import load_settings

_LINK = re.compile(r"\[([^\]]+)\]\((\.\.?/[^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Links to files of the repository become their names: the site holds the documents alone."""
    whole = markdown + "\n" + api_tables(openapi()) if page.file.src_uri == "reference/http.md" else markdown

    def named(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[2]))
        if not target.startswith(".."):
            return link[0]
        path = f"`{target.removeprefix('../')}`"
        return path if path.strip("`") in link[1] else f"{link[1]} ({path})"

    return _LINK.sub(named, whole)


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
        parts += [markdown_table(("field", "type", ""), rows)] if rows else []
    return "\n".join(parts)


def _body(told: dict[str, Any]) -> str:
    return ", ".join(
        f"{_type(one['schema'])} ({kind})" for kind, one in told.get("content", {}).items() if "schema" in one
    )


def _row(field: str, told: dict[str, Any], required: list[str]) -> tuple[str, str, str]:
    default = "" if field in required or "default" not in told else f"default `{json.dumps(told['default'])}`. "
    return f"`{field}`", _type(told), f"{default}{_sentences(told.get('description', ''))}"


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
    return " ".join(text.split()).replace("<", "&lt;")
