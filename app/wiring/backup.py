"""Backs up the data folder and its database into one sealed file, and restores it after it was checked."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import secrets
import shutil
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import SecretStr
from sqlalchemy import Engine, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateSchema, DropSchema

from app.database.engine import make_engine, migrate
from app.egress.ledger.verification import check
from app.graphs.erasure.eraser import ErasureJob, ErasureStores
from app.graphs.erasure.sealed_rows import sealed_columns
from app.settings import Settings
from app.wiring.administration import erasure_stores_of
from app.wiring.database_copy import copy_rows, is_unused, one_state
from app.wiring.store import ServiceContext, open_database, open_store, read_master_key
from kg_store.errors import MasterKeyError, StoreError
from kg_store.storage.archive import reading, writing
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.tables import forgotten_things, graphs

FORMAT: Final = 1
_ABOUT, _DATABASE, _ERASED = "backup.json", "arog.db", "erased.json"
_FOLDER_FORMAT, _VERSIONS, _STAGE = "format.json", "graphs", ".restoring"
_FILE: Final = re.compile(rf"{re.escape(_DATABASE)}|{re.escape(_FOLDER_FORMAT)}|{_VERSIONS}/[0-9a-f]{{32}}/[\w.-]+")

_DRILL: Final = "arog_verify_"
"""The beginning of the name of a schema in which a restore is tried."""

Told = Callable[[str], None]


class BackupError(StoreError):
    """Raised if something can't be backed up or restored; the text says what to do and names no content."""


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """The contents of a backup: when it was made, and how many graphs, versions and bytes it has.

    `broken`: the tenants whose ledgers a check of the backup found changed.
    """

    made_at: dt.datetime
    graphs: int
    versions: int
    size: int
    broken: tuple[str, ...] = ()


def back_up(store: ServiceContext, file: Path) -> BackupSummary:
    """Writes the database and every graph version into `file`, while the service may be running.

    Promise: the file is one state of the database, SQLite or PostgreSQL, with the versions that belong to it, sealed
    with the master key, which is not in it. Limit: uploads that are being loaded are left out. Raises BackupError,
    ArchiveError.
    """
    folder, made_at = DataFolder(store.settings.data_dir), dt.datetime.now(dt.UTC)
    with tempfile.TemporaryDirectory(dir=store.settings.data_dir, prefix=".backup-") as scratch, ExitStack() as holds:
        snapshot = Path(scratch) / _DATABASE
        with folder.alone():
            versions = _snapshot(store.engine, snapshot, folder.id)
            for version in versions:
                held = folder.hold(version)
                if held is None:
                    raise BackupError("files of a version are missing from the data folder; no backup was written")
                holds.callback(held.release)
        counted = len(store.catalog.newest(sys.maxsize))
        about = {"format": FORMAT, "made_at": made_at.isoformat(), "graphs": counted, "versions": len(versions)}
        with writing(store.master, file) as tar:
            _add(tar, _ABOUT, json.dumps(about).encode())
            tar.add(snapshot, _DATABASE)
            tar.add(store.settings.data_dir / _FOLDER_FORMAT, _FOLDER_FORMAT)
            for version in versions:
                for path in sorted(folder.path_of(version).iterdir()):
                    tar.add(path, f"{_VERSIONS}/{version}/{path.name}")
    return BackupSummary(made_at, counted, len(versions), file.stat().st_size)


def back_up_erasures(store: ServiceContext, file: Path) -> int:
    """Writes which things were erased, as keyed hashes, into a small sealed file; returns how many.

    `restore` takes it, so that nobody comes back who was erased after a backup.
    """
    query = select(graphs.c.tenant, graphs.c.name, graphs.c.id, forgotten_things.c.mid)
    query = query.join(graphs, graphs.c.id == forgotten_things.c.graph_id)
    with store.engine.connect() as connection:
        rows = [[*row] for row in connection.execute(query)]
    with writing(store.master, file) as tar:
        _add(tar, _ERASED, json.dumps(rows).encode())
    return len(rows)


def restore(settings: Settings, file: Path, erased: Path | None, told: Told) -> BackupSummary:
    """Restores a backup into the empty data folder and database of `settings`, after everything in it was checked.

    `erased`: a file of `back_up_erasures`; what it names is erased before the folder is put in its place. `told` gets
    a sentence for each check, and for what was erased. Raises BackupError, ArchiveError; then nothing is changed.
    """
    master, database = read_master_key(settings), _file_of(settings.database)
    held = [settings.data_dir / _FOLDER_FORMAT, settings.data_dir / _VERSIONS, *([database] if database else [])]
    if any(path.exists() for path in held) or (database is None and not _is_unused(settings)):
        raise BackupError(
            "there is a data folder or a database already, and a restore replaces none: move it away, or name an "
            "empty folder in AROG_DATA_DIR and an empty database in AROG_DATABASE_URL"
        )
    stage = settings.data_dir / _STAGE
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(mode=0o700, parents=True)
    try:
        summary = _checked(settings, master, file, stage, erased, told)
        with _filled(settings, stage / _DATABASE) if database is None else nullcontext():
            shutil.move(stage / _VERSIONS, settings.data_dir / _VERSIONS)
            shutil.move(stage / _FOLDER_FORMAT, settings.data_dir / _FOLDER_FORMAT)
        if database is not None:
            database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(stage / _DATABASE, database)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return summary


