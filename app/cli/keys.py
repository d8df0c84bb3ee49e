"""`arog api-key` makes, lists and revokes API keys; `arog master-key` replaces the master key while a service runs."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from app.cli.output import check_settings, console, errors, failures_in_words, named, opened_store, tell

if TYPE_CHECKING:
    from app.settings import Settings
    from app.wiring.store import ServiceContext
    from kg_store.storage.ring_file import RingFile

Tenant = Annotated[str, typer.Option(help="The tenant", callback=named)]
api_key = typer.Typer(help="API keys.", no_args_is_help=True)


@api_key.command()
def create(
    grant: Annotated[
        list[str],
        typer.Option(
            help="A graph that it may ask; GRAPH#ROLE for a part; * for all; inspect:GRAPH to trace answers; "
            "break-glass:GRAPH to lift its role for minutes"
        ),
    ],
    tenant: Tenant = "default",
    role: Annotated[Literal["user", "admin"], typer.Option(help="What it may do")] = "user",
    days: Annotated[float | None, typer.Option(min=0.01, max=3650, help="Days until it expires")] = None,
    label: Annotated[str, typer.Option(help="What to call it in lists, at most 80 characters")] = "",
) -> None:
    """Make a key and print it once; the database keeps only its hash."""
    from app.accounts.api_keys import BREAK_GLASS, INSPECT, ROLE_MARK

    with opened_store() as store:
        issued = store.access.create(tenant, role, grant, days, label[:80])
        loaded = {graph.name for graph in store.catalog.graphs(tenant)}
        parts = {name + ROLE_MARK + part for name in loaded for part in store.catalog.open(tenant, name).policy.roles}
    tell(f"key id {issued.key_id}; the key is not shown again")
    bare = (each.removeprefix(INSPECT).removeprefix(BREAK_GLASS) for each in grant)
    for name in sorted({each.partition(ROLE_MARK)[0] for each in bare} - loaded - {"*"}):
        tell(f"no graph {name!r} is loaded yet: the key will open it when it is")
    for each in sorted({each for each in grant if ROLE_MARK in each} - parts):
        if each.partition(ROLE_MARK)[0] in loaded:
            tell(f"{each}: the graph has no such role yet, so the key opens nothing of it")
    print(issued.key)


@api_key.command("list")
def list_keys(tenant: Tenant = "default") -> None:
    """List the keys of a tenant, without their secrets."""
    from rich.table import Column, Table

    ids, graphs = Column("key id", no_wrap=True), Column("graphs", no_wrap=True)
    table = Table(ids, "label", "role", graphs, "made", "last used", Column("state", no_wrap=True))
    with opened_store() as store:
        for record in store.access.keys(tenant):
            until = f"until {record.expires_at:%Y-%m-%d}" if record.expires_at else "valid"
            state = "revoked" if record.revoked_at else until
            made, granted = f"{record.created_at:%Y-%m-%d}", ", ".join(sorted(record.grants))
            used = f"{record.last_used_at:%Y-%m-%d}" if record.last_used_at else "never"
            table.add_row(record.key_id, record.label, record.role, granted, made, used, state)
    console.print(table)


@api_key.command()
def revoke(key_id: str, tenant: Tenant = "default") -> None:
    """Revoke a key at once."""
    with opened_store() as store:
        store.access.revoke(tenant, key_id)
    print(f"{key_id} is revoked")


@api_key.command()
def person(
    subject: Annotated[str, typer.Argument(help="The claim `sub` that the OpenID provider has for the person")],
    tenant: Tenant = "default",
) -> None:
    """Print the id under which a person who signs in acts: `api-key revoke` ends it, lists of readers show it."""
    from app.settings import ConfigurationError

    with opened_store() as store:
        if store.persons is None:
            raise ConfigurationError("nobody can sign in here: AROG_OIDC_ISSUER is not set")
        found = store.persons.id_of(tenant, subject)
        if found is None:
            raise ConfigurationError("this person has never asked here; check the subject and the tenant")
    print(found)


# A running service reads the key ring's file again at least this often.
_TAKEN_UP_S: Final = 3600.0
master_key = typer.Typer(help="The master key.", no_args_is_help=True)


@master_key.command()
def rotate(
    every: Annotated[
        float | None,
        typer.Option(min=1, help="For a timer: do so where the ring's file is so many days old, and drop old keys"),
    ] = None,
) -> None:
    """Put a new master key into the key ring's file, and seal everything with it.

    If killed, call it again to continue.
    """
    with opened_store() as store:
        from app.graphs.erasure.sealed_rows import reseal_all
        from kg_store.storage.data_folder import DataFolder

        if every is not None and not _is_due(store, every):
            return
        _add_key(store)
        for what, count in reseal_all(store.engine, store.master, DataFolder(store.settings.data_dir)):
            tell(f"{what}: {count} sealed anew")
        _tell(store)


def _is_due(store: ServiceContext, every: float) -> bool:
    """Returns True if a rotation is due or unfinished; drops old keys of a finished one if services had an hour."""
    file, master = _file_of(store.settings), store.master
    age_s = time.time() - file.path.stat().st_mtime
    if len(master.versions) > 1:
        if any(version != master.newest for version in _counted(store)):
            return True
        if age_s < _TAKEN_UP_S:
            tell("the last rotation is done: its old key goes at the next call, an hour after it at the earliest")
            return False
        store.master.drop_older()
    if age_s < every * 86_400:
        tell(f"the ring's file is {age_s / 86_400:.1f} days old: nothing to do")
        return False
    return True


@master_key.command()
def status() -> None:
    """Show how many things each key of the key ring has sealed."""
    with opened_store() as store:
        _tell(store)


@master_key.command()
def drop(
    restarted: Annotated[
        bool, typer.Option("--restarted", help="Every service was restarted since the key was added")
    ] = False,
) -> None:
    """Remove the old keys from the key ring's file, if nothing is sealed with them."""
    with opened_store() as store:
        from app.settings import ConfigurationError

        file, master = _file_of(store.settings), store.master
        left = {version: count for version, count in _counted(store).items() if version != master.newest}
        if left:
            raise ConfigurationError("an older key still seals something: call `arog master-key rotate` first")
        if not restarted and time.time() - file.path.stat().st_mtime < _TAKEN_UP_S:
            raise ConfigurationError(
                "the ring's file was changed within the last hour, so that a running service may still seal with an "
                "older key: wait, or restart every service and add --restarted"
            )
        store.master.drop_older()
        print(f"v{master.newest} is the only key of the ring; keep a copy elsewhere")


