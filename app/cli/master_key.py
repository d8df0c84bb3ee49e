"""`arog master-key`: replaces the master key while the service runs, and drops the old one when nothing needs it."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console

from app.cli.output import opened_store

if TYPE_CHECKING:
    from app.settings import Settings
    from app.wiring.store import ServiceContext

# A running service reads the ring's file again at least this often.
_TAKEN_UP_S: Final = 3600.0
app = typer.Typer(help="The master key.", no_args_is_help=True)
_errors = Console(stderr=True)


@app.command()
def rotate() -> None:
    """Put a new key into the ring's file, and seal everything with it. Killed, it goes on when called again."""
    with opened_store(_errors) as store:
        from app.graphs.erasure.key_rotation import reseal_all
        from kg_store.storage.data_folder import DataFolder

        _add_key(store)
        for what, count in reseal_all(store.engine, store.master, DataFolder(store.settings.data_dir)):
            _say(f"{what}: {count} sealed anew")
        _tell(store)


@app.command()
def status() -> None:
    """Show how much each key of the ring has sealed."""
    with opened_store(_errors) as store:
        _tell(store)


@app.command()
def drop(
    restarted: Annotated[
        bool, typer.Option("--restarted", help="Every service was restarted since the key was added")
    ] = False,
) -> None:
    """Take the old keys out of the ring's file, if nothing is sealed with them any more."""
    with opened_store(_errors) as store:
        from app.settings import ConfigurationError
        from kg_store.storage.master_key import MasterKey

        path, master = _file_of(store.settings), store.master
        left = {version: count for version, count in _counted(store).items() if version != master.newest}
        if left:
            raise ConfigurationError("an older key still seals something: call `arog master-key rotate` first")
        if not restarted and time.time() - path.stat().st_mtime < _TAKEN_UP_S:
            raise ConfigurationError(
                "the ring's file was changed within the last hour, so that a running service may still seal with an "
                "older key: wait, or restart every service and add --restarted"
            )
        _write(path, MasterKey.keeping(path.read_text("ascii"), [master.newest]))
        print(f"v{master.newest} is the only key of the ring; keep a copy elsewhere")


def _add_key(store: ServiceContext) -> None:
    """A new key in front, unless the newest one has work left to do: then that is finished first."""
    from app.settings import ConfigurationError
    from kg_store.storage.master_key import MasterKey

    master = store.master
    if len(master.versions) > 1:
        if all(version == master.newest for version in _counted(store)):
            raise ConfigurationError(
                "the last rotation is done: first take its old key out, by `arog master-key drop`"
            )
        _say(f"going on with v{master.newest}")
        return
    path = _file_of(store.settings)
    _write(path, MasterKey.rotated(path.read_text("ascii")))
    master.refresh()
    _say(f"v{master.newest} is added to the ring; running services take it up when they meet it")


def _tell(store: ServiceContext) -> None:
    counted = _counted(store)
    for version in sorted({*counted, *store.master.versions}, reverse=True):
        lost = "" if version in store.master.versions else " (not in the ring: lost)"
        print(f"v{version}: {counted[version]} sealed{lost}")
    if all(version == store.master.newest for version in counted) and len(store.master.versions) > 1:
        print("nothing is sealed with an older key any more: `arog master-key drop`")


def _counted(store: ServiceContext) -> Counter[int]:
    from app.graphs.erasure.key_rotation import sealed_by
    from kg_store.storage.data_folder import DataFolder

    return +sealed_by(store.engine, DataFolder(store.settings.data_dir))


def _file_of(settings: Settings) -> Path:
    from app.settings import ConfigurationError

    if settings.master_key is not None:
        raise ConfigurationError(
            "the ring is in AROG_MASTER_KEY, where no running service could take up a new key: put it into a file, "
            "set AROG_MASTER_KEY_FILE, and restart"
        )
    return settings.key_file


def _write(path: Path, ring: str) -> None:
    """Replaced at once: a reader finds the old ring or the new one."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(ring + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _say(line: str) -> None:
    _errors.print(line, markup=False, highlight=False, soft_wrap=True)
