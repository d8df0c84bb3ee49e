"""RawGraph: all triples of a load as numbers that refer to one list of terms, before any policy is applied."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from kg_store.terms import ValueKind

TEXT_MARK = "\x00"
"""The first character of a plain text term, so that no cell of a TSV file can be mistaken for an IRI."""

MAX_PREDICATE_CHARS = 2_000
"""The greatest length of a predicate, in characters."""

KIND_NAMESPACE = "urn:arog:kind:"
"""The namespace of datatypes for values whose kind the policy sets: `"1955"^^<urn:arog:kind:date>`."""

Term = str
"""A term in N-Triples form, or TEXT_MARK followed by the text of a cell."""

TermIds = npt.NDArray[np.int32]

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_KIND_OF_TYPE = {
    **dict.fromkeys(
        (
            "number integer int long short byte decimal double float nonNegativeInteger positiveInteger "
            "nonPositiveInteger negativeInteger unsignedInt unsignedLong unsignedShort unsignedByte"
        ).split(),
        ValueKind.NUMBER,
    ),
    **dict.fromkeys("date dateTime dateTimeStamp gYear gYearMonth".split(), ValueKind.DATE),
    **dict.fromkeys(("boolean", "truth"), ValueKind.TRUTH),
}


class TermKind(IntEnum):
    """The kind of a term, told by the term's first character.

    TEXT is a cell: the bare text of a table or a list of triples.
    """

    IRI = 0
    BLANK = 1
    LITERAL = 2
    TEXT = 3


_KIND_OF_MARK = {"<": 0, "_": 1, '"': 2, TEXT_MARK: 3}


@dataclass(frozen=True, slots=True)
class Literal:
    """The parts of a literal. `datatype` is a full IRI, empty for plain and language-tagged strings."""

    lexical: str = field(repr=False)
    datatype: str = ""
    language: str = ""

    @property
    def kind(self) -> ValueKind:
        """The kind of value, by the datatype's local name, so that datatypes of custom namespaces count too."""
        return _KIND_OF_TYPE.get(re.split(r"[#/:]", self.datatype)[-1], ValueKind.TEXT)


@dataclass(slots=True)
class RawGraph:
    """Triples as positions in `terms`, possibly with duplicates.

    `notes` say what was left out when they were read; `joins` which columns of tables refer to which, and how many of
    their cells lead to a row. `public_words`: the relations and classes that only the files have which the owner
    declared public. `is_public`: the owner declared all files public. `private_triples`: the number of triples that
    come first and are of private files; None if all are of one kind of files.
    """

    terms: list[Term] = field(repr=False)
    subjects: TermIds = field(repr=False)
    predicates: TermIds = field(repr=False)
    objects: TermIds = field(repr=False)
    notes: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    public_words: frozenset[str] = frozenset()
    is_public: bool = False
    private_triples: int | None = None

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Returns the TermKind of each term."""
        kinds = (_KIND_OF_MARK[term[0]] for term in self.terms)
        return np.fromiter(kinds, dtype=np.uint8, count=len(self.terms))

    def text(self, at: SupportsIndex) -> str:
        """Returns the bare text of the term at this position."""
        return text_of(self.terms[at])

    def literal(self, at: SupportsIndex) -> Literal:
        """Returns the parts of the literal or cell at this position."""
        return literal_of(self.terms[at])

    def is_iri(self, at: SupportsIndex) -> bool:
        return self.terms[at][0] == "<"


def text_of(term: Term) -> str:
    """Returns the bare text of a term: an IRI, a blank node's label, a cell, or the lexical form of a literal."""
    if term[0] == "<":
        return term[1:-1]
    return _unescape(term[1 : term.rindex('"')]) if term[0] == '"' else term[1:]


def literal_of(term: Term) -> Literal:
    """Returns the parts of a literal in N-Triples form; a cell counts as a plain string."""
    if term[0] == TEXT_MARK:
        return Literal(term[1:])
    end = term.rindex('"')
    lexical, rest = _unescape(term[1:end]), term[end + 1 :]
    if rest.startswith("^^"):
        return Literal(lexical, datatype=rest[3:-1])
    return Literal(lexical, language=rest[1:].partition("--")[0].lower())


def language_of(term: Term) -> str:
    """Returns the language tag of a literal in N-Triples form, in lower case; empty for a cell or without a tag."""
    return "" if term[0] == TEXT_MARK or term[-1] in '">' else literal_of(term).language


def value_term(lexical: str, kind: ValueKind) -> Term:
    """Returns `lexical` as a typed literal in N-Triples form; the datatype names its `kind`."""
    return f"{plain_term(lexical)}^^<{KIND_NAMESPACE}{kind.value}>"


def plain_term(lexical: str) -> Term:
    """Returns `lexical` as a plain literal in N-Triples form, without a datatype: `"Ada"`."""
    escaped = lexical.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code[1:], 16)) if code[0] in "uU" and len(code) > 1 else _ESCAPED.get(code, code)
