"""Opens files safely: unpacked, decoded, within bounds, without XML entities and remote contexts."""

from __future__ import annotations

import codecs
import ctypes
import gc
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, Literal, cast

from kg_store.errors import LoadError

_CHUNK_BYTES = 1 << 20


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for reading, gunzipped if its name ends with .gz. Raises LoadError."""
    with translate_io_errors(path), path.open("rb") as opened:
        yield cast(IO[bytes], gzip.GzipFile(fileobj=opened)) if path.suffix.lower() == ".gz" else opened


@dataclass(frozen=True, slots=True)
class PackedBounds:
    """The most that the gzipped files of one load may hold.

    `max_facts`: the facts beyond one for each byte of the packed files.
    """

    max_bytes: int
    max_facts: int


def require_unpacked_within(paths: Sequence[Path], bounds: PackedBounds) -> None:
    """Raises LoadError if the gzipped files among `paths` hold more than `bounds` in all.

    What they unpack to is only counted, not kept: a few kilobytes can unpack to gigabytes. The facts of tables and of
    JSON are estimated by their cells; those of other files are counted when they are read.
    """
    packed = [path for path in paths if path.suffix.lower() == ".gz"]
    left, most = bounds.max_bytes, bounds.max_facts + sum(path.stat().st_size for path in packed)
    facts = 0
    for path in packed:
        unbroken, ending = 0, path.suffixes[-2:-1]
        with open_bytes(path) as stream:
            while data := stream.read(_CHUNK_BYTES):
                left -= len(data)
                facts += _facts_in(data, ending)
                end = max(data.rfind(b"\n"), data.rfind(b"\r"))
                unbroken = unbroken + len(data) if end < 0 else len(data) - end
                if unbroken > _MAX_LINE_BYTES and ending in _TEXT_TABLES:
                    raise LoadError(TOO_LONG_LINE, path.name)
                if left < 0:
                    raise LoadError(f"the gzip data unpacks to more than {bounds.max_bytes} bytes", path.name)
                if facts > most:
                    raise LoadError(too_many_facts(most), path.name)


def too_many_facts(most: int) -> str:
    return f"more than {most:,} facts, more than files of this size hold: unpack or split them"


_TEXT_TABLES: Final = ([".csv"], [".tsv"], [".txt"])
_CELLS: Final = bytes(ord(",") if byte in b",;\t|\r\n" else ord("a") for byte in range(256))
_MEMBER: Final = re.compile(rb'":\s*(?![\s{\[])')


def _facts_in(data: bytes, ending: Sequence[str]) -> int:
    """Returns about how many facts a part of a table or of JSON holds, 0 for other files.

    They are the cells that are not empty, but for one in each line, or the members that are no list or object.
    """
    if ending in _TEXT_TABLES:
        return max(0, data.translate(_CELLS).count(b",a") - data.count(b"\n"))
    return len(_MEMBER.findall(data)) if ending in ([".json"], [".geojson"], [".jsonl"], [".ndjson"]) else 0


@contextmanager
def translate_io_errors(path: Path) -> Iterator[None]:
    """Raises LoadError with our own text for errors in opening or unpacking the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LoadError("the gzip data is broken or cut off", path.name) from None
    except OSError:
        raise LoadError("the file can't be read", path.name) from None


Encoding = Literal["utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254"]

MAX_FOREIGN_SHARE: Final = 0.3
"""The greatest share of letters outside of ASCII in a text in a western code page; Cyrillic or Greek have more."""


MAX_WHOLE_BYTES: Final = 1 << 26
"""The greatest size of a file of a format that is read whole."""


def whole_text(path: Path) -> str:
    """Returns the text of a file without its byte order mark. Raises LoadError for one that is too large."""
    with open_bytes(path) as stream:
        packed = stream.read(MAX_WHOLE_BYTES + 1)
    if len(packed) > MAX_WHOLE_BYTES:
        raise LoadError(f"more than {MAX_WHOLE_BYTES >> 20} MB: split it into several files", path.name)
    return packed.decode(encoding_of(path), "replace").removeprefix("\ufeff")


def encoding_of(path: Path) -> Encoding:
    """Returns the encoding in which the whole file can be read.

    If none is certain, returns `utf-8`, so that reading reports the line where it fails. Raises LoadError if the file
    cannot be opened.
    """
    told = path.stat()
    return _found(path, told.st_size, told.st_mtime_ns)


