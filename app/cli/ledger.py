"""`arog ledger verify, export, ...`: checks and maintains the ledger's chains, directly in the database."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.output import FAILED, NOT_USABLE, check_settings, errors, failures_in_words, named, opened_store, tell

if TYPE_CHECKING:
    from app.egress.ledger.verification import Checked
    from app.wiring.store import ServiceContext

GROUP = "ledger"
Tenant = Annotated[str, typer.Option(help="The tenant whose ledger it is", callback=named)]
_SHOWN = 20


def join(app: typer.Typer) -> None:
    """Adds these commands to the group `ledger`, which the SDK may have created already for its own `list`."""
    there = (group.typer_instance for group in app.registered_groups if group.name == GROUP)
    group = next((each for each in there if each is not None), None)
    if group is None:
        group = typer.Typer(help="What the model was sent.", no_args_is_help=True)
        app.add_typer(group, name=GROUP)
    for command in (verify, export, checkpoint, cut, resume):
        group.command()(command)


def verify(
    tenant: Annotated[str | None, typer.Option(help="One tenant; all of them by default")] = None,
    file: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="An export instead")] = None,
    key: Annotated[str | None, typer.Option(help="The public key that an export must be signed with")] = None,
    kept: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Checkpoints that were kept elsewhere")
    ] = None,
) -> None:
    """Check that no row of the ledger was changed, deleted, added or moved. Exit code 1 if one was."""
    if file is None:
        with failures_in_words(errors):
            check_settings()
    from app.egress.ledger.audit import ExportError, check_export

    try:
        if file is None:
            outcomes = _check_tenants(tenant, kept)
        else:
            with file.open(encoding="utf-8") as lines:
                outcomes = [check_export(lines, key)]
    except ExportError as problem:
        tell(f"arog: {problem}.")
        raise typer.Exit(NOT_USABLE) from None
    for outcome in outcomes:
        _show(outcome)
    if not all(outcome.is_whole for outcome in outcomes):
        raise typer.Exit(FAILED)


def _check_tenants(tenant: str | None, kept: Path | None) -> list[Checked]:
    from app.egress.ledger.audit import kept_checkpoints
    from app.egress.ledger.verification import check

    known = kept_checkpoints(kept.read_text("utf-8").splitlines()) if kept else []
    with _store() as store:
        upkeep = store.upkeep
        tenants = upkeep.tenants() if tenant is None else [tenant]
        return [check(store.engine, store.master, upkeep.signer, each, known) for each in tenants]


def export(
    tenant: Tenant = "default",
    payloads: Annotated[bool, typer.Option("--payloads", help="With what was sent and replied")] = False,
) -> None:
    """Write a tenant's ledger to standard output, as JSON lines that `verify --file` checks."""
    with _store() as store:
        from app.egress.ledger.audit import export as lines_of

        for line in lines_of(store.engine, store.master, store.upkeep, tenant, payloads):
            print(json.dumps(line, sort_keys=True))


def checkpoint(tenant: Tenant = "default") -> None:
    """Sign the ledger as it is now, and print the checkpoint.

    Keep it outside of this machine: `arog ledger verify --kept FILE` then finds out if an older copy of the database
    was put in the place of the current one.
    """
    with _store() as store:
        from app.egress.ledger.audit import line_of

        signed = store.upkeep.checkpoint(tenant)
        key = store.upkeep.signer.public()
    tell(f"{tenant}: {signed.number} rows; public key {key}")
    print(json.dumps(line_of(signed), sort_keys=True))


def cut(
    before: Annotated[dt.datetime, typer.Option(formats=["%Y-%m-%d"], help="A day, in UTC")],
    tenant: Tenant = "default",
) -> None:
    """Delete the rows of all days before a day; the rows that are left can still be checked."""
    with _store() as store:
        gone = store.upkeep.cut(tenant, before.replace(tzinfo=dt.UTC))
    print(f"{tenant}: {gone} rows are deleted")


def resume(tenant: Tenant = "default") -> None:
    """Let a ledger accept new rows again, after something other than the service has changed its end.

    `arog ledger verify` keeps reporting the change.
    """
    with _store() as store:
        signed = store.upkeep.resume(tenant)
    print(f"{tenant}: goes on after row {signed.number}; restart the services that use this database")


def _show(checked: Checked) -> None:
    rows = f"rows {checked.first} to {checked.last}" if checked.rows else "no rows"
    said = "whole" if checked.is_whole else f"{checked.wrong} things are wrong"
    print(f"{checked.tenant}: {rows}, {checked.checkpoints} checkpoints: {said}")
    for finding in checked.findings[:_SHOWN]:
        print(f"  {finding}")
    if checked.wrong > _SHOWN:
        print(f"  and {checked.wrong - _SHOWN} more")
    for remark in checked.remarks:
        tell(f"{checked.tenant}: {remark}")


@contextmanager
def _store() -> Iterator[ServiceContext]:
    with opened_store() as store:
        from app.egress.ledger.chain import BrokenHeadError
        from app.egress.ledger.ledger import BROKEN

        try:
            yield store
        except BrokenHeadError:
            tell(f"arog: {BROKEN}.")
            raise typer.Exit(FAILED) from None
