"""Triples out of TSV, CSV and bar-separated files: a line has head, relation and tail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Cells, Rows, TableFile
from kg_store.formats.encodings import Encoding
from kg_store.sources.raw_graph import MAX_PREDICATE_CHARS, TEXT_MARK, Term
from kg_store.sources.table_policy import TriplesPolicy
from kg_store.sources.triple_columns import IN_ORDER, MAX_SAMPLE, Places, places_in_header, require_triples

TOO_LONG = f"a relation of more than {MAX_PREDICATE_CHARS} characters"

_OF_TABLES = (
    "; a table needs a header of names that differ, and a column that tells its rows apart, such as an id; any other "
    "is described by [[tables]] in the policy"
)
_HEADER_ALONE = "this file has a header and no row below it: there is nothing to load"
_IRI = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]+)>|(https?://[^\s<>\"{}|^`\\]+)")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<[^\s<>]+>)?')


def read_cells(
    stream: IO[bytes],
    file: str,
    prefer_comma: bool,
    skipped: Counter[str],
    policy: TriplesPolicy | None = None,
    encoding: Encoding = "utf-8",
) -> Iterator[tuple[Term, Term, Term]]:
    """Streams the triples of a text file; counts in `skipped`, by reason, what was left out.

    The delimiter is a tab, a bar or a comma, whichever splits every one of the first lines in three. Extra columns
    are allowed after a tab only: elsewhere a name may hold the delimiter. Where neither the policy nor a header says
    that these are triples, the columns must look like it. Raises LoadError.
    """
    opened = TableFile(stream, file, encoding, newline="\n")
    delimiter = opened.triples_delimiter(prefer_comma)
    if opened.is_header_alone():
        raise LoadError(_HEADER_ALONE, file, 1)
    if delimiter is None:
        raise LoadError(f"a line needs three cells, separated by a tab, a bar or a comma{_OF_TABLES}", file, 1)
    rows = opened.quoted_rows(delimiter) if delimiter == "," else opened.plain_rows(delimiter)
    places, rows = _decided(_checked(rows, delimiter, file), file, policy)
    for number, cells in rows:
        triple = _triple(cells, number, file, places, skipped)
        if triple is not None:
            yield triple


def _decided(rows: Rows, file: str, policy: TriplesPolicy | None) -> tuple[Places, Rows]:
    """The places of head, relation and tail, by policy, header or columns, and the lines that hold them."""
    first = list(islice(rows, 1))
    called = places_in_header(first[0][1]) if first else None
    if policy is not None:
        head, relation, tail = policy.columns
        is_header = policy.header or called is not None
        return (head - 1, relation - 1, tail - 1), rows if is_header else chain(first, rows)
    if called is not None:
        return called, rows
    sample = [*first, *islice(rows, MAX_SAMPLE - 1)]
    require_triples([cells for _, cells in sample], file)
    return IN_ORDER, chain(sample, rows)


def _checked(rows: Rows, delimiter: str, file: str) -> Rows:
    for number, cells in rows:
        if not cells:
            continue
        if len(cells) < 3 or (len(cells) > 3 and delimiter != "\t"):
            hint = "" if number > 1 else _OF_TABLES
            raise LoadError(f"a line needs three cells, this one has {len(cells)}{hint}", file, number)
        yield number, cells


def _triple(
    cells: Cells, number: int, file: str, places: Places, skipped: Counter[str]
) -> tuple[Term, Term, Term] | None:
    if len(cells) <= max(places):
        raise LoadError(f"this line has {len(cells)} cells, the policy names column {max(places) + 1}", file, number)
    if len(cells) > 3:
        skipped["cells beyond head, relation and tail (a direction column and the like) were not read"] += 1
    head, relation, tail = (cells[at].replace(TEXT_MARK, "").strip() for at in places)
    if len(relation) > MAX_PREDICATE_CHARS:
        raise LoadError(TOO_LONG, file, number)
    if not (head and relation and tail):
        skipped["lines with an empty cell were skipped"] += 1
        return None
    return _term(head), _term(relation), _term(tail, literal=head[0] == "<")


def _term(cell: str, literal: bool = False) -> Term:
    match = _IRI.fullmatch(cell)
    if match is not None:
        return f"<{match.group(1) or match.group(2)}>"
    if literal and cell[0] == '"' and _LITERAL.fullmatch(cell):
        return cell
    return TEXT_MARK + cell
