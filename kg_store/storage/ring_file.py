"""RingFile: the file of the key ring, in clear, or wrapped by a key service outside of this machine."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from kg_store.errors import MasterKeyError

_WRAPPED: Final = "wrapped:"


class KeyWrapper(Protocol):
    """A key service that keeps a key of its own to itself, and encrypts and decrypts short texts with it.

    Promise: `unwrap` returns what `wrap` was given, or raises KeyServiceError. Condition: the service keeps
    its key. Not promised: that the service does not see the ring; it does.
    """

    @property
    def name(self) -> str:
        """The kind of the service, which stands in the file before what it wrapped. No colon."""

    def wrap(self, plain: bytes) -> str: ...

    def unwrap(self, wrapped: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class RingFile:
    """The file of the key ring. With a wrapper it holds `wrapped:NAME:...`, without one the ring itself.

    Promise: with a wrapper the file opens nothing without the key service, and no ring in clear is ever taken from it
    or written to it; without one, a file that others may read is refused.
    """

    path: Path
    wrapper: KeyWrapper | None = None

    @property
    def is_wrapped(self) -> bool:
        """True if a key service wrapped what is in the file now. Raises MasterKeyError."""
        return self._text().startswith(_WRAPPED)

    def read(self) -> str:
        """Returns the ring in clear. Raises MasterKeyError, KeyServiceError."""
        text = self._text()
        kind, _, wrapped = text.removeprefix(_WRAPPED).partition(":")
        if not text.startswith(_WRAPPED):
            if self.wrapper is not None:
                raise MasterKeyError(
                    "master key: AROG_KMS is set and the ring's file is not wrapped: `arog master-key move` wraps it"
                )
            return text
        if self.wrapper is None or self.wrapper.name != kind:
            raise MasterKeyError(f"master key: the ring's file is wrapped by {kind[:20]!r}: set AROG_KMS to that key")
        try:
            return self.wrapper.unwrap(wrapped).decode("ascii")
        except UnicodeDecodeError:
            raise MasterKeyError("master key: what the key service unwraps is no ring") from None

    def write(self, ring: str) -> None:
        """Replaces the file in one step, so that a reader finds the old ring or the new one.

        Raises KeyServiceError before anything is written.
        """
        content = self._content(ring)
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.unlink(missing_ok=True)
        _write_private(fresh, content, sync=True)
        fresh.replace(self.path)

    def create(self, ring: str) -> None:
        """Writes a new file. Raises FileExistsError, and KeyServiceError before anything is written."""
        _write_private(self.path, self._content(ring))

    def _content(self, ring: str) -> str:
        if self.wrapper is None:
            return ring + "\n"
        return f"{_WRAPPED}{self.wrapper.name}:{self.wrapper.wrap(ring.encode('ascii'))}\n"

    def _text(self) -> str:
        try:
            mode = self.path.stat().st_mode
            text = self.path.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            raise MasterKeyError("master key: the file can't be read") from None
        if mode & (stat.S_IRWXO | stat.S_IWGRP):
            raise MasterKeyError("master key: others may read or change the file; use `chmod 600`")
        return text


def _write_private(path: Path, content: str, *, sync: bool = False) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
