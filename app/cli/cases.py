"""`arog cases`: lists, reports on, exports, approves and deletes cases.

A case is learnt from a rated answer: the words of its question, and the path of relations that leads to the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.graphs import GraphName, Tenant
from app.cli.output import NOT_USABLE, opened_store, tell

if TYPE_CHECKING:
    from client_sdk.protocol import CaseChoice, Names

Ids = Annotated[list[str] | None, typer.Argument(help="Ids of cases, as `arog cases list` shows them")]
OfKey = Annotated[str | None, typer.Option("--key", help="All cases of the API key with this id")]
app = typer.Typer(help="Cases: what people rated right.", no_args_is_help=True)


@app.command("list")
def list_cases(graph: GraphName, tenant: Tenant = "default") -> None:
    """List the cases of a graph: for each the API key that rated, the day, words, paths, answers, and three samples.

    The samples contain real names, for your own screen.
    """
    from app.wiring.administration import cases_in

    with opened_store() as store:
        cases = cases_in(store)
        samples = cases.samples(tenant, graph)
        for case in cases.listed(tenant, graph).cases:
            waiting = "held back: it contradicts a sure answer" if case.held else "counts for who rated"
            approved = f"approved {case.approved_at:%Y-%m-%d}" if case.approved_at else waiting
            print(f"{case.id}  key {case.key_id}, made {case.made_at:%Y-%m-%d}, {approved}")
            print(f"  used by {case.used} answers, rated so by {case.raters} persons")
            print(f"  words: {case.asked or 'not kept'}")
            for path in case.paths:
                print(f"  path: {path}")
            for path in case.before:
                print(f"  path before: {path}")
            for sample in samples.get(case.id, ()):
                before = f"; before: {_joined(sample.before)}" if case.before else ""
                print(f"  sample: {_joined(sample.thing)} -> {_joined(sample.now)}{before}")


def _joined(names: Names) -> str:
    more = names.total - len(names.names)
    return (", ".join(names.names) or "nothing") + (f" and {more} more" if more > 0 else "")


@app.command()
def report(graph: GraphName, tenant: Tenant = "default") -> None:
    """Report how many answers used cases of a graph, and how these answers were rated."""
    from app.wiring.administration import cases_in

    with opened_store() as store:
        told = cases_in(store).listed(tenant, graph).report
    print(f"{told.cases} cases, {told.approved} of them approved, {told.held} held back for you to look at")
    print(f"{told.leaned} answers leaned on cases: {told.rated_right} rated right, {told.rated_wrong} rated wrong")


@app.command()
def export(graph: GraphName, tenant: Tenant = "default") -> None:
    """Print every case as a line of JSON: ids, times, counts, words and paths."""
    from app.wiring.administration import cases_in

    with opened_store() as store:
        for case in cases_in(store).listed(tenant, graph).cases:
            print(case.model_dump_json())


@app.command()
def approve(graph: GraphName, ids: Ids = None, key: OfKey = None, tenant: Tenant = "default") -> None:
    """Let cases count for every key that may ask the graph, instead of only for the key whose rating left them."""
    from app.wiring.administration import cases_in

    wanted = _chosen(ids or (), key)
    with opened_store() as store:
        done = cases_in(store).approve(tenant, graph, wanted)
    print(f"{done.cases} cases are approved")


@app.command()
def forget(graph: GraphName, ids: Ids = None, key: OfKey = None, tenant: Tenant = "default") -> None:
    """Delete cases, so that later questions do not use them."""
    from app.wiring.administration import cases_in

    wanted = _chosen(ids or (), key)
    with opened_store() as store:
        done = cases_in(store).forget(tenant, graph, wanted)
    print(f"{done.cases} cases are forgotten")


def _chosen(ids: Sequence[str], key: str | None) -> CaseChoice:
    from client_sdk.protocol import CaseChoice

    if bool(ids) == (key is not None):
        tell("give ids of cases, or --key with the id of an API key")
        raise typer.Exit(NOT_USABLE)
    return CaseChoice(key_id=key) if key is not None else CaseChoice(ids=list(ids))
