"""The byte format of a name index: arrays after a magic word. It is no pickle, so reading it runs no code."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence

from kg_store.errors import FormatTooNewError, StoreError

_MAGIC = b"AROGNAM1"
_LENGTH = struct.Struct("<Q")


def pack(sections: Sequence[bytes | memoryview]) -> bytes:
    """Returns the sections one after the other, each with its length, padded to 8 bytes so that arrays
    stay aligned.
    """
    parts = [_MAGIC, _LENGTH.pack(len(sections))]
    for section in sections:
        data = bytes(section)
        parts += [_LENGTH.pack(len(data)), data, bytes(-len(data) % 8)]
    return b"".join(parts)


def unpack(data: bytes) -> list[memoryview]:
    """Returns the sections of `pack` without copying. Raises FormatTooNewError or StoreError."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise FormatTooNewError("the name index was written by another format version")
    view, position = memoryview(data), len(_MAGIC) + _LENGTH.size
    sections = []
    for _ in range(_number_at(data, len(_MAGIC))):
        length = _number_at(data, position)
        start, end = position + _LENGTH.size, position + _LENGTH.size + length
        if end > len(data):
            raise StoreError("the name index is cut off")
        sections.append(view[start:end])
        position = end + -length % 8
    return sections


def numbers(values: Iterable[int]) -> memoryview:
    """Returns signed 64-bit numbers as a read-only buffer."""
    if sys.byteorder != "little":
        raise StoreError("name indexes are written on little-endian machines only")
    return memoryview(array("q", values)).toreadonly()


def _number_at(data: bytes, position: int) -> int:
    if position + _LENGTH.size > len(data):
        raise StoreError("the name index is cut off")
    return int(_LENGTH.unpack_from(data, position)[0])