@master_key.command()
def move(
    to: Annotated[str, typer.Argument(help="What wraps the ring from then on, as in AROG_KMS; `file`: nothing")],
) -> None:
    """Wrap the key ring's file by a key service, by another one, or anew by the newest version of its key.

    Then set AROG_KMS to the same and restart. The keys of the ring stay as they are.
    """
    with failures_in_words(errors):
        from app.wiring.key_services import wrapper_of
        from kg_store.storage.master_key import MasterKey
        from kg_store.storage.ring_file import RingFile

        settings = check_settings()
        file = _file_of(settings)
        was_clear = not file.is_wrapped
        # A ring in clear is read although AROG_KMS is set already.
        ring = (RingFile(file.path) if was_clear else file).read()
        MasterKey.from_text(ring)
        RingFile(file.path, None if to == "file" else wrapper_of(to, settings)).write(ring)
    print("the ring's file is in clear" if to == "file" else f"the ring's file is wrapped by {to}")
    if to != (settings.kms or "file"):
        tell(f"{'unset AROG_KMS' if to == 'file' else f'set AROG_KMS={to}'}, and restart every service")
    if was_clear and to != "file":
        tell("copies of the file in clear still open everything: destroy them, and call `arog master-key rotate`")


def _add_key(store: ServiceContext) -> None:
    """Adds a new master key to the ring, unless the last rotation is unfinished: then that one is to be continued.

    Raises ConfigurationError if the last rotation is finished but its old key is still in the ring.
    """
    from app.settings import ConfigurationError
    from kg_store.storage.master_key import MasterKey

    master = store.master
    if len(master.versions) > 1:
        if all(version == master.newest for version in _counted(store)):
            raise ConfigurationError(
                "the last rotation is done: first take its old key out, by `arog master-key drop`"
            )
        tell(f"going on with v{master.newest}")
        return
    file = _file_of(store.settings)
    file.write(MasterKey.rotated(file.read()))
    master.refresh()
    tell(f"v{master.newest} is added to the ring; running services take it up when they meet it")


def _tell(store: ServiceContext) -> None:
    counted = _counted(store)
    for version in sorted({*counted, *store.master.versions}, reverse=True):
        lost = "" if version in store.master.versions else " (not in the ring: lost)"
        print(f"v{version}: {counted[version]} sealed{lost}")
    if all(version == store.master.newest for version in counted) and len(store.master.versions) > 1:
        print("nothing is sealed with an older key any more: `arog master-key drop`")


def _counted(store: ServiceContext) -> Counter[int]:
    from app.graphs.erasure.sealed_rows import sealed_by
    from kg_store.storage.data_folder import DataFolder

    return +sealed_by(store.engine, DataFolder(store.settings.data_dir))


def _file_of(settings: Settings) -> RingFile:
    from app.settings import ConfigurationError
    from app.wiring.key_services import ring_file_of

    if settings.master_key is not None:
        raise ConfigurationError(
            "the ring is in AROG_MASTER_KEY, where no running service could take up a new key: put it into a file, "
            "set AROG_MASTER_KEY_FILE, and restart"
        )
    return ring_file_of(settings)