def verify(settings: Settings, file: Path, erased: Path | None, told: Told) -> BackupSummary:
    """Checks that a backup can be restored, in a folder of its own that is deleted again. Raises as `restore`.

    If the settings name a PostgreSQL database, it is also restored into a schema there that is dropped again, whatever
    else the database holds.
    """
    master, in_server = read_master_key(settings), _file_of(settings.database) is None
    with tempfile.TemporaryDirectory(prefix="arog-verify-") as scratch:
        stage = Path(scratch)
        summary = _checked(settings, master, file, stage, erased, told)
        if in_server:
            with _schema_of_its_own(settings.database) as url:
                drill = settings.model_copy(update={"database_url": SecretStr(url)})
                with _filled(drill, stage / _DATABASE):
                    told("all rows went into the database of AROG_DATABASE_URL")
                with _opened(drill, stage, drill.database_url) as store:
                    _check(store, lambda sentence: told(f"{sentence}, in that database too"))
        return summary


@contextmanager
def _schema_of_its_own(url: str) -> Iterator[str]:
    """Makes an empty schema in a PostgreSQL database, and yields a URL that sees no other; drops it in the end.

    Raises BackupError.
    """
    name, own = f"{_DRILL}{secrets.token_hex(8)}", make_url(url)
    given = own.query.get("options", ())
    options = " ".join([given] if isinstance(given, str) else given)
    with _closing(make_engine(url)) as engine:
        try:
            with engine.begin() as connection:
                connection.execute(CreateSchema(name))
        except SQLAlchemyError as error:
            raise BackupError(
                f"no schema can be made in the database of AROG_DATABASE_URL ({type(error).__name__}): its user needs "
                "the right CREATE on the database, or check the backup without AROG_DATABASE_URL"
            ) from None
        try:
            changed = own.update_query_dict({"options": f"{options} -csearch_path={name}".strip()})
            yield changed.render_as_string(hide_password=False)
        finally:
            with engine.begin() as connection:
                connection.execute(DropSchema(name, cascade=True))


def _checked(
    settings: Settings, master: MasterKey, file: Path, stage: Path, erased: Path | None, told: Told
) -> BackupSummary:
    """Unpacks a backup into `stage`, checks it there, and erases what `erased` names."""
    listed = _read_erased(master, erased) if erased else []
    summary = _unpack(master, file, stage)
    with _opened(settings, stage) as store:
        broken = _check(store, told)
        if listed:
            told(_erase(store, listed))
            _check(store, lambda _sentence: None)
        # Nothing may be left in a log beside the database, which is moved as one file.
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return replace(summary, broken=broken)


@contextmanager
def _opened(settings: Settings, stage: Path, database_url: SecretStr | None = None) -> Iterator[ServiceContext]:
    key_file = None if settings.master_key is not None else settings.key_file
    changes = {"data_dir": stage, "database_url": database_url, "master_key_file": key_file}
    store = open_store(settings.model_copy(update=changes | {"alarm_url": None, "access_otlp_url": None}))
    try:
        yield store
    finally:
        store.close()


def _unpack(master: MasterKey, file: Path, stage: Path) -> BackupSummary:
    about: dict[str, Any] = {}
    try:
        for name, content in reading(master, file):
            if name == _ABOUT:
                about = json.loads(content.read())
                if about["format"] != FORMAT:
                    raise BackupError("a newer version of this program made the backup: restore it with that one")
            elif _FILE.fullmatch(name) and about:
                _write(stage / name, content)
            else:
                raise BackupError("the file is no backup of a data folder")
    except (OSError, tarfile.TarError):
        raise BackupError("the backup can't be read, or there is no room to unpack it") from None
    made_at = dt.datetime.fromisoformat(about["made_at"])
    return BackupSummary(made_at, about["graphs"], about["versions"], file.stat().st_size)


def _write(path: Path, content: BinaryIO) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("xb") as out:
        path.chmod(0o600)
        shutil.copyfileobj(content, out)


