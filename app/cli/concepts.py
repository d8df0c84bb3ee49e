"""`arog concepts`: has the configured model name the concepts that many entities share."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from app.cli.graphs import GraphName, Tenant
from app.cli.output import bar, failures_in_words, open_checked

app = typer.Typer(help="Concepts: what kind of thing an entity is.", no_args_is_help=True)
_console, _errors = Console(), Console(stderr=True)


@app.callback()
def concepts() -> None:
    """Concepts: what kind of thing an entity is."""


@app.command()
def refine(
    name: GraphName,
    tenant: Tenant = "default",
    least: Annotated[int, typer.Option(min=2, help="Ask about concepts that so many entities share, or more")] = 20,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before tokens are spent")] = False,
) -> None:
    """Let the model endpoint rename concepts, from relation names alone; a new version of the graph carries them."""
    import asyncio

    with failures_in_words(_errors), asyncio.Runner() as runner:
        store = open_checked()
        # They load the sentence model.
        from app.wiring.endpoints import probe_all
        from app.wiring.services import refiner_of, think

        thinking = think(store.settings)

        async def close() -> None:
            await thinking.close()

        try:
            refiner = refiner_of(store, thinking)
            runner.run(probe_all(thinking.endpoints))
            _console.print(refiner.estimate(tenant, name, least).sentence, highlight=False, soft_wrap=True)
            if not yes:
                typer.confirm("Ask the model?", abort=True)
            job = refiner.job(tenant, "cli", name, least, runner.run)
            with bar(_errors, name) as progress:
                refined = job.run(progress)
        finally:
            runner.run(close())
            store.close()
    for note in refined.notes:
        _console.print(note, markup=False, highlight=False, soft_wrap=True)
