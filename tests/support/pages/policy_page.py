"""The reference of the policy: every field of its models, with the sentences of policy_fields.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from kg_store.sources.policy import (
    BudgetPolicy,
    ClassPolicy,
    MediatorPolicy,
    Policy,
    PublicPolicy,
    RelationPolicy,
    RolePolicy,
    TriplesPolicy,
)
from kg_store.sources.table_policy import ColumnPolicy, SpreadPolicy, TablePolicy

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "policy.md"
SAID = tomllib.loads((Path(__file__).parents[1] / "policy_fields.toml").read_text("utf-8"))
PARTS: dict[str, type[BaseModel]] = {
    "Top level": Policy,
    '`[relations."PREDICATE"]`': RelationPolicy,
    '`[classes."CLASS"]`': ClassPolicy,
    "`[mediators]`": MediatorPolicy,
    "`[roles.NAME]`": RolePolicy,
    "`[budget]`": BudgetPolicy,
    "`[public]`": PublicPolicy,
    "`[[tables]]`": TablePolicy,
    "`[tables.columns.NAME]`": ColumnPolicy,
    "`[[tables.spread]]`": SpreadPolicy,
    "`[[triples]]`": TriplesPolicy,
}
MAX_IN_A_CELL = 3
PREFIXES = {
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://www.w3.org/2006/vcard/ns#": "vcard",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://wikiba.se/ontology#": "wikibase",
}
"""The usual abbreviations of the vocabularies whose IRIs are defaults."""
_HEAD = """# The policy, every field

<!-- Written by `python -m tests.write_docs` from kg_store/sources and tests/support/policy_fields.toml. -->

A policy is a TOML file. [Choose a policy](../how-to/choose-a-policy.md) says how to decide; this page is the whole
list. What a policy does not mention is on the private side. A field that is not here is refused, with its place and
what is allowed there. Fields of the top level stand before the first line in brackets.
"""


def page() -> str:
    """Returns the text of docs/reference/policy.md."""
    parts = [_HEAD]
    for title, model in PARTS.items():
        about = SAID[model.__name__]["about"]
        parts += [f"## {title}", "", about, "", "| field | takes | default | |", "|---|---|---|---|"]
        parts += [_row(model, name) for name in model.model_fields]
        parts += ["", *_long_defaults(model)]
    return "\n".join(parts).rstrip("\n") + "\n"


def fields() -> Iterator[tuple[str, str]]:
    """Yields every field with the name of its model."""
    for model in PARTS.values():
        yield from ((model.__name__, name) for name in model.model_fields)


def _row(model: type[BaseModel], name: str) -> str:
    info = model.model_fields[name]
    said = SAID[model.__name__].get(name, "")
    default = "needed" if info.is_required() else _default(info.get_default(call_default_factory=True))
    return f"| `{name}` | {_kind(info.annotation)} | {default} | {said} |"


def _long_defaults(model: type[BaseModel]) -> Iterator[str]:
    for name, info in model.model_fields.items():
        value = info.default
        if isinstance(value, tuple) and len(value) > MAX_IN_A_CELL:
            told = [f"{PREFIXES[at]}:{end}" if at in PREFIXES else at + end for at, end in map(_parted, value)]
            yield f"`{name}` by default (a policy takes whole IRIs): {', '.join(f'`{each}`' for each in told)}\n"


def _default(value: object) -> str:
    if isinstance(value, Enum):
        return f"`{value.value}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f"`{value}`"
    if isinstance(value, tuple) and value and len(value) <= MAX_IN_A_CELL:
        return ", ".join(f"`{_short(str(each))}`" for each in value)
    return "the list below" if isinstance(value, tuple) and value else ""


def _parted(text: str) -> tuple[str, str]:
    """Split an IRI into everything before its last part, and that part."""
    end = re.split(r"[#/]", text)[-1]
    return text.removesuffix(end), end


def _short(text: str) -> str:
    """Returns the last part of an IRI; other texts as they are."""
    return re.split(r"[#/]", text)[-1] if "://" in text else text


def _kind(annotation: Any) -> str:
    """Describes a type in words."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(each) for each in get_args(annotation) if each is not type(None)))
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{each!r}`".replace("'", '"') for each in get_args(annotation)).replace("|", "\\|")
    if get_origin(annotation) is tuple:
        return "a list" if ... in get_args(annotation) else f"{len(get_args(annotation))} numbers"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{each.value}`" for each in annotation)
    words = {str: "text", bool: "`true`, `false`", int: "a number", dict: "tables"}
    origin = get_origin(annotation) or annotation
    return words.get(origin, "a table")
