"""The command `arog attack`: attack a service of its own and compare the success of each attack with its bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.main import require_extra


def commands(parent: typer.Typer) -> None:
    """Adds the command `arog attack` to `parent`."""
    require_extra()
    parent.command()(attack)


def attack(
    out: Annotated[Path | None, typer.Option(help="Folder for the table")] = None,
    only: Annotated[str, typer.Option(help="Run only the attacks whose name holds this")] = "",
    data: Annotated[
        Path | None, typer.Option(envvar="AROG_DATA", help="Folder of the public sets; the demo alone without")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Questions, conversations or users of an attack, at most")
    ] = None,
) -> None:
    """Attack a service that this command starts for itself. Ends with exit code 1 if an attack exceeds its bound."""
    import asyncio

    from evaluation.attacks.table import run_attacks
    from evaluation.attacks.targets import markdown, write
    from evaluation.cli_output import shown_progress

    with shown_progress() as show:
        lines = asyncio.run(run_attacks(only, data, limit, show))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write(lines, out)
    print(markdown(lines))
    raise typer.Exit(0 if all(line.passed for line in lines) else 1)
