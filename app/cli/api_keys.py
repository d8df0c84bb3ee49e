"""`arog api-key`: makes, lists and ends API keys, straight in the database."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.console import Console

from app.cli.output import named, opened_store

Tenant = Annotated[str, typer.Option(help="The tenant", callback=named)]
app = typer.Typer(help="API keys.", no_args_is_help=True)
_console, _errors = Console(), Console(stderr=True)


@app.command()
def create(
    grant: Annotated[
        list[str],
        typer.Option(help="A graph that it may ask; GRAPH#ROLE for a part; * for all; inspect:GRAPH to trace answers"),
    ],
    tenant: Tenant = "default",
    role: Annotated[Literal["user", "admin"], typer.Option(help="What it may do")] = "user",
    days: Annotated[float | None, typer.Option(min=0.01, max=3650, help="Days until it expires")] = None,
    label: Annotated[str, typer.Option(help="What to call it in lists, at most 80 characters")] = "",
) -> None:
    """Make a key and print it once; the database keeps only its hash."""
    from app.accounts.api_keys import INSPECT, ROLE_MARK

    with opened_store(_errors) as store:
        issued = store.access.create(tenant, role, grant, days, label[:80])
        loaded = {graph.name for graph in store.catalog.graphs(tenant)}
        parts = {name + ROLE_MARK + part for name in loaded for part in store.catalog.open(tenant, name).policy.roles}
    _errors.print(f"key id {issued.key_id}; the key is not shown again", highlight=False)
    for name in sorted({each.removeprefix(INSPECT).partition(ROLE_MARK)[0] for each in grant} - loaded - {"*"}):
        _errors.print(f"no graph {name!r} is loaded yet: the key will open it when it is", highlight=False)
    for each in sorted({each for each in grant if ROLE_MARK in each} - parts):
        if each.partition(ROLE_MARK)[0] in loaded:
            _errors.print(f"{each}: the graph has no such role yet, so the key opens nothing of it", highlight=False)
    print(issued.key)


@app.command("list")
def list_keys(tenant: Tenant = "default") -> None:
    """Every key of a tenant, without the keys themselves."""
    from rich.table import Column, Table

    ids, graphs = Column("key id", no_wrap=True), Column("graphs", no_wrap=True)
    table = Table(ids, "label", "role", graphs, "made", "last used", Column("state", no_wrap=True))
    with opened_store(_errors) as store:
        for record in store.access.keys(tenant):
            until = f"until {record.expires_at:%Y-%m-%d}" if record.expires_at else "valid"
            state = "revoked" if record.revoked_at else until
            made, granted = f"{record.created_at:%Y-%m-%d}", ", ".join(sorted(record.grants))
            used = f"{record.last_used_at:%Y-%m-%d}" if record.last_used_at else "never"
            table.add_row(record.key_id, record.label, record.role, granted, made, used, state)
    _console.print(table)


@app.command()
def revoke(key_id: str, tenant: Tenant = "default") -> None:
    """End a key at once."""
    with opened_store(_errors) as store:
        store.access.revoke(tenant, key_id)
    print(f"{key_id} is revoked")
