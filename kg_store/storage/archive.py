"""Writes and reads sealed archives: a stream of files, encrypted with the master key in numbered pieces."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from kg_store.errors import MasterKeyError, StoreError
from kg_store.storage.master_key import MasterKey, bind

PURPOSE: Final = "archive"
_MAGIC: Final = b"arog archive 1\n"
_ID_BYTES: Final = 16
_PIECE_BYTES: Final = 1 << 20
_LENGTH_BYTES: Final = 4
MAX_SEALED_BYTES: Final = _PIECE_BYTES + 256


class ArchiveError(StoreError):
    """Raised if a file is no sealed archive, does not open, or was changed or cut off. Its text names no content."""


class _SealingFile(io.RawIOBase):
    """A file to write to; what is written is sealed in pieces, each bound to the archive, its number and its place."""

    def __init__(self, master: MasterKey, out: BinaryIO) -> None:
        self._master, self._out, self._id = master, out, os.urandom(_ID_BYTES)
        self._waiting, self._number = bytearray(), 0
        out.write(_MAGIC + self._id)

    def writable(self) -> bool:
        return True

    def write(self, plain: object) -> int:
        data = bytes(plain)  # type: ignore[call-overload]
        self._waiting += data
        while len(self._waiting) > _PIECE_BYTES:
            self._seal(bytes(self._waiting[:_PIECE_BYTES]), is_last=False)
            del self._waiting[:_PIECE_BYTES]
        return len(data)

    def finish(self) -> None:
        """Writes the last piece. Without it, a reader takes the archive for one that was cut off."""
        self._seal(bytes(self._waiting), is_last=True)

    def _seal(self, plain: bytes, is_last: bool) -> None:
        sealed = self._master.seal(PURPOSE, _context(self._id, self._number, is_last), plain)
        self._out.write(len(sealed).to_bytes(_LENGTH_BYTES, "big") + sealed)
        self._number += 1


class _OpeningFile(io.RawIOBase):
    """A file to read from: the pieces of an archive, opened one after the other."""

    def __init__(self, master: MasterKey, source: BinaryIO) -> None:
        self._master, self._source = master, source
        if source.read(len(_MAGIC)) != _MAGIC:
            raise ArchiveError("the file is no backup of this program")
        self._id = source.read(_ID_BYTES)
        self._plain, self._number = b"", 0
        length = source.read(_LENGTH_BYTES)
        self._next = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._plain and self._next:
            self._plain = self._piece()
        taken = self._plain[: len(view)]
        view[: len(taken)] = taken
        self._plain = self._plain[len(taken) :]
        return len(taken)

    def _piece(self) -> bytes:
        size = int.from_bytes(self._next, "big")
        sealed = self._source.read(min(size, MAX_SEALED_BYTES))
        self._next = self._source.read(_LENGTH_BYTES)
        context = _context(self._id, self._number, is_last=not self._next)
        try:
            plain = self._master.open(PURPOSE, context, sealed)
        except MasterKeyError as error:
            raise ArchiveError(self._reason(sealed, error)) from None
        self._number += 1
        return plain

    def _reason(self, sealed: bytes, error: MasterKeyError) -> str:
        if self._number == 0 and MasterKey.version_of(sealed) not in self._master.versions:
            return f"the backup does not open: {error}"
        if self._number == 0:
            return "the backup does not open: it was sealed with another master key, or it was changed"
        return f"the backup was changed or cut off: piece {self._number + 1} does not open, so nothing is restored"


def _context(archive_id: bytes, number: int, is_last: bool) -> bytes:
    return bind(archive_id.hex(), str(number), "last" if is_last else "more")


@contextmanager
def writing(master: MasterKey, path: Path) -> Iterator[tarfile.TarFile]:
    """Yields a tar file whose bytes are sealed into `path`, a new file of mode 0600; it is there only once all is.

    Promise: without the master key the archive reveals its size and the number of its key; a piece that is changed,
    left out, moved or taken from another archive makes reading fail. Raises ArchiveError if the file is there already.
    """
    if path.exists():
        raise ArchiveError("the file is there already: name another one, for no backup is overwritten")
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    try:
        with open(fresh, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            sealing = _SealingFile(master, out)
            with tarfile.open(fileobj=sealing, mode="w|", format=tarfile.PAX_FORMAT) as tar:
                yield tar
            sealing.finish()
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def reading(master: MasterKey, path: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Yields the name and content of each file of an archive; the content has to be read before the next one.

    Raises ArchiveError; what was yielded before is then part of an archive that is not whole.
    """
    with path.open("rb") as source:
        opening = io.BufferedReader(_OpeningFile(master, source))
        with tarfile.open(fileobj=opening, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is not None:
                    yield member.name, content  # type: ignore[misc]
        # A tar file ends before its last block; what follows has to be there and to open too.
        while opening.read(_PIECE_BYTES):
            pass
