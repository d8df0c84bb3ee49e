"""Finds how the text of a file is encoded: UTF-8, UTF-16 with its mark, or the Windows code page of western Europe."""

from __future__ import annotations

import codecs
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from kg_store.formats.files import open_bytes

Encoding = Literal["utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254"]

_CHUNK_BYTES: Final = 1 << 20
_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_FOREIGN_SHARE: Final = 0.3
"""Of the letters of a text in a western code page, how many lie outside of ASCII; Cyrillic or Greek have far more."""


def encoding_of(path: Path) -> Encoding:
    """Returns the encoding in which the whole file can be read; `utf-8` where none is certain, so that reading it says
    in which line it fails. Raises LoadError where the file can't be opened."""
    told = path.stat()
    return _found(path, told.st_size, told.st_mtime_ns)


@lru_cache(maxsize=512)
def _found(path: Path, _size: int, _modified: int) -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        chunk = stream.read(_CHUNK_BYTES)
        if chunk.startswith(_UTF16_MARKS):
            return "utf-16"
        while chunk and _can_decode(decoder, chunk):
            chunk = stream.read(_CHUNK_BYTES)
    if not chunk and _can_decode(decoder, b"", final=True):
        return "utf-8"
    return "cp1252" if _is_western(path) else "utf-8"


def _is_western(path: Path) -> bool:
    """Returns True if all bytes are of the code page, and few of its letters lie outside of ASCII."""
    letters = foreign = 0
    with open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            try:
                found = [char for char in chunk.decode("cp1252") if char.isalpha()]
            except UnicodeDecodeError:
                return False
            letters += len(found)
            foreign += sum(not char.isascii() for char in found)
    return foreign <= MAX_FOREIGN_SHARE * letters


def _can_decode(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True
