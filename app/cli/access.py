"""`arog access who` and `arog access export`: who had whose names restored, when and why."""

from __future__ import annotations

import datetime as dt
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.output import named, opened_store, say, tell

if TYPE_CHECKING:
    from client_sdk.protocol import AccessLine, ExportForm

app = typer.Typer(help="The access record: whose names were restored for whom.", no_args_is_help=True)
Tenant = Annotated[str, typer.Option(help="The tenant", callback=named)]


@app.command()
def who(
    name: Annotated[
        str,
        typer.Argument(help="A name of the thing, or its id in the source; - asks for it, so that no shell keeps it"),
    ],
    graph: Annotated[str, typer.Option(help="The graph", callback=named)],
    tenant: Tenant = "default",
) -> None:
    """List who had the names of a person or thing restored: when, API key, person, answer, and the reason if told."""
    from app.wiring.administration import access_search_in

    def line(entry: AccessLine) -> str:
        person = f", person {entry.person}" if entry.person else ""
        reason = f", reason: {entry.reason}" if entry.reason else ""
        lifted = ", role lifted by break-glass" if entry.event == "read_lifted" else ""
        of = f", thing {', '.join(sorted(things & set(entry.things)))}" if len(found.things) > 1 else ""
        return f"{entry.at:%Y-%m-%d %H:%M:%S}  key {entry.key_id}{person}, answer {entry.answer}{of}{lifted}{reason}"

    with opened_store() as store:
        sought = typer.prompt("Name", err=True) if name == "-" else name
        found = access_search_in(store).who(tenant, graph, sought, sys.maxsize)
    things = {each.id for each in found.things}
    for each in found.things:
        tell(f"thing {each.id} ({each.concept})")
    for entry in found.entries:
        say(line(entry))
    if not found.entries:
        say("nobody has read about it")


@app.command()
def export(
    graph: Annotated[str | None, typer.Option(help="One graph; all of them by default")] = None,
    since: Annotated[
        dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only from this day on, in UTC")
    ] = None,
    syslog: Annotated[bool, typer.Option("--syslog", help="Messages of RFC 5424 in place of JSON lines")] = False,
    otlp: Annotated[bool, typer.Option("--otlp", help="OpenTelemetry's JSON for logs, an entry a line")] = False,
    tenant: Tenant = "default",
) -> None:
    """Write the access record to standard output, oldest first. It has ids of things and no names of them."""
    with opened_store() as store:
        from_day = since.replace(tzinfo=dt.UTC) if since else None
        form: ExportForm = "otlp" if otlp else "syslog" if syslog else "json"
        for text in store.access_record.lines(tenant, graph, from_day, form):
            sys.stdout.write(text)
