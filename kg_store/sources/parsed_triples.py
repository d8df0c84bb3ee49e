"""Cuts triples out of what pyoxigraph has parsed, and out of plain lines of N-Triples without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import IO, Final

import numpy as np
import pyoxigraph

from kg_store.sources.raw_graph import Term, TermIds
from kg_store.sources.term_numbers import Longs, TermNumbers

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
    found = _WRITTEN.findall(text)
    return _with_own_blanks(found, blank) if "_:" in text else found


def _with_own_blanks(found: _Rows, blank: str) -> _Rows:
    """Returns rows with blank nodes that no other file has."""
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


_BLOCK_BYTES: Final = 1 << 20
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
_TERMS: Final = re.compile(rf"(?:(?:{_IRI}|{_TEXT}|_:\d+\.[A-Za-z][A-Za-z0-9]*+)(?:\n|\Z))*+")
"""Matches such terms, each on a line of its own, with blank nodes that no other file has."""
_MAY_BE_BLANK: Final = np.array([True, False, True])
_MAY_BE_TEXT: Final = np.array([False, False, True])


@dataclass(slots=True)
class LinesRead:
    """The number of lines of a file that stand `before` the text which the parser reads now."""

    before: int = 0


def read_lines(stream: IO[bytes], blank: str, lines: LinesRead, numbers: TermNumbers) -> Iterator[_Rows | TermIds]:
    """Yields the triples of an N-Triples file in batches, as numbers where a block is all plain.

    Raises what the parser raises, and NotPlainError. Promise: the triples are those that the parser would read, in the
    same letters and order; every line that is not of the plainest form goes to the parser.
    """
    while block := stream.read(_BLOCK_BYTES):
        rest = stream.readline(_MAX_LINE_BYTES)
        if len(rest) == _MAX_LINE_BYTES:
            raise MemoryError
        block += rest
        try:
            found = _numbered(block if block.endswith(b"\n") else block + b"\n", blank, numbers)
        except _OtherFormError:
            yield _of_block(block, blank, lines)
        else:
            yield found
            lines.before += len(found)


class _OtherFormError(Exception):
    """Raised for a block that has a line of another than the plainest form."""


def _numbered(block: bytes, blank: str, numbers: TermNumbers) -> TermIds:
    """Returns the numbers of the three terms of each line of `block`. Raises _OtherFormError, and then adds no term.

    A line is cut at its first two spaces and before its point. Of a term that was read before, its first letter is
    looked at alone, which says where it may stand.
    """
    begins, ends = _places(block)
    firsts = np.frombuffer(block, dtype=np.uint8)[begins]
    is_blank, is_text = firsts == ord("_"), firsts == ord('"')
    if not ((firsts == ord("<")) | is_blank & _MAY_BE_BLANK | is_text & _MAY_BE_TEXT).all():
        raise _OtherFormError
    if is_blank.any():
        cuts = [0, *(begins[is_blank] + len("_:")).tolist(), len(block)]
        block = blank.removeprefix("_:").encode().join(block[start:end] for start, end in pairwise(cuts))
        begins, ends = _places(block)
    return numbers.of_places(block, begins.ravel(), ends.ravel(), _plain_texts).reshape(-1, 3)


def _places(block: bytes) -> tuple[Longs, Longs]:
    """Returns where the three terms of each line begin, and where they end. Raises _OtherFormError."""
    letters = np.frombuffer(block, dtype=np.uint8)
    breaks, spaces = np.flatnonzero(letters == ord("\n")), np.flatnonzero(letters == ord(" "))
    starts = np.concatenate((np.zeros(1, dtype=np.int64), breaks[:-1] + 1))
    at = np.searchsorted(spaces, starts)
    if len(spaces) < 2 or at[-1] + 1 >= len(spaces):
        raise _OtherFormError
    one, other, end = spaces[at], spaces[at + 1], breaks - len(" .")
    has_terms = (starts < one) & (one + 1 < other) & (other + 1 < end)
    if not has_terms.all() or (letters[end] != ord(" ")).any() or (letters[end + 1] != ord(".")).any():
        raise _OtherFormError
    return np.stack((starts, one + 1, other + 1), axis=1), np.stack((one, other, end), axis=1)


def _plain_texts(terms: list[bytes]) -> list[Term]:
    """Returns the texts of terms. Raises _OtherFormError if the parser would write one of them in other letters."""
    try:
        text = b"\n".join(terms).decode()
    except UnicodeDecodeError:
        raise _OtherFormError from None
    if _TERMS.fullmatch(text) is None:
        raise _OtherFormError
    return text.split("\n")


def _of_block(block: bytes, blank: str, lines: LinesRead) -> _Rows:
    """Returns the triples of whole lines, and adds their number to `lines`."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        found = _parsed(block, blank)
        lines.before += block.count(b"\n")
        return found
    rows: _Rows = _LINE.findall(text)
    written, found, has_blanks = text.split("\n"), _Rows(), "_:" in text
    for is_other, group in groupby(range(len(rows)), lambda at: rows[at] == _OTHER):
        first, end = (at := list(group))[0], at[-1] + 1
        if is_other:
            run = "\n".join(written[first:end]) + ("\n" if end < len(written) else "")
            found += _parsed(run.encode(), blank)
        else:
            some = rows[first:end]
            found += _with_own_blanks(some, blank) if has_blanks else some
        lines.before += len(at)
    return found


def _parsed(block: bytes, blank: str) -> _Rows:
    return at_once(list(pyoxigraph.parse(input=block, format=pyoxigraph.RdfFormat.N_TRIPLES)), blank)
