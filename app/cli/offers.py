"""`arog offers`: lists, saves and settles the sentences that people offer to a graph's owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.graphs import GraphName, Tenant
from app.cli.output import opened_store

if TYPE_CHECKING:
    from client_sdk.protocol import OfferChoice

Ids = Annotated[list[str], typer.Argument(help="Ids of offers, as `arog offers export` prints them")]
app = typer.Typer(help="Offers: sentences that people want in a graph.", no_args_is_help=True)


@app.command()
def export(graph: GraphName, tenant: Tenant = "default") -> None:
    """Print the open offers as CSV, with names in clear: id, day, subject, relation, object, sentence.

    Put what you accept into the graph's own files, load these, then have it marked by `arog offers take`.
    """
    from app.wiring.administration import offers_in

    with opened_store() as store:
        print(offers_in(store).as_csv(tenant, graph), end="")


@app.command()
def take(graph: GraphName, ids: Ids, tenant: Tenant = "default") -> None:
    """Mark offers as taken, which who offered them sees. The graph changes when you load its files."""
    _settle(graph, ids, tenant, taken=True)


@app.command()
def refuse(graph: GraphName, ids: Ids, tenant: Tenant = "default") -> None:
    """Mark offers as refused, which who offered them sees."""
    _settle(graph, ids, tenant, taken=False)


def _settle(graph: str, ids: list[str], tenant: str, *, taken: bool) -> None:
    from app.wiring.administration import offers_in

    with opened_store() as store:
        done = offers_in(store).settle(tenant, graph, _choice(ids, taken=taken)).facts
    print(f"{'taken' if taken else 'refused'}: {done}")


def _choice(ids: list[str], *, taken: bool) -> OfferChoice:
    from client_sdk.protocol import OfferChoice

    return OfferChoice(ids=ids, outcome="taken" if taken else "refused")
