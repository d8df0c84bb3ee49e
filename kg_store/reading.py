"""Files and rdflib graphs to triples: every format that a load takes, streamed, with no network ever."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyoxigraph

from kg_store.raw_graph import RawGraph, Term, collect
from kg_store.terms import LoadError
from kg_store.text_triples import read_cells

if TYPE_CHECKING:
    import rdflib

Fraction = Callable[[float], None]
Triples = Iterator[tuple[Term, Term, Term]]

_RDF = {
    ".ttl": ("Turtle", pyoxigraph.RdfFormat.TURTLE),
    ".turtle": ("Turtle", pyoxigraph.RdfFormat.TURTLE),
    ".nt": ("N-Triples", pyoxigraph.RdfFormat.N_TRIPLES),
    ".nq": ("N-Quads", pyoxigraph.RdfFormat.N_QUADS),
    ".trig": ("TriG", pyoxigraph.RdfFormat.TRIG),
    ".n3": ("N3", pyoxigraph.RdfFormat.N3),
    ".rdf": ("RDF/XML", pyoxigraph.RdfFormat.RDF_XML),
    ".owl": ("RDF/XML", pyoxigraph.RdfFormat.RDF_XML),
    ".xml": ("RDF/XML", pyoxigraph.RdfFormat.RDF_XML),
    ".jsonld": ("JSON-LD", pyoxigraph.RdfFormat.JSON_LD),
}
_TEXT = (".tsv", ".csv", ".txt")
FORMATS = (*_RDF, *_TEXT)
"""File endings that a load takes, each also with `.gz` behind it."""

# Relative IRIs of a file without a base resolve against this name, which can't be looked up (RFC 2606).
_BASE = "http://file.invalid/"
_REPORT_BYTES = 1 << 18
_MAX_PROLOG_BYTES = 1 << 20
# What the parser says may quote the file: only these parts of it are told apart, in our own words.
_REASONS = (
    ("end of file", "the file ends in the middle of a statement"),
    ("Line jumps", "a line break inside a quoted string"),
    ("prefix", "a prefix that is not declared, or a broken prefixed name"),
    ("IRI", "an IRI that is not valid"),
    ("language", "a language tag that is not valid"),
    ("UTF-8", "bytes that are not UTF-8"),
)


def read_sources(sources: Sequence[Path] | rdflib.Graph, progress: Fraction = lambda _done: None) -> RawGraph:
    """Every triple of all sources. `progress` gets the share of bytes read, 0 to 1.

    Raises LoadError with file and line; its text never quotes the file.
    """
    skipped: Counter[str] = Counter()
    raw = collect(
        _all_files(sources, progress, skipped) if isinstance(sources, Sequence) else _rdflib_triples(sources)
    )
    if not len(raw.subjects):
        raise LoadError("no source holds a triple")
    raw.notes = tuple(f"{count} {reason}" for reason, count in skipped.items())
    return raw


def _all_files(paths: Sequence[Path], progress: Fraction, skipped: Counter[str]) -> Triples:
    try:
        total = max(1, sum(path.stat().st_size for path in paths))
    except OSError:
        raise LoadError("the file can't be read", _missing(paths)) from None
    done = 0
    for number, path in enumerate(paths):
        yield from _file(path, number, _from(done, total, progress), skipped)
        done += path.stat().st_size


def _from(done: int, total: int, progress: Fraction) -> Callable[[int], None]:
    return lambda read: progress(min(1.0, (done + read) / total))


def _missing(paths: Sequence[Path]) -> str:
    return next((path.name for path in paths if not path.is_file()), "")


def _file(path: Path, number: int, on_bytes: Callable[[int], None], skipped: Counter[str]) -> Triples:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    ending = (suffixes[-2:-1] if zipped else suffixes[-1:]) or [""]
    if ending[0] not in FORMATS:
        raise LoadError("unknown file ending; allowed: " + ", ".join(FORMATS) + ", each also with .gz", path.name)
    try:
        with path.open("rb") as opened:
            counted = io.BufferedReader(_Counted(opened, on_bytes), _REPORT_BYTES)
            stream = gzip.GzipFile(fileobj=counted) if zipped else counted
            if ending[0] in _TEXT:
                yield from read_cells(stream, path.name, ending[0] == ".csv", skipped)  # type: ignore[arg-type]
            else:
                yield from _rdf(stream, ending[0], number, path.name)  # type: ignore[arg-type]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LoadError("the gzip data is broken or cut off", path.name) from None
    except OSError:
        raise LoadError("the file can't be read", path.name) from None


class _Counted(io.RawIOBase):
    """A raw stream that says how many bytes were read of it."""

    def __init__(self, inner: IO[bytes], on_bytes: Callable[[int], None]) -> None:
        self._inner, self._on_bytes, self._read = inner, on_bytes, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        self._on_bytes(self._read)
        return len(data)


def _rdf(stream: IO[bytes], ending: str, number: int, file: str) -> Triples:
    label, form = _RDF[ending]
    source: IO[bytes] | bytes = stream
    if label == "JSON-LD":
        source = _local_json(stream, file)
    elif label == "RDF/XML":
        source = _tame_xml(stream, file)
    blank = f"_:{number}."
    try:
        for subject, predicate, tail, _graph in pyoxigraph.parse(input=source, format=form, base_iri=_BASE):
            if type(tail) is pyoxigraph.Triple:
                raise _NotPlain
            yield _plain(str(subject), blank), str(predicate), _plain(str(tail), blank)
    except SyntaxError as error:
        raise LoadError(f"not valid {label}: {_reason(error)}", file, _line(error)) from None
    except _NotPlain:
        raise LoadError("only plain triples can be loaded: no quoted triple, formula or variable", file) from None


class _NotPlain(Exception):
    """A term that no plain triple has."""


def _plain(term: Term, blank: str) -> Term:
    mark = term[0]
    if mark == "_":
        return blank + term[2:]
    if mark in "?$":
        raise _NotPlain
    return term


def _reason(error: SyntaxError) -> str:
    message = str(error.args[0])
    return next((ours for theirs, ours in _REASONS if theirs in message), "a statement that can't be read")


def _line(error: SyntaxError) -> int | None:
    return error.lineno if isinstance(error.lineno, int) and error.lineno > 0 else None


def _local_json(stream: IO[bytes], file: str) -> bytes:
    """JSON-LD written anew from the parsed tree: what was checked is what is read. Remote contexts are refused."""
    try:
        tree = json.loads(stream.read())
    except json.JSONDecodeError as error:
        raise LoadError("not valid JSON", file, error.lineno) from None
    except (UnicodeDecodeError, RecursionError):
        raise LoadError("not valid JSON", file) from None
    pending = [tree]
    while pending:
        node = pending.pop()
        pending.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        if isinstance(node, dict) and ("@import" in node or _is_remote(node.get("@context"))):
            raise LoadError("a remote @context; write the context into the file", file)
    return json.dumps(tree).encode()


def _is_remote(context: object) -> bool:
    parts = context if isinstance(context, list) else [context]
    return any(isinstance(part, str) for part in parts)


def _tame_xml(stream: IO[bytes], file: str) -> IO[bytes]:
    """The stream again, once its prolog is known to hold no entity made of entities (they grow without end)."""
    prolog = stream.read(_MAX_PROLOG_BYTES)
    values = re.findall(rb"<!ENTITY\s[^\"'>]*(\"[^\"]*\"|'[^']*')", prolog)
    if b"\x00" in prolog or any(b"&" in value for value in values) or b"<!ENTITY %" in prolog:
        raise LoadError("not UTF-8, or an XML entity that is made of other entities", file)
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


def _rdflib_triples(graph: rdflib.Graph) -> Triples:
    import rdflib as known

    def term_of(term: object) -> Term:
        if isinstance(term, known.URIRef):
            return str(pyoxigraph.NamedNode(str(term)))
        if isinstance(term, known.BNode):
            return f"_:0.{term}"
        if isinstance(term, known.Literal) and term.language:
            return str(pyoxigraph.Literal(str(term), language=term.language))
        if isinstance(term, known.Literal) and term.datatype:
            return str(pyoxigraph.Literal(str(term), datatype=pyoxigraph.NamedNode(str(term.datatype))))
        if isinstance(term, known.Literal):
            return str(pyoxigraph.Literal(str(term)))
        raise LoadError("only plain triples can be loaded: no quoted triple, formula or variable", "rdflib graph")

    try:
        for triple in graph.triples((None, None, None)):
            subject, predicate, tail = (term_of(term) for term in triple)
            yield subject, predicate, tail
    except ValueError:
        raise LoadError("an IRI or a language tag is not valid", "rdflib graph") from None
