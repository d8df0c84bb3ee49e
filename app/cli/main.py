"""The service's commands of `arog`: serve here; graph, concepts, key, keys, ledger, eval and attack beside it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from app.cli import api_keys, concepts, erase, graphs, ledger, master_key, roles


def commands(app: typer.Typer) -> None:
    """Adds the service's commands; the entry point of the group `arog.commands`."""
    # No bar of the model's library among our own lines.
    os.environ.setdefault("TQDM_DISABLE", "1")
    app.command()(serve)
    erase.join(graphs.app)
    roles.join(graphs.app)
    app.add_typer(graphs.app, name="graph")
    app.add_typer(concepts.app, name="concepts")
    app.add_typer(api_keys.app, name="key")
    app.add_typer(master_key.app, name="keys")
    ledger.join(app)


def serve(
    init: Annotated[bool, typer.Option("--init", help="Write a master key if there is none")] = False,
    demo: Annotated[
        bool | None,
        typer.Option("--demo/--no-demo", help="Load the demo graph if there is no graph [default: on loopback only]"),
    ] = None,
) -> None:
    """Start the service; the settings are AROG_... variables or a .env file."""
    # Its imports take seconds, which `arog --help` need not wait for.
    from app.cli.serve import run_service

    run_service(init=init, demo=demo)
