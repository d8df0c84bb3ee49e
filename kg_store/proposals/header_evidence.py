"""Tells the header of a text file from its first row of data, by the words of its cells and by what lies below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from kg_store.lexicon.lexicon import in_large_lexicon
from kg_store.proposals.column_profiles import (
    ALIKE,
    CONCEPTS,
    FIRST,
    KEY_WORDS,
    NAME_PREFIXES,
    NAME_WORDS,
    PRIVATE_TEXT,
    full_words,
    words_of_column,
)
from kg_store.proposals.empty_marks import EMPTY_MARKS
from kg_store.proposals.spread_columns import years_in
from kg_store.sources.table_policy import MAX_COLUMN_CHARS
from kg_store.sources.triple_files import are_triples, places_in_header
from kg_store.terms import ValueKind
from kg_store.text.literals import fits
from kg_store.text.notation import first_parts

MIN_VALUE_COLUMNS, MIN_VALUE_ROWS = 2, 5
MIN_UNLIKE: Final = 3
MIN_HEADED_ROWS: Final = 3
MAX_ALIKE: Final = 0.2
"""The greatest share of cells like the first one in a column that is unlike it."""
MAX_CHANCE: Final = 0.01
"""The greatest product of these shares, over the columns unlike their first cell, for a header of common words."""


def may_be_header(header: Sequence[str], is_text: bool) -> bool:
    """Returns True if the cells can be names of columns, and not those of a list of triples."""
    if (is_text and len(header) < 2 and not has_key_or_name(header)) or any(
        len(column) > MAX_COLUMN_CHARS for column in header
    ):
        return False
    years = {name for of in years_in(header).values() for name in of}
    said = [name for name in header if name not in years]
    return not is_text or (bool(said) and not any(map(is_value, said)) and places_in_header(header) is None)


def is_called_as_table(header: Sequence[str], delimiter: str) -> bool:
    """Returns True if a column's name has a word for keys or names.

    Of three columns, which may be triples, it must be the first; triples are never separated by semicolons.
    """
    if len(header) == 3 and delimiter != ";":
        first = full_words(header[0])
        is_name = bool(first) and first[-1] in NAME_WORDS and {*first[:-1]} <= {*NAME_PREFIXES}
        return is_name or bool(KEY_WORDS & set(first))
    return has_key_or_name(header)


def has_key_or_name(header: Sequence[str]) -> bool:
    words = [full_words(column) for column in header]
    named = (each and (each[-1] in NAME_WORDS or " ".join(each) in FIRST) for each in words)
    return any(KEY_WORDS & set(each) for each in words) or any(named)


def first_line_stands_apart(columns: Mapping[str, Sequence[str]], least: int = MIN_VALUE_ROWS) -> bool:
    """Returns True if the first line is unlike those below, so that it is a header and none of its cells is data.

    That is so in three cases: at least two columns are numbers or dates below the first line, in `least` rows; the
    first line has only common words, and one column below is numbers or dates; or these words are in small letters,
    and the first column below has capitalised texts.
    """
    filled = [[cell for cell in cells if cell and cell not in EMPTY_MARKS] for cells in columns.values()]
    values = [cells for cells in filled if cells and all(map(is_value, cells))]
    if len(values) >= MIN_VALUE_COLUMNS and min(map(len, values)) >= least:
        return True
    said = [words_of_column(name) for name in columns]
    if not columns or not all(words and all(map(in_large_lexicon, words)) for words in said):
        return False
    if any(re.search(r"\d", name) for name in columns):
        return False
    if any(cells and all(map(is_value, cells)) for cells in filled):
        return True
    capitals = sum(cell[0].isupper() for cell in filled[0])
    return all(name.islower() for name in columns) and capitals >= ALIKE * len(filled[0]) > 0


def first_line_is_header(columns: Mapping[str, Sequence[str]]) -> bool:
    """Returns True if the first line is unlike those below, so that it would hardly be one of them.

    That is so if it is unlike them in three columns, or in two of which one holds numbers or dates; or if it has only
    common words of any language that the lexicon has, and would be one of the rows by a chance of MAX_CHANCE at most.
    Three columns that are triples with their first line have no header.
    """
    rows = len(next(iter(columns.values()), ()))
    if rows < MIN_HEADED_ROWS or any(name in cells for name, cells in columns.items()):
        return False
    if len(columns) == 3 and are_triples([list(columns), *zip(*columns.values(), strict=True)]):
        return False
    filled = {name: [cell for cell in cells if cell and cell not in EMPTY_MARKS] for name, cells in columns.items()}
    typed = {name for name, cells in filled.items() if cells and all(map(is_value, cells))}
    headed = {name for name in columns if _is_common(name)} | typed
    shares = [share for name in headed if (share := _share_alike(name, filled[name])) <= MAX_ALIKE]
    if len(shares) >= MIN_UNLIKE or (typed and len(shares) >= MIN_VALUE_COLUMNS):
        return True
    return len(headed) == len(columns) and prod(shares) <= MAX_CHANCE


def _share_alike(name: str, cells: Sequence[str]) -> float:
    """Returns about which share of the cells are like a first cell that stands in its column once.

    Like are those that stand there once too, and that are common words, values or capitalised where the first is.
    """
    first = _form_of(name)
    alike = sum(count for cell, count in Counter(cells).items() if count == 1 and _form_of(cell) == first)
    return (alike + 1) / (len(cells) + 2)


def _form_of(cell: str) -> tuple[bool, ...]:
    return is_value(cell), _is_common(cell), cell[0].isupper()


def _is_common(cell: str) -> bool:
    words = full_words(cell)
    return bool(words) and all(word in CONCEPTS | PRIVATE_TEXT or in_large_lexicon(word) for word in words)


def is_value(cell: str) -> bool:
    if first_parts(cell) is not None or fits(cell, ValueKind.NUMBER) or fits(cell, ValueKind.DATE):
        return True
    return cell.startswith(("http://", "https://", "<"))