@lru_cache(maxsize=512)
def _found(path: Path, _size: int, _modified: int) -> Encoding:
    with open_bytes(path) as stream:
        if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
    tried: tuple[Encoding, ...] = ("utf-8", "cp1252")
    for encoding in tried:
        decoder = codecs.getincrementaldecoder(encoding)()
        letters = foreign = 0
        with open_bytes(path) as stream, suppress(UnicodeDecodeError):
            while chunk := stream.read(_CHUNK_BYTES):
                text = decoder.decode(chunk)
                if encoding == "cp1252":
                    letters += sum(char.isalpha() for char in text)
                    foreign += sum(char.isalpha() and not char.isascii() for char in text)
            decoder.decode(b"", final=True)
            if foreign <= MAX_FOREIGN_SHARE * letters:
                return encoding
    return "utf-8"


MAX_LITERAL_BYTES = 1 << 20
MAX_LINE_CHARS = 1 << 22
_MAX_LINE_BYTES: Final = 4 * MAX_LINE_CHARS
MAX_DEPTH = 32
"""The deepest nesting of lists and objects."""
TOO_LONG_LITERAL = f"a text of more than {MAX_LITERAL_BYTES >> 20} MB: leave it out, or put it into a file of its own"
TOO_LONG_LINE = f"a line of more than {MAX_LINE_CHARS >> 20} million characters"
_PIECE_BYTES = 1 << 16


