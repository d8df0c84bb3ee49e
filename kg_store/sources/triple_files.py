"""Reads triples from TSV, CSV and bar-separated files, after checking by their columns that they are not tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, permutations
from typing import IO

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Cells, Rows, TableFile
from kg_store.formats.files import Encoding
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.sources.policy import TriplesPolicy
from kg_store.sources.raw_graph import MAX_PREDICATE_CHARS, TEXT_MARK, Term
from kg_store.terms import ValueKind
from kg_store.text.labels import readable
from kg_store.text.literals import fits

Line = Sequence[str]
Places = tuple[int, int, int]
"""The columns of head, relation and tail, counted from 0."""

IN_ORDER: Places = (0, 1, 2)
MAX_SAMPLE = 50_000
"""This many lines are examined; the rest of a longer file is assumed to be alike."""
MAX_RELATIONS_PER_LINE = 0.2
MIN_SHARE_OF_WORDS = 0.9
MIN_SHARE_OF_COMPOUNDS = 0.1
MIN_SHARE_OF_REPEATED_HEADS = 0.3
MIN_AGREEMENT = 0.2
"""The least degree to which a tail determines its relation: 1 for always, 0 for no better than chance.

Measured: MetaQA 0.99, PathQuestion 0.99, OpenDialKG 0.73, ConceptNet 0.56, WebQSP 0.31; ConceptNet with columns in the
wrong order 0.003.
"""

_SAY_WHICH = (
    "say in the policy which it is: `[[triples]]` with the file's name as `file` where a line is head, relation and "
    "tail; else `[[tables]]` with `file`, its `columns`, and `header_row = 1` where the first line names them or "
    "`header_row = 0` where none does (they are then `column 1` to `column 3`)"
)
_HEADER_WORDS = (
    frozenset({"head", "subject", "source", "h", "s"}),
    frozenset({"relation", "predicate", "property", "r", "p"}),
    frozenset({"tail", "object", "target", "t", "o"}),
)
# Matches names of relations as programs write them: small letters joined by marks, or camelCase.
_COMPOUND = re.compile(
    r"[~/]*[a-z][a-z0-9]*(?:[-_./:]+[a-z0-9()]+)+|[a-z]+(?:[A-Z][a-z]*)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+"
)
_JOINING = re.compile(r"(?:has|is|was|are) .+|.+ (?:of|by|in|at|for|to|from|with|on)(?: .+)?")
_IRI_CELL = re.compile(r"<?[a-z][a-z0-9+.-]*:[^\s<>]+>?", re.IGNORECASE)


def places_in_header(cells: Line) -> Places | None:
    """Returns the columns of head, relation and tail if the first three cells have such names; else None."""
    words = [cell.strip().lower() for cell in cells[:3]]
    found = (
        (head, relation, tail)
        for head, relation, tail in permutations(range(len(words)), 3)
        if all(words[at] in names for at, names in zip((head, relation, tail), _HEADER_WORDS, strict=True))
    )
    return next(found, None)


def require_triples(lines: Sequence[Line], file: str) -> None:
    """Raises LoadError, which quotes nothing, unless the second of three columns holds relations.

    Promise: a table with one entity in each row is refused, with or without a header, and so is a file whose relations
    are in another column. Limit: a table passes as triples if three things meet: its rows repeat their subject; its
    second column holds few words, some written as programs write relations; and its third column depends on these.
    """
    sample = [cells for cells in lines[:MAX_SAMPLE] if len(cells) >= len(IN_ORDER)]
    reason = next(_reasons(sample, IN_ORDER), "")
    if not reason:
        return
    # Only the column of the relation can be recognised; head and tail cannot be told from each other.
    other = next((places for places in ((1, 0, 2), (0, 2, 1)) if not any(_reasons(sample, places))), None)
    hint = _SAY_WHICH
    if other is not None:
        columns = ", ".join(str(at + 1) for at in other)
        hint += f"; column {other[1] + 1} looks like the relations: [[triples]] takes columns = [{columns}]"
    raise LoadError(f"these lines are not read as triples: {reason}; {hint}", file)


def are_triples(lines: Sequence[Line]) -> bool:
    """Returns True if the second of three columns holds relations, as `require_triples` finds."""
    return not any(_reasons(lines[:MAX_SAMPLE], IN_ORDER))


def _reasons(sample: Sequence[Line], places: Places) -> Iterator[str]:
    """Yields the reasons why these lines are not triples, in our own words; nothing if they are."""
    heads, relations, tails = ([cells[at].strip() for cells in sample] for at in places)
    used = Counter(relations)
    if all(_IRI_CELL.fullmatch(cell) for cell in used):
        return
    if _names_columns(sample):
        yield "the first line looks like the names of columns"
    if len(used) > MAX_RELATIONS_PER_LINE * used.total():
        yield "the column of relations holds too many different cells"
    if any(fits(cell, ValueKind.NUMBER) or fits(cell, ValueKind.DATE) for cell in used):
        yield "the column of relations holds numbers or dates"
    worded = sum(bool(_COMPOUND.fullmatch(cell)) or all(map(in_lexicon, words_of(cell))) for cell in used)
    if worded < MIN_SHARE_OF_WORDS * len(used):
        yield "the column of relations holds other than common words"
    if sum(map(_is_compound, used)) < MIN_SHARE_OF_COMPOUNDS * len(used):
        yield "the column of relations holds no words that join two things"
    if sum(count for count in Counter(heads).values() if count > 1) < MIN_SHARE_OF_REPEATED_HEADS * len(heads):
        yield "nearly every line is about another thing, as in a table"
    if _agreement(relations, tails) < MIN_AGREEMENT:
        yield "the column of relations does not go with that of the ends, as in a table"


def _names_columns(sample: Sequence[Line]) -> bool:
    """Returns True if no cell of the first line occurs in another line, and none is written like a relation."""
    first, rest = sample[0][:3], sample[1:]
    if any(_is_compound(cell.strip()) for cell in first) or not rest:
        return False
    return all(cell not in other[:3] for other in rest for cell in first)


def _is_compound(cell: str) -> bool:
    return bool(_COMPOUND.fullmatch(cell) or _JOINING.fullmatch(cell) or _IRI_CELL.fullmatch(cell))


def words_of(text: str) -> list[str]:
    """Returns the words of a predicate or class as a reader sees them, in lower case: `worksFor` -> works, for."""
    return re.findall(r"[^\W\d_]+", readable(text.replace("-", " ")).lower())


def _agreement(relations: Sequence[str], tails: Sequence[str]) -> float:
    """Returns how much more often than by chance two lines with the same tail have the same relation (Cohen's kappa).

    1 means always, 0 means as often as by chance.
    """
    same_tail = _pairs(Counter(tails).values())
    chance = _pairs(Counter(relations).values()) / max(1, len(tails) * (len(tails) - 1) // 2)
    if not same_tail or chance == 1:
        return 0.0
    both = _pairs(Counter(zip(relations, tails, strict=True)).values())
    return (both / same_tail - chance) / (1 - chance)


def _pairs(counts: Iterable[int]) -> int:
    return sum(count * (count - 1) // 2 for count in counts)


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
    """Yields the triples of a text file; counts in `skipped`, by reason, what was left out.

    The delimiter is the tab, bar or comma that splits each of the first lines into three cells. More than three
    columns are allowed only after a tab, because elsewhere a name may hold the delimiter. If neither the policy nor a
    header says that these are triples, the columns must look like it. Raises LoadError.
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
    """Returns (columns, rows): the columns of head, relation and tail, and the rows without the header.

    The columns come from the policy, else from the header, else from the content. Raises LoadError if the content does
    not look like triples.
    """
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
