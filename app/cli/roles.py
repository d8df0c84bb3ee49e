"""`arog graph roles`: what each role of a graph's policy is shown, so that its owner can see it before a key does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from app.cli.graphs import GraphName, Tenant
from app.cli.output import opened_store, program

if TYPE_CHECKING:
    from kg_store.catalog import PrivateGraph
    from kg_store.terms import Schema

_console, _errors = Console(), Console(stderr=True)


def join(app: typer.Typer) -> None:
    """Adds it to the commands of graphs."""
    app.command()(roles)


def roles(graph: GraphName, tenant: Tenant = "default") -> None:
    """Every role of a graph: which relations it is shown, which are withheld, and how many things it sees."""
    with opened_store(_errors) as store:
        whole = store.catalog.open(tenant, graph)
        told = [
            line for role in whole.policy.roles
            for line in _told(graph, role, whole, store.catalog.open_as(tenant, graph, role))
        ]  # fmt: skip
    for line in told or [f"{graph} has no roles: write [roles.NAME] into its policy, and load it again"]:
        _console.print(line, markup=False, highlight=False, soft_wrap=True)


def _told(graph: str, role: str, whole: PrivateGraph, part: PrivateGraph) -> Iterator[str]:
    from app.accounts.api_keys import ROLE_MARK

    all_words, words = _relations(whole.blind.schema), _relations(part.blind.schema)
    yield f"{role}: {_things(part.blind.schema)} of {_things(whole.blind.schema)} things"
    yield "    relations shown: " + (", ".join(sorted(words)) or "none")
    yield "    relations withheld: " + (", ".join(sorted(all_words - words)) or "none")
    yield f"    a key for it: {program()} api-key create --grant {graph}{ROLE_MARK}{role}"


def _relations(schema: Schema) -> set[str]:
    return {relation.label for relation in schema.relations}


def _things(schema: Schema) -> int:
    from kg_store.terms import NodeKind

    return sum(signature.size for signature in schema.signatures if signature.kind is NodeKind.ENTITY)