class BoundedRuns(io.RawIOBase):
    """Wraps a stream; reading raises LoadError if more than MAX_LITERAL_BYTES lie between two occurrences of `mark`.

    Promise: if each literal ends with `mark`, as with a quote, a parser that reads this stream never has a longer
    literal in memory. A `mark` after a backslash counts as part of the literal.
    """

    def __init__(self, stream: IO[bytes], file: str, mark: bytes) -> None:
        self._stream, self._file, self._mark = stream, file, mark
        self._run, self._open_escape = 0, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Returns `size` bytes, and fewer only at the end of the stream; all of the rest for -1.

        A shorter read in between would mislead a parser that looks at the beginning in one read.
        """
        pieces: list[bytes] = []
        while size and (data := self._stream.read(_PIECE_BYTES if size < 0 else min(size, _PIECE_BYTES))):
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


MAX_XML_DEPTH: Final = 10_000
"""The deepest nesting of XML elements: a parser of RDF/XML takes quadratic time for it."""
MAX_OPEN_BRACKETS: Final = 500_000
"""The most open brackets of Turtle: a parser keeps half a kilobyte for each."""
_OTHER_MARKUP: Final = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_OPENS: Final = re.compile(rb"<[^/!?]")


class BoundedCount(io.RawIOBase):
    """Wraps a stream; reading raises LoadError with `reason` once the sum of `count` over all pieces exceeds `most`.

    The sum never falls below 0. Limit: `count` sees pieces, texts and comments too, so that it is not exact, and
    `most` has to be far above what files need.
    """

    def __init__(self, stream: IO[bytes], file: str, count: Callable[[bytes], int], most: int, reason: str) -> None:
        self._stream, self._file, self._of, self._most, self._reason = stream, file, count, most, reason
        self._sum = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._sum = max(0, self._sum + self._of(data))
        if self._sum > self._most:
            raise LoadError(self._reason, self._file)
        buffer[: len(data)] = data
        return len(data)


def with_few_brackets(stream: IO[bytes], file: str) -> IO[bytes]:
    """Returns a stream of Turtle, TriG or N3; reading raises LoadError if more than MAX_OPEN_BRACKETS are open."""
    reason = f"more than {MAX_OPEN_BRACKETS:,} brackets lie within each other"
    return io.BufferedReader(BoundedCount(stream, file, _opened_brackets, MAX_OPEN_BRACKETS, reason), _PIECE_BYTES)


def with_few_elements(stream: IO[bytes], file: str, most: int) -> IO[bytes]:
    """Returns a stream of XML; reading raises LoadError if it has more than `most` elements."""
    reason = f"more than {most:,} XML elements: export the graph as CSV, or split the file"
    return io.BufferedReader(BoundedCount(stream, file, lambda data: len(_OPENS.findall(data)), most, reason))


def _opened_elements(data: bytes) -> int:
    markup = _OTHER_MARKUP.sub(b"", data)
    return len(_OPENS.findall(markup)) - markup.count(b"</") - markup.count(b"/>")


def _opened_brackets(data: bytes) -> int:
    return sum(map(data.count, (b"[", b"(", b"{"))) - sum(map(data.count, (b"]", b")", b"}")))


def bounded_lines(text: io.TextIOWrapper, file: str) -> Iterator[str]:
    """Yields the lines of `text`. Raises LoadError at a line of more than MAX_LINE_CHARS, before all of it is read."""
    number = 0
    while line := text.readline(MAX_LINE_CHARS + 1):
        number += 1
        if len(line) > MAX_LINE_CHARS:
            raise LoadError(TOO_LONG_LINE, file, number)
        yield line


_MAX_PROLOG_BYTES = 1 << 20
_MAX_ENTITY_BYTES = 1_000  # The longest namespaces have a few hundred bytes.
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ENTITY_VALUE = re.compile(rb"<!ENTITY\s[^\"'>]*(\"[^\"]*\"|'[^']*')")
_ROOT = re.compile(rb"<[A-Za-z_]")
_LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]+)*")


MAX_JSON_LD_BYTES: Final = 1 << 25
"""The greatest size of a JSON-LD file, because it is read whole, into up to thirty times as much memory."""


def local_json(stream: IO[bytes], file: str, skipped: Counter[str]) -> bytes:
    """Returns JSON-LD, checked to need no remote context, and written anew from the parsed tree.

    So the parser reads exactly the keys that were checked. Counts in `skipped` the keys that no context defines, which
    a parser leaves out. Raises LoadError for invalid JSON and for remote contexts.
    """
    text = stream.read(MAX_JSON_LD_BYTES + 1)
    if len(text) > MAX_JSON_LD_BYTES:
        raise LoadError(f"JSON-LD of more than {MAX_JSON_LD_BYTES >> 20} MB: convert it to N-Triples (.nt)", file)
    try:
        tree = json.loads(text)
        written = json.dumps(tree).encode()
    except json.JSONDecodeError as error:
        raise LoadError("not valid JSON", file, error.lineno) from None
    except (ValueError, RecursionError):
        # Invalid bytes, numbers of thousands of digits, or thousands of nested brackets.
        raise LoadError("not valid JSON, or nested too deep, or a number too long", file) from None
    objects = list(_objects(tree))
    contexts = [part for each in objects for part in _context_parts(each)]
    if any("@import" in each for each in objects) or any(isinstance(part, str) for part in contexts):
        raise LoadError("a remote @context; write the context into the file", file)
    unread = _without_meaning(objects, [part for part in contexts if isinstance(part, dict)])
    if unread:
        skipped[f"keys of {file} have no meaning in its @context, and were not read"] += unread
    return written


def _objects(tree: Any) -> Iterator[dict[str, Any]]:
    pending = [tree]
    while pending:
        node = pending.pop()
        pending.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        if isinstance(node, dict):
            yield node


def _context_parts(node: dict[str, Any]) -> list[Any]:
    context = node.get("@context")
    return context if isinstance(context, list) else [context]


def _without_meaning(objects: list[dict[str, Any]], contexts: list[dict[str, Any]]) -> int:
    """Returns the number of distinct keys in `objects` that no context defines; 0 if a context has a @vocab.

    Keywords (`@id`) and IRIs do not count, nor do objects whose keys all look like language tags (`de`, `en`): these
    hold the values of a term with `@container: @language`.
    """
    if any(part.get("@vocab") is not None for part in contexts):
        return 0
    inside = {id(each) for part in contexts for each in _objects(part)}
    terms = {term for part in contexts for term in part}
    maps = {id(each) for each in objects if each and all(map(_LANGUAGE_TAG.fullmatch, each))}
    keys = {key for each in objects if id(each) not in inside | maps for key in each}
    return sum(not key.startswith("@") and ":" not in key and key not in terms for key in keys)


def tame_xml(stream: IO[bytes], file: str) -> IO[bytes]:
    """Returns the XML stream, unread, after checking what stands before its first element.

    Raises LoadError for an entity that is too long or refers to other entities, since such entities can expand to
    gigabytes, and for a file that is not UTF-8.
    """
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
    joined = cast(IO[bytes], Rejoined(prolog, stream))
    reason = f"XML elements lie more than {MAX_XML_DEPTH:,} deep within each other"
    return io.BufferedReader(BoundedCount(joined, file, _opened_elements, MAX_XML_DEPTH, reason), _PIECE_BYTES)


class Rejoined(io.RawIOBase):
    """Joins the beginning of a stream, which was read already, and the rest."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


OBJECTS_BETWEEN_SEARCHES: Final = (50_000, 2, 1_000)
"""Thresholds for Python's searches for cycles of objects, which are 700, 10 and 10 by themselves.

Nothing else runs during a search. So one of the second generation looks at few objects, and one of all objects, which
takes seconds beside a large load, comes at the end of a job and hardly ever before.
"""


def give_memory_back() -> None:
    """Returns freed memory to the system, also that of objects in cycles, which parsers leave of what they have read.

    Otherwise the service would stay as large as its largest file.
    """
    gc.collect()
    give_freed_back()


def give_freed_back() -> None:
    """Returns freed memory to the system, since glibc keeps it. Does nothing with another C library."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
