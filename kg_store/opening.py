"""A file's bytes, unpacked where it is gzipped, with our own errors."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from kg_store.terms import LoadError


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Raises LoadError where the file can't be read, or its gzip data is broken."""
    with told(path), path.open("rb") as opened:
        yield cast(IO[bytes], gzip.GzipFile(fileobj=opened)) if path.suffix.lower() == ".gz" else opened


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What goes wrong with the file itself, in our own words."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LoadError("the gzip data is broken or cut off", path.name) from None
    except OSError:
        raise LoadError("the file can't be read", path.name) from None
