"""`arog backup` and `arog restore`: all graphs and the database in one encrypted file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import FAILED, check_settings, errors, failures_in_words, opened_store, say, tell


def back_up(
    file: Annotated[Path, typer.Argument(dir_okay=False, help="The file to write; one that is there is kept")],
    erased: Annotated[
        bool,
        typer.Option("--erased", help="Only which things were erased, as keyed hashes, for `arog restore --erased`"),
    ] = False,
) -> None:
    """Write all graphs and the database into one file, encrypted with the master key. The service may go on meanwhile.

    The master key is not in it: keep that elsewhere. Conversations, the ledger and API keys (as hashes) are in it.
    """
    with opened_store() as store:
        from app.wiring import backup

        if erased:
            say(f"{backup.back_up_erasures(store, file)} erased things: {file}")
            return
        made = backup.back_up(store, file)
    say(f"{made.graphs} graphs, {made.versions} versions, {made.size / 1e6:,.1f} MB: {file}")


def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A file of `arog backup`")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check that it can be restored, in a folder that is deleted again")
    ] = False,
    erased: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="A file of `arog backup --erased`: whoever it names does not come back"
        ),
    ] = None,
) -> None:
    """Restore a backup into an empty data folder and database. Everything in it is checked before it is put in place.

    The exit code is 1 if somebody has changed a ledger in it: the backup is whole, but its records can't be trusted.
    """
    with failures_in_words(errors):
        settings = check_settings()
        from app.wiring import backup

        made = (backup.verify if verify else backup.restore)(settings, file, erased, say)
    done = "can be restored" if verify else "restored"
    say(f"{done}: {made.graphs} graphs, as of {made.made_at:%Y-%m-%d %H:%M} UTC")
    if not verify:
        back = "" if erased else "people who were erased (see --erased), "
        tell(f"What ended after that is there again: {back}API keys that were revoked, graphs that were deleted.")
    if made.broken:
        tell(
            f"arog: the ledger of {', '.join(made.broken)} was changed before this backup was made, by something "
            "other than the service. Try an older backup; if there is none, restore this one, list the changes with "
            "`arog ledger verify`, then let the ledger go on with `arog ledger resume`."
        )
        raise typer.Exit(FAILED)
