"""A file's bytes, unpacked where it is gzipped, with our own errors."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from kg_store.errors import LoadError

_CHUNK_BYTES = 1 << 20


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Raises LoadError where the file can't be read, or its gzip data is broken."""
    with translate_io_errors(path), path.open("rb") as opened:
        yield cast(IO[bytes], gzip.GzipFile(fileobj=opened)) if path.suffix.lower() == ".gz" else opened


def require_unpacked_within(paths: Sequence[Path], most_bytes: int) -> None:
    """Raises LoadError where the gzipped files among `paths` unpack to more than `most_bytes` in all.

    Nothing of them is kept: a few kilobytes can unpack to gigabytes, which must not fill memory or disk.
    """
    left = most_bytes
    for path in paths:
        if path.suffix.lower() == ".gz":
            with open_bytes(path) as stream:
                while read := len(stream.read(_CHUNK_BYTES)):
                    left -= read
                    if left < 0:
                        raise LoadError(f"the gzip data unpacks to more than {most_bytes} bytes", path.name)


@contextmanager
def translate_io_errors(path: Path) -> Iterator[None]:
    """Raises LoadError, in our own words, for what goes wrong with the file itself."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LoadError("the gzip data is broken or cut off", path.name) from None
    except OSError:
        raise LoadError("the file can't be read", path.name) from None
