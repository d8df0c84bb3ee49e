"""`arog graph forget`, `forgotten`, `readers`: erases a person from a graph, and lists erasures and who read names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.graphs import GraphName, Tenant, Yes
from app.cli.output import NOT_USABLE, bar, console, errors, opened_store, say, tell

if TYPE_CHECKING:
    from app.graphs.erasure import Eraser, ErasureRequest


def forget(
    graph: GraphName,
    name: Annotated[
        str | None,
        typer.Argument(help="A name of the thing, or its id in the source; - asks for it, so that no shell keeps it"),
    ] = None,
    choice: Annotated[str | None, typer.Option("--id", help="Which one, where several have that name")] = None,
    with_kind: Annotated[
        list[str], typer.Option(help="Things of this kind beside it go too (visit); several times")
    ] = [],  # noqa: B006 - typer copies it
    with_mentions: Annotated[
        bool, typer.Option("--with-mentions", help="Texts of others that name it go too")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed")] = False,
    yes: Yes = False,
    wait: Annotated[float, typer.Option(min=0, max=3600, help="Seconds to wait for questions under way")] = 180.0,
    tenant: Tenant = "default",
) -> None:
    """Erase a thing from a graph: vault, names, versions, conversations, ledger; then check that it is gone.

    Without a name, an unfinished erasure continues. Exit code 1: traces are left, or the version before is still being
    read; run the command again then.
    """
    with _forgetter() as forgetter:
        wish = None if name is None else _wish(forgetter, (tenant, graph), name, choice, with_kind, with_mentions)
        begun = wish is not None and forgetter.has_unfinished_erasure(tenant, graph, wish.name)
        if wish is not None and (dry_run or not yes) and not begun:
            for sentence in forgetter.plan(tenant, graph, wish).sentences():
                say(sentence)
        if dry_run:
            return
        if not yes:
            typer.confirm(f"Remove this from {graph!r}? Only loading the source again brings it back", abort=True)
        job = forgetter.job(tenant, graph, wish, wait)
        with bar(errors, graph) as progress:
            done = job.run(progress)
    for line in done.notes:
        say(line)


def _wish(
    forgetter: Eraser, of: tuple[str, str], name: str, choice: str | None, with_kind: list[str], with_mentions: bool
) -> ErasureRequest:
    """Returns the erasure request, after asking which thing is meant if several have that name.

    Does not ask if an erasure of that name is unfinished. `of`: tenant and graph.
    """
    from app.graphs.erasure import ErasureRequest

    text = typer.prompt("Name", err=True) if name == "-" else name
    wish = ErasureRequest(text, choice, tuple(with_kind), with_mentions)
    return wish if forgetter.has_unfinished_erasure(*of, text) else _chosen(forgetter, *of, wish)


def forgotten(
    graph: GraphName,
    lift: Annotated[int | None, typer.Option(min=1, help="Let the next load bring back what this one removed")] = None,
    tenant: Tenant = "default",
) -> None:
    """List the erasures of a graph: the number and time of each, and how many things it removed. No names are kept.

    Later loads leave these things out; with `--lift NUMBER` the next load may bring those of one erasure back.
    """
    with _forgetter() as forgetter:
        past = forgetter.list_erasures(tenant, graph)
        if lift is not None:
            if lift > len(past):
                raise typer.BadParameter(f"there are {len(past)}")
            things = forgetter.undo_erasure(tenant, graph, past[lift - 1].id)
            say(f"{things} things may come back with the next load of their source")
            return
    from rich.table import Table

    table = Table("number", "when", "things")
    for number, each in enumerate(past, start=1):
        table.add_row(str(number), f"{each.at:%Y-%m-%d %H:%M}", str(each.things))
    console.print(table)


def _chosen(forgetter: Eraser, tenant: str, graph: str, wish: ErasureRequest) -> ErasureRequest:
    """Returns the request with one of the things of that name chosen; the user picks it by its number.

    Ends with exit code 2 if nobody sits at the terminal. Raises AmbiguousNameError for a number out of range.
    """
    from app.graphs.jobs import AmbiguousNameError

    choices = forgetter.choices(tenant, graph, wish.name)
    if wish.choice is not None or len(choices) < 2:
        return wish
    for number, each in enumerate(choices, start=1):
        # Names and values may be shown, because this is the owner's own screen.
        tell(f"{number}  --id {each.id}  {each.concept}: " + ("; ".join(each.facts) or "no facts"))
    if not sys.stdin.isatty():
        tell(f"arog: {len(choices)} things have that name: choose one with --id")
        raise typer.Exit(NOT_USABLE)
    number = typer.prompt("Which one", type=int, err=True)
    if not 1 <= number <= len(choices):
        raise AmbiguousNameError(len(choices))
    return replace(wish, choice=choices[number - 1].id)


@contextmanager
def _forgetter() -> Iterator[Eraser]:
    with opened_store() as store:
        from app.wiring.administration import forgetter_of

        yield forgetter_of(store)


Name = Annotated[str | None, typer.Option("--name", help="Only who read this name, written as answers show it")]


def readers(graph: GraphName, name: Name = None, tenant: Tenant = "default") -> None:
    """List who read names of a graph: day, API key, person, number of names and facts.

    With --name, list who read that one name.
    """
    with opened_store() as store:
        store.catalog.open(tenant, graph)
        days = store.names_read.days(tenant, graph, name)
    for each in days:
        person = f", person {each.person}" if each.person else ""
        recent = f", {each.last_hour} of them new in the last hour" if each.last_hour else ""
        facts = "" if name else f", {each.facts} facts"
        print(f"{each.day}  key {each.key_id}{person}: {each.names} names{recent}{facts}")
    if not days:
        print("nobody has read it" if name else "nobody has read a name of it")
