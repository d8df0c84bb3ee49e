"""Bounds on what a file may put into memory at once: one literal, one line, one workbook."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

from kg_store.errors import LoadError

MAX_LITERAL_BYTES = 1 << 20
MAX_LINE_CHARS = 1 << 22
MAX_DEPTH = 32
"""Of lists and objects within each other."""
TOO_LONG_LITERAL = f"a text of more than {MAX_LITERAL_BYTES >> 20} MB: leave it out, or put it into a file of its own"
TOO_LONG_LINE = f"a line of more than {MAX_LINE_CHARS >> 20} million characters"
_CHUNK_BYTES = 1 << 16


class BoundedRuns(io.RawIOBase):
    """The same stream, which raises LoadError where more than MAX_LITERAL_BYTES stand between two of `mark`.

    Promise: a parser that reads this never has a longer literal in memory, where `mark` stands at the ends of each.
    A `mark` behind a backslash is a part of the literal.
    """

    def __init__(self, stream: IO[bytes], file: str, mark: bytes) -> None:
        self._stream, self._file, self._mark = stream, file, mark
        self._run, self._open_escape = 0, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """As many bytes as are asked for, fewer at the end alone: who looks at a beginning has to see all of it."""
        pieces: list[bytes] = []
        while size and (data := self._stream.read(_CHUNK_BYTES if size < 0 else min(size, _CHUNK_BYTES))):
            self._count(data)
            pieces.append(data)
            size -= len(data) if size > 0 else 0
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _count(self, data: bytes) -> None:
        plain = (self._open_escape + data).replace(b"\\\\", b"__").replace(b"\\" + self._mark, b"__")
        self._open_escape = b"\\" if plain.endswith(b"\\") else b""
        first, last = plain.find(self._mark), plain.rfind(self._mark)
        self._run += len(plain) if first < 0 else first
        if self._run > MAX_LITERAL_BYTES:
            raise LoadError(TOO_LONG_LITERAL, self._file)
        if last >= 0:
            self._run = len(plain) - last - 1


def bounded_lines(text: io.TextIOWrapper, file: str) -> Iterator[str]:
    """The lines of `text`. Raises LoadError at one of more than MAX_LINE_CHARS, without having read all of it."""
    number = 0
    while line := text.readline(MAX_LINE_CHARS + 1):
        number += 1
        if len(line) > MAX_LINE_CHARS:
            raise LoadError(TOO_LONG_LINE, file, number)
        yield line
