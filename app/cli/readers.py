"""`arog graph readers`: who read names of a graph, on which day, and how many."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from app.cli.graphs import GraphName, Tenant
from app.cli.output import opened_store

Name = Annotated[str | None, typer.Option("--name", help="Only who read this name, written as answers show it")]
_errors = Console(stderr=True)


def join(app: typer.Typer) -> None:
    """Adds it to the commands of graphs."""
    app.command()(readers)


def readers(graph: GraphName, name: Name = None, tenant: Tenant = "default") -> None:
    """List who read names of a graph: day, API key, person, and how many names; with --name who read that one."""
    with opened_store(_errors) as store:
        store.catalog.open(tenant, graph)
        days = store.names_read.days(tenant, graph, name)
    for each in days:
        person = f", person {each.person}" if each.person else ""
        print(f"{each.day}  key {each.key_id}{person}: {each.names} names")
    if not days:
        print("nobody has read it" if name else "nobody has read a name of it")
