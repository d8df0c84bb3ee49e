"""DataFolder: a folder on disk with a subfolder for each graph version, locks on these, and a format version."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from kg_store.errors import FormatTooNewError, StoreError

FORMAT = 2
"""1: a row of the vault for each name. 2: pages of several, which a program that knows only format 1 can't read."""
_FORMAT_FILE, _VERSIONS, _LOCK, _FINISHED = "format.json", "graphs", "lock", "finished"

MIGRATIONS: dict[int, Callable[[Path], None]] = {1: lambda _folder: None}
"""Functions that bring a folder of format n to n + 1, by n; if one is killed, the folder stays usable."""


class FolderLock:
    """A lock on a version's folder that prevents its deletion until `release` or the end of the process."""

    def __init__(self, lock: IO[bytes]) -> None:
        self._lock = lock

    def release(self) -> None:
        self._lock.close()

    def share(self) -> None:
        """Changes the lock from exclusive (building) to shared (reading)."""
        fcntl.flock(self._lock, fcntl.LOCK_SH)


class DataFolder:
    """The folder of all versions. Its subfolders have random names, so that a path shows neither tenant nor graph."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.alone():
            self.id = self._read_format()

    def path_of(self, version_id: str) -> Path:
        return self._versions / version_id

    def unfinished_ids(self) -> list[str]:
        """Returns the ids of version folders that lack the mark of a finished one: unfinished or half deleted.

        Finished folders that this database does not know are not listed: they belong to another database.
        """
        return [path.name for path in self._versions.iterdir() if not (path / _FINISHED).exists()]

    def files_named(self, name: str) -> Iterator[Path]:
        """Yields the path of the file `name` in every version that has it."""
        return self._versions.glob(f"*/{name}")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Holds a lock while the context is open: nobody else, in any process, then begins or deletes a version."""
        with open(self._folder / _LOCK, "ab", opener=_private) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def begin(self, version_id: str) -> FolderLock:
        """Creates a new version folder, and returns a lock for its builder. Raises StoreError if it is locked."""
        path = self.path_of(version_id)
        path.mkdir(mode=0o700)
        hold = self._hold(version_id, fcntl.LOCK_EX)
        if hold is None:
            raise StoreError(f"version {version_id} is held by somebody else")
        return hold

    def hold(self, version_id: str) -> FolderLock | None:
        """Locks a version against deletion; returns None if it is being deleted or is not in this folder."""
        return self._hold(version_id, fcntl.LOCK_SH)

    def delete_unless_held(self, version_id: str, is_needed: Callable[[], bool], forget: Callable[[], None]) -> bool:
        """Calls `forget` and deletes the folder of a version; returns True if that was done.

        Nothing is done if somebody builds or reads the version, or if `is_needed` returns True.
        """
        path = self.path_of(version_id)
        hold = self._hold(version_id, fcntl.LOCK_EX) if path.is_dir() else None
        if path.is_dir() and hold is None:
            return False
        try:
            # Checked under the lock, because its builder may have finished since the caller listed it.
            if is_needed():
                return False
            (path / _FINISHED).unlink(missing_ok=True)
            forget()
            shutil.rmtree(path, ignore_errors=True)
            return True
        finally:
            if hold is not None:
                hold.release()

    def finish(self, version_id: str) -> None:
        """Marks a version as finished, and flushes all its files and its folder to disk."""
        path = self.path_of(version_id)
        (path / _FINISHED).touch()
        for part in (*path.iterdir(), path, self._versions):
            _sync(part)

    def _hold(self, version_id: str, mode: int) -> FolderLock | None:
        try:
            # Opened for appending, which creates the file; nothing is ever written into it.
            lock = (self.path_of(version_id) / _LOCK).open("ab")
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(lock, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return FolderLock(lock)

    @property
    def _versions(self) -> Path:
        return self._folder / _VERSIONS

    def _read_format(self) -> str:
        """Returns the folder's id, migrating an older format step by step. Raises FormatTooNewError."""
        path = self._folder / _FORMAT_FILE
        if not path.exists():
            self._write_format(FORMAT, uuid.uuid4().hex)
        try:
            content = json.loads(path.read_text("utf-8"))
            number, folder_id = int(content["format"]), str(content["folder"])
        except (ValueError, KeyError, TypeError):
            reason = f"{_FORMAT_FILE} of the data folder can't be read; restore it or start anew"
            raise FormatTooNewError(reason) from None
        if number > FORMAT:
            reason = f"the data folder has format {number}, this program knows up to {FORMAT}: use a newer program"
            raise FormatTooNewError(reason)
        while number < FORMAT:
            if number not in MIGRATIONS:
                raise StoreError(f"the data folder has format {number}, which is too old: load the graphs again")
            MIGRATIONS[number](self._folder)
            number += 1
            self._write_format(number, folder_id)
        return folder_id

    def _write_format(self, number: int, folder_id: str) -> None:
        path = self._folder / _FORMAT_FILE
        fresh = path.with_suffix(".new")
        with open(fresh, "w", encoding="utf-8", opener=_private) as file:
            file.write(json.dumps({"format": number, "folder": folder_id}))
        _sync(fresh)
        fresh.replace(path)
        _sync(self._folder)


def _private(path: str, flags: int) -> int:
    """Opens a file so that no other user can read or write it, even if it existed with wider permissions."""
    handle = os.open(path, flags, 0o600)
    with suppress(PermissionError):
        os.fchmod(handle, 0o600)
    return handle


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
