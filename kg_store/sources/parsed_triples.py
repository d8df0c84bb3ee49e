"""Cuts triples out of what pyoxigraph has parsed, and out of plain lines of N-Triples without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import IO, Final

import pyoxigraph

from kg_store.sources.raw_graph import Term

_Rows = list[tuple[Term, Term, Term]]
_REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"


_TRIPLE_OF: Final = attrgetter("triple")
_WRITTEN: Final = re.compile(r"([^ ]+) ([^ ]+) (.*) \.\n")


def at_once(quads: Sequence[pyoxigraph.Quad], blank: str) -> _Rows:
    """Returns the triples of `quads`, cut out of one text that pyoxigraph writes, in a third of the time of asking
    each of them for its terms. Raises NotPlainError.
    """
    text = (pyoxigraph.serialize(map(_TRIPLE_OF, quads), format=pyoxigraph.RdfFormat.N_TRIPLES) or b"").decode()
    if "<<" in text:
        return list(one_by_one(quads, blank))
    return _with_own_blanks(_WRITTEN.findall(text), text, blank)


def _with_own_blanks(found: _Rows, text: str, blank: str) -> _Rows:
    """Returns the rows that were cut out of `text`, with blank nodes that no other file has."""
    if "_:" not in text:
        return found
    return [(_plain(head, blank), relation, _plain(tail, blank)) for head, relation, tail in found]


def one_by_one(quads: Sequence[pyoxigraph.Quad], blank: str) -> Iterator[tuple[Term, Term, Term]]:
    """Yields the triples of `quads`, which may quote triples. Raises NotPlainError."""
    for subject, predicate, tail, _ in quads:
        if type(tail) is pyoxigraph.Triple:
            yield from _statement(_plain(str(subject), blank), str(predicate), tail, blank)
        else:
            yield _plain(str(subject), blank), str(predicate), _plain(str(tail), blank)


def _statement(joint: Term, predicate: str, told: pyoxigraph.Triple, blank: str) -> Iterator[tuple[Term, Term, Term]]:
    """Yields two triples, through the nameless node `joint`, instead of the quoted triple `told`.

    RDF 1.2 lets other triples describe a quoted triple (a reification); `joint` stands for it. Raises NotPlainError
    for other uses of quoted triples.
    """
    if predicate != _REIFIES or type(told.object) is pyoxigraph.Triple:
        raise NotPlainError
    head, relation, tail = _plain(str(told.subject), blank), str(told.predicate), _plain(str(told.object), blank)
    yield head, f"{relation[:-1]}_details>", joint
    yield joint, f"{relation[:-1]}_details_of>", tail


class NotPlainError(Exception):
    """Raised for a triple that plain RDF 1.1 cannot hold, such as one inside another."""


def _plain(term: Term, blank: str) -> Term:
    mark = term[0]
    if mark == "_":
        return blank + term[2:]
    if mark in "?$":
        raise NotPlainError
    return term


_BLOCK_BYTES: Final = 1 << 16
_MAX_LINE_BYTES: Final = 1 << 25
"""The greatest length of one line: more than two texts of the greatest length that the parser reads (16 MB)."""

_PART: Final = r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*+(?:%[0-9A-Fa-f]{2}[A-Za-z0-9._~!$&'()*+,;=:@/-]*+)*+"
_IRI: Final = (
    rf"<(?:https?://[A-Za-z0-9.-]++(?:/{_PART})?+(?:\?{_PART})?+(?:\#{_PART})?+|urn:[a-z][a-z0-9-]*+:{_PART})>"
)
_BLANK: Final = "_:[A-Za-z][A-Za-z0-9]*+"
# The parser writes texts of type string without their type, and refuses the types of RDF itself.
_TYPE: Final = rf"(?!<http://www\.w3\.org/(?:1999/02/22-rdf-syntax-ns\#|2001/XMLSchema\#string>)){_IRI}"
_TEXT: Final = r'"[^"\\\x00-\x1f\x7f\ufffe\uffff]*+"' + rf"(?:@[a-z]{{2,3}}|\^\^{_TYPE})?+"
_LINE: Final = re.compile(rf"({_IRI}|{_BLANK}) ({_IRI}) ({_IRI}|{_TEXT}|{_BLANK}) \.(?:\n|\Z)|.*\n|.+")
"""Matches one line, and gives its three terms if the parser would write them in the same letters, else _OTHER."""
_OTHER: Final = ("", "", "")


@dataclass(slots=True)
class LinesRead:
    """The number of lines of a file that stand `before` the text which the parser reads now."""

    before: int = 0


def read_lines(stream: IO[bytes], blank: str, lines: LinesRead) -> Iterator[_Rows]:
    """Yields the triples of an N-Triples file in batches. Raises what the parser raises, and NotPlainError.

    Promise: the triples are those that the parser would read, in the same letters and order; every line that is not of
    the plainest form goes to the parser.
    """
    while block := stream.read(_BLOCK_BYTES):
        rest = stream.readline(_MAX_LINE_BYTES)
        if len(rest) == _MAX_LINE_BYTES:
            raise MemoryError
        block += rest
        try:
            text = block.decode()
        except UnicodeDecodeError:
            yield _parsed(block, blank)
            lines.before += block.count(b"\n")
        else:
            yield _of_block(text, blank, lines)


def _of_block(text: str, blank: str, lines: LinesRead) -> _Rows:
    """Returns the triples of whole lines, and adds their number to `lines`."""
    rows: _Rows = _LINE.findall(text)
    if _OTHER not in rows:
        lines.before += len(rows)
        return _with_own_blanks(rows, text, blank)
    written, found = text.split("\n"), _Rows()
    for is_other, group in groupby(range(len(rows)), lambda at: rows[at] == _OTHER):
        first, end = (at := list(group))[0], at[-1] + 1
        if is_other:
            run = "\n".join(written[first:end]) + ("\n" if end < len(written) else "")
            found += _parsed(run.encode(), blank)
        else:
            found += _with_own_blanks(rows[first:end], text, blank)
        lines.before += len(at)
    return found


def _parsed(block: bytes, blank: str) -> _Rows:
    return at_once(list(pyoxigraph.parse(input=block, format=pyoxigraph.RdfFormat.N_TRIPLES)), blank)
