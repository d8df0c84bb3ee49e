"""Makes JSON-LD and RDF/XML safe before a parser sees them: nothing is downloaded, and no entity
expands without end.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from kg_store.errors import LoadError

_MAX_PROLOG_BYTES = 1 << 20
_MAX_ENTITY_BYTES = 1_000  # the longest namespaces have some hundred
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ENTITY_VALUE = re.compile(rb"<!ENTITY\s[^\"'>]*(\"[^\"]*\"|'[^']*')")
_ROOT = re.compile(rb"<[A-Za-z_]")


def local_json(stream: IO[bytes], file: str, skipped: Counter[str]) -> bytes:
    """Returns JSON-LD written again from the parsed tree, so that what was checked is what is read. Refuses remote
    contexts.

    Counts in `skipped` the keys without a meaning in any context, which a parser leaves out.
    """
    try:
        tree = json.loads(stream.read())
    except json.JSONDecodeError as error:
        raise LoadError("not valid JSON", file, error.lineno) from None
    except (ValueError, RecursionError):
        # Bytes that are no text, numbers of thousands of digits, thousands of brackets.
        raise LoadError("not valid JSON, or nested too deep, or a number too long", file) from None
    objects = list(_objects(tree))
    if any("@import" in each or _is_remote(each.get("@context")) for each in objects):
        raise LoadError("a remote @context; write the context into the file", file)
    unread = _without_meaning(objects)
    if unread:
        skipped[f"keys of {file} have no meaning in its @context, and were not read"] += unread
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):
        raise LoadError("not valid JSON, or nested too deep, or a number too long", file) from None


def _objects(tree: Any) -> Iterator[dict[str, Any]]:
    pending = [tree]
    while pending:
        node = pending.pop()
        pending.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        if isinstance(node, dict):
            yield node


def _is_remote(context: object) -> bool:
    parts = context if isinstance(context, list) else [context]
    return any(isinstance(part, str) for part in parts)


def _without_meaning(objects: list[dict[str, Any]]) -> int:
    """The number of distinct keys that are neither keywords nor IRIs nor defined by a context, if no @vocab defines
    all.
    """
    contexts = [part for each in objects for part in _parts(each.get("@context"))]
    if any(part.get("@vocab") is not None for part in contexts):
        return 0
    inside = {id(each) for part in contexts for each in _objects(part)}
    terms = {term for part in contexts for term in part}
    maps = {id(each) for each in objects if _is_map(each)}
    keys = {key for each in objects if id(each) not in inside | maps for key in each}
    return sum(not key.startswith("@") and ":" not in key and key not in terms for key in keys)


def _parts(context: object) -> list[dict[str, Any]]:
    return [part for part in (context if isinstance(context, list) else [context]) if isinstance(part, dict)]


def _is_map(node: dict[str, Any]) -> bool:
    """True if the keys look like language tags, as in a term with `@container: @language`."""
    return bool(node) and all(re.fullmatch(r"[a-z]{2,3}(?:-[A-Za-z0-9]+)*", key) for key in node)


def tame_xml(stream: IO[bytes], file: str) -> IO[bytes]:
    """Returns the stream after checking that its prolog holds no entity that is long or made of entities."""
    prolog = stream.read(_MAX_PROLOG_BYTES)
    values = _ENTITY_VALUE.findall(prolog)
    if b"\x00" in prolog or any(b"&" in value for value in values) or b"<!ENTITY %" in prolog:
        raise LoadError("not UTF-8, or an XML entity that is made of other entities", file)
    if any(len(value) > _MAX_ENTITY_BYTES for value in values):
        raise LoadError(f"an XML entity of more than {_MAX_ENTITY_BYTES} bytes", file)
    if b"<!DOCTYPE" in prolog and not _DOCTYPE.search(prolog):
        raise LoadError("the XML document type does not end, or is too long", file)
    if len(prolog) == _MAX_PROLOG_BYTES and not _ROOT.search(prolog):
        raise LoadError("what stands before the first XML element is too long", file)
    return io.BufferedReader(_Rejoined(prolog, stream))


class _Rejoined(io.RawIOBase):
    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
