"""`arog cases`: what ratings of answers have taught a graph: list, report, export, approve, forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from app.cli.graphs import GraphName, Tenant
from app.cli.output import NOT_USABLE, opened_store

if TYPE_CHECKING:
    from client_sdk.protocol import CaseChoice

Ids = Annotated[list[str] | None, typer.Argument(help="Ids of cases, as `arog cases list` shows them")]
OfKey = Annotated[str | None, typer.Option("--key", help="All cases of the API key with this id")]
app = typer.Typer(help="Cases: what people rated right.", no_args_is_help=True)
_console, _errors = Console(), Console(stderr=True)


@app.command("list")
def list_cases(graph: GraphName, tenant: Tenant = "default") -> None:
    """Every case of a graph: whose rating left it, when, its path, how often it was used; there is no text in it."""
    from rich.table import Column, Table

    from app.wiring.administration import cases_in

    table = Table(Column("case", no_wrap=True), Column("key", no_wrap=True), "made", "approved", "used", "path")
    with opened_store(_errors) as store:
        for case in cases_in(store).listed(tenant, graph).cases:
            approved = f"{case.approved_at:%Y-%m-%d}" if case.approved_at else "no"
            made = f"{case.made_at:%Y-%m-%d}"
            table.add_row(case.id, case.key_id, made, approved, str(case.used), "\n".join(case.paths))
    _console.print(table)


@app.command()
def report(graph: GraphName, tenant: Tenant = "default") -> None:
    """Tell how many answers leaned on the cases of a graph, and how these were rated."""
    from app.wiring.administration import cases_in

    with opened_store(_errors) as store:
        told = cases_in(store).listed(tenant, graph).report
    print(f"{told.cases} cases, {told.approved} of them approved")
    print(f"{told.leaned} answers leaned on cases: {told.rated_right} rated right, {told.rated_wrong} rated wrong")


@app.command()
def export(graph: GraphName, tenant: Tenant = "default") -> None:
    """Print every case as a line of JSON: ids, times, counts and paths."""
    from app.wiring.administration import cases_in

    with opened_store(_errors) as store:
        for case in cases_in(store).listed(tenant, graph).cases:
            print(case.model_dump_json())


@app.command()
def approve(graph: GraphName, ids: Ids = None, key: OfKey = None, tenant: Tenant = "default") -> None:
    """Let cases count for every key that may ask the graph, and not only for the one that left them."""
    from app.wiring.administration import cases_in

    wanted = _chosen(ids or (), key)
    with opened_store(_errors) as store:
        done = cases_in(store).approve(tenant, graph, wanted)
    print(f"{done.cases} cases are approved")


@app.command()
def forget(graph: GraphName, ids: Ids = None, key: OfKey = None, tenant: Tenant = "default") -> None:
    """Delete cases: later questions do not lean on them any more."""
    from app.wiring.administration import cases_in

    wanted = _chosen(ids or (), key)
    with opened_store(_errors) as store:
        done = cases_in(store).forget(tenant, graph, wanted)
    print(f"{done.cases} cases are forgotten")


def _chosen(ids: Sequence[str], key: str | None) -> CaseChoice:
    from client_sdk.protocol import CaseChoice

    if bool(ids) == (key is not None):
        _errors.print("give ids of cases, or --key with the id of an API key", highlight=False)
        raise typer.Exit(NOT_USABLE)
    return CaseChoice(key_id=key) if key is not None else CaseChoice(ids=list(ids))