def _check(store: ServiceContext, told: Told) -> tuple[str, ...]:
    """Opens every sealed row and every version that is live or kept, and checks every ledger. Raises BackupError.

    Returns the tenants whose ledgers were changed: these are restored nevertheless, as there may be no other backup.
    """
    opened = 0
    for where in sealed_columns():
        with store.engine.connect().execution_options(stream_results=True) as connection:
            for row in connection.execute(where.rows.where(where.column.is_not(None))):
                try:
                    store.master.open(where.purpose, where.context(row), row.sealed)
                except MasterKeyError as error:
                    raise BackupError(f"a row of {where.table.name} does not open: {error}") from None
                opened += 1
    told(f"{opened:,} sealed rows open")
    versions = 0
    for tenant, name in store.catalog.newest(sys.maxsize):
        store.catalog.open(tenant, name)
        versions += 1 + len([store.catalog.history.open(row) for row in store.catalog.history.kept(tenant, name)])
    told(f"{versions} versions of graphs open")
    broken = []
    for tenant in store.upkeep.tenants():
        checked = check(store.engine, store.master, store.upkeep.signer, tenant)
        state = "whole" if checked.is_whole else f"{checked.wrong} things are wrong"
        told(f"the ledger of {tenant}: rows {checked.first} to {checked.last}, {state}")
        broken += [] if checked.is_whole else [tenant]
    return tuple(broken)


def _read_erased(master: MasterKey, file: Path) -> list[tuple[str, str, str, int]]:
    for name, content in reading(master, file):
        if name == _ERASED:
            return [(tenant, graph, graph_id, mid) for tenant, graph, graph_id, mid in json.loads(content.read())]
    raise BackupError("the file of erasures is none: `arog backup --erased FILE` writes one")


def _erase(store: ServiceContext, listed: list[tuple[str, str, str, int]]) -> str:
    """Erases the listed things from a restored store. Raises BackupError if that can't be done for one graph."""
    with store.engine.connect() as connection:
        here = {row.id: (row.tenant, row.name) for row in connection.execute(select(graphs))}
        known = {(row.graph_id, row.mid) for row in connection.execute(select(forgotten_things))}
    stores: ErasureStores = erasure_stores_of(store)
    fresh = dict[str, list[int]]()
    for tenant, graph, graph_id, mid in listed:
        if graph_id in here and (graph_id, mid) not in known:
            fresh.setdefault(graph_id, []).append(mid)
        elif graph_id not in here and (tenant, graph) in here.values():
            raise BackupError(
                f"the graph {graph!r} was made anew between the backup and the erasures, so that nobody can be "
                f"matched: restore without --erased, then erase by name with `arog graph forget {graph}`"
            )
    for graph_id, mids in fresh.items():
        # The version is given no name here: the erasure waits until nobody holds it.
        job = ErasureJob(stores, store.catalog.open(*here[graph_id]), (), mids, 0.0)
        job.run(lambda _step, _percent: None)
    return f"{sum(map(len, fresh.values()))} things that were erased after the backup are erased again"


def _snapshot(engine: Engine, to: Path, folder_id: str) -> list[str]:
    """Copies the database as it is at one moment into a SQLite file.

    Returns the ids of its complete versions of this folder. Raises BackupError.
    """
    to.touch(mode=0o600)
    if _file_of(str(engine.url.render_as_string(hide_password=False))) is None:
        _copy_from_server(engine, to)
    else:
        _copy_from_file(engine, to)
    with closing(sqlite3.connect(to)) as copy:
        found = copy.execute(
            "SELECT id FROM graph_versions WHERE state = 'complete' AND folder_id = ? ORDER BY id", (folder_id,)
        )
        return [row[0] for row in found]


def _copy_from_file(engine: Engine, to: Path) -> None:
    with closing(engine.raw_connection()) as raw, closing(sqlite3.connect(to)) as copy:
        assert isinstance(raw.driver_connection, sqlite3.Connection)
        raw.driver_connection.backup(copy)


def _copy_from_server(engine: Engine, to: Path) -> None:
    with _closing(make_engine(f"sqlite:///{to}")) as copy:
        migrate(copy)
        try:
            with one_state(engine) as source, copy.begin() as target:
                copy_rows(source, target)
        except SQLAlchemyError as error:
            raise BackupError(f"the database can't be read ({type(error).__name__}); no backup was written") from None


@contextmanager
def _filled(settings: Settings, file: Path) -> Iterator[None]:
    """Copies the rows of a SQLite file into the database of `settings`, where they count when the context is left."""
    with _closing(open_database(settings)) as engine, _closing(make_engine(f"sqlite:///{file}")) as copy:
        try:
            with copy.connect() as source, engine.begin() as target:
                copy_rows(source, target)
                yield
        except SQLAlchemyError as error:
            raise BackupError(
                f"the database of AROG_DATABASE_URL can't be filled ({type(error).__name__}); it is as it was before"
            ) from None


def _is_unused(settings: Settings) -> bool:
    """Tells whether the database has no row; it is not migrated yet."""
    try:
        with _closing(make_engine(settings.database)) as engine:
            return is_unused(engine)
    except (ImportError, SQLAlchemyError):
        raise BackupError("the database of AROG_DATABASE_URL can't be opened") from None


@contextmanager
def _closing(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()


def _file_of(url: str) -> Path | None:
    """Returns the file of a SQLite database, or None for PostgreSQL. Raises BackupError for another database."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        return None
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise BackupError("`arog backup` and `arog restore` are for SQLite and PostgreSQL")
    return Path(parsed.database)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))
