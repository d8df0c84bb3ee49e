"""`arog memory`: lists, saves and deletes what the service remembers for an API key of a graph."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from client_sdk.cli.main import tell_wait
from client_sdk.cli.settings import TAKES_ID, ApiKey, AsJson, Graph, PlainHttp, Url, choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from client_sdk.memory import Memory

Person = Annotated[str | None, typer.Option(help="Of this person, where several share the API key")]
app = typer.Typer(help="What the service remembers of a graph, because you asked it to.", no_args_is_help=True)


@app.command("list")
def list_memory(
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    person: Person = None,
    as_json: AsJson = False,
    plain_http: PlainHttp = False,
) -> None:
    """List the sentences, newest first, each with its id and day. Names are restored on this machine."""
    with _memory(url, api_key, graph, plain_http) as memory:
        facts = memory.list(person=person)
    from client_sdk.cli import render

    if as_json:
        render.print_json([render.fact_as_dict(fact) for fact in facts])
        return
    render.show_memory(render.make_console(), facts)


@app.command()
def export(
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    person: Person = None,
    plain_http: PlainHttp = False,
) -> None:
    """Print each sentence as a line of JSON, with its names in clear, to be saved in a file."""
    import json

    with _memory(url, api_key, graph, plain_http) as memory:
        facts = memory.list(person=person)
    from client_sdk.cli import render

    for fact in facts:
        print(json.dumps(render.fact_as_dict(fact), ensure_ascii=False))


@app.command(context_settings=TAKES_ID)
def forget(
    fact: Annotated[str | None, typer.Argument(help="A sentence's id, as `arog memory list` shows it")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of this graph, for good")] = False,
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    person: Person = None,
    plain_http: PlainHttp = False,
) -> None:
    """Have one sentence deleted, or all of a graph."""
    if (fact is None) != everything:
        raise typer.BadParameter("give the id of a sentence, or --all")
    with _memory(url, api_key, graph, plain_http) as memory:
        if fact is None:
            count = memory.forget_all(person=person)
        else:
            memory.forget(fact, person=person)
            count = 1
    print(f"forgotten: {count} {'sentence' if count == 1 else 'sentences'}")


@app.command(context_settings=TAKES_ID)
def offer(
    fact: Annotated[str, typer.Argument(help="A sentence's id, as `arog memory list` shows it")],
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the offer back")] = False,
    url: Url = None,
    api_key: ApiKey = None,
    graph: Graph = None,
    person: Person = None,
    plain_http: PlainHttp = False,
) -> None:
    """Offer one sentence to the owner of the graph, who then sees it and by which API key it was offered."""
    with _memory(url, api_key, graph, plain_http) as memory:
        if withdraw:
            memory.withdraw(fact, person=person)
        else:
            memory.offer(fact, person=person)
    print("withdrawn" if withdraw else "offered")


@contextmanager
def _memory(url: str | None, api_key: str | None, graph: str | None, plain_http: bool) -> Iterator[Memory]:
    where = choose(url, api_key, graph)
    # Imported only once there is a key to ask with.
    from client_sdk.client import Chat

    with Chat(where.url, where.api_key, where.graph, plain_http=plain_http, on_wait=tell_wait) as chat:
        yield chat.memory
