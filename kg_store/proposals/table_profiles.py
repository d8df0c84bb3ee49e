"""Profiles of tables: the key column, the columns that hold names of the rows, and the references to other tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kg_store.formats.delimited_text import DeclaredKeys
from kg_store.formats.files import Encoding
from kg_store.lexicon.lexicon import in_lexicon, kinds_of
from kg_store.proposals.column_profiles import (
    ALIAS_PHRASES,
    ALIAS_WORDS,
    COUNT_WORDS,
    FILE_WORDS,
    FIRST,
    FIRST_BESIDE_LAST,
    KEY_WORDS,
    LAST,
    LAST_OF_ANY,
    NAME_PREFIXES,
    NAME_WORDS,
    OF_PERSONS,
    Column,
    any_alike,
    full_words,
)
from kg_store.sources.table_policy import SpreadPolicy
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular

TELLING_KEYS = frozenset({"isbn", "issn", "sku", "ean", "plate", "serial", "registration", "matricula", "barcode"})
"""Words for keys that also say of what: an `isbn` is that of a book, an `id` may be that of anything."""
MAX_ROW_WORDS = 2
"""A key's name of at most this many words may say what a row is."""
MIN_TITLE_SHARE = 0.5
MIN_NAME_SHARE = 0.1
OF_OTHERS = 2
"""From this rank on, a column with a word for names may hold the names of something else than the row."""


@dataclass(frozen=True)
class TableProfile:
    """A table as it is in its file. Without a `key`, its rows are links between the things that they refer to.

    `is_certain`: the first line is clearly a header; otherwise only evidence from other files can show that.
    `encoding`: None if its files have several; each is then read in its own. `declared`: the keys that its file tells.
    `key_beside`: columns that only together with `key` tell the rows apart. `totals`: True if a last row of totals is
    left out, None if it may be one and is not. `part`: the column that holds what differs in the names of its files;
    `parts`: all of it, where other files have such names. `entry`: the column of the things of which rows without a
    key tell, each at its time.
    """

    file: str
    columns: dict[str, Column] = field(repr=False)
    rows: int
    concept_words: tuple[str, ...]
    key: str | None
    is_certain: bool = True
    header_row: int | None = None
    encoding: Encoding | None = "utf-8"
    declared: DeclaredKeys | None = None
    key_beside: tuple[str, ...] = ()
    totals: bool | None = False
    part: str | None = None
    parts: tuple[str, ...] = ()
    entry: str | None = None
    spread: tuple[SpreadPolicy, ...] = ()

    @property
    def empty(self) -> tuple[str, ...]:
        """The marks for "nothing is known" in this table (`NULL`, `-`), unless a column has the mark as a value."""
        marks = {mark for column in self.columns.values() for mark in column.empty}
        return tuple(sorted(marks.difference(*(each.distinct for each in self.columns.values()))))

    @property
    def keys(self) -> frozenset[str]:
        """The cells that each tell a row apart; none if only several columns together do."""
        return self.columns[self.key].distinct if self.key is not None and not self.key_beside else frozenset()

    @property
    def concept(self) -> str:
        return " ".join(self.concept_words) or "thing"

    def words_of(self, column: Column) -> list[str]:
        """Returns the words of a column's header that may tell what it refers to.

        None where the table has no header, and none of a bare `id`; but a bare `isbn` is that of books.
        """
        # The second of two columns called `Person.id` is read as `Person.id 2`.
        words = [] if self.header_row == 0 else [word for word in column.full if not word.isdecimal()]
        return [word for word in words if word not in KEY_WORDS] or [word for word in words if word in TELLING_KEYS]


def concept_words(full: Sequence[str]) -> tuple[str, ...]:
    """Returns the words for the kind of a table's rows, from the words of its file's or its key's name.

    Numbers, words for keys, and words for files are left out; empty if nothing is left.
    """
    kept = [re.sub(r"(?<=[^\W\d_])\d+$", "", word) for word in full if word not in KEY_WORDS]
    bare = [word for word in kept if word.isalpha() and word not in FILE_WORDS]
    # The `list` of `waiting_list` is kept, because "a waiting" is nothing.
    kept = bare if bare and kinds_of(bare[-1]) != "v" else kept
    if not kept or " ".join(kept) in NAME_WORDS or not any(char.isalpha() for char in "".join(kept)):
        return ()
    if len(kept) > 1 and "a" in kinds_of(kept[-1]) and singular(kept[-2]) != kept[-2]:
        # An adjective behind a plural is moved in front: `legislators-current` -> current legislators.
        kept = [*kept[:-2], kept[-1], kept[-2]]
    return (*kept[:-1], singular(kept[-1]))


def row_noun(key: str) -> tuple[str, ...]:
    """Returns the words of a key's name if they are a noun for the rows: `Ticket No` -> ticket; else empty."""
    words = [word for word in full_words(key) if word not in KEY_WORDS | NAME_WORDS and word not in NAME_PREFIXES]
    is_noun = 0 < len(words) <= MAX_ROW_WORDS and all(map(in_lexicon, words)) and "n" in kinds_of(words[-1])
    return tuple(words) if is_noun and singular(words[-1]) == words[-1] else ()


def called_by_keys(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns `tables`; those of which several have keys of one name have the noun in it as their concept.

    The files `leicester.csv` with a `SiteReference` and `rochdale.csv` with an `LA SITE REF` both hold sites.
    """
    found = []
    for table in tables:
        noun = row_noun(table.key or "")[-1:]
        others = [other for other in tables if other is not table and noun == row_noun(other.key or "")[-1:] != ()]
        is_told = any(any_alike(noun, other.concept_words) for other in (table, *others))
        found.append(replace(table, concept_words=noun) if others and not is_told else table)
    return found


def find_key(columns: Sequence[Column], concept: Sequence[str]) -> str | None:
    """Returns the name of the key column; None if there is none.

    Only unique columns can be the key. The first of these that exists is taken: a column with a word for keys that
    belongs to the table's concept (`id`, `patient id`), another with a word for keys, a first column that numbers the
    rows, a column named like the concept, a column of names.
    """
    unique = [column for column in columns if column.is_unique and not COUNT_WORDS & set(column.full)]
    numbers = [column for column in columns[:1] if column.numbers_rows]
    unique = [
        column for column in unique if column.kind is ValueKind.TEXT or column.is_called_key or column in numbers
    ]
    called = [column for column in unique if column.is_called_key or column.is_code] or numbers
    rests = [(column, [word for word in column.full if word not in KEY_WORDS]) for column in called]
    own = [column for column, rest in rests if not rest or any_alike(rest, concept[-1:])]
    kinds = [column for column in unique if column.words == list(concept)]
    named = sorted(filter(_is_plain_name, unique), key=_place_among_names)
    if not (own or called) and kinds and not named:
        return kinds[0].name
    # A postal code is asked for, and is the key only where no other column is.
    told = [column for column in called if not column.is_private_text]
    named += [
        column for column in unique if is_called_name(column) and any_alike(names_last(column)[:-1], concept[-1:])
    ]
    return next((column.name for column in (*own, *told, *kinds, *named, *called)), None)


def find_names(table: TableProfile, taken: frozenset[str]) -> list[str | tuple[str, ...]]:
    """Returns the columns that hold names of a table's rows, best first; columns in `taken` are not used.

    First come first and last name together, then columns with a word for names. Without either, one column whose cells
    look like names is taken. Columns with aliases come last.
    """
    columns = [column for column in table.columns.values() if column.name not in taken and column.cells]
    joined = _first_and_last(columns)
    found: list[str | tuple[str, ...]] = [joined] if joined else []
    parts = set(joined or ())
    rest = [column for column in columns if column.name not in parts and column.name != table.key]
    named = [column for column in columns if column in rest or (column.name == table.key and _is_plain_name(column))]
    called = sorted(_called(table, named, bool(joined)))
    if found or (called and called[0][0] < OF_OTHERS):
        # If the row has a name of its own, names of others are dropped: a mother's maiden name, a contact's name.
        called = [each for each in called if each[0] < OF_OTHERS]
    found += [column for _, _, column in called]
    key = table.columns[table.key] if table.key is not None else None
    # A key that looks like a name comes before other columns: a ship is not called by its captain's name.
    if not found and key is not None and not key.is_called_key and key.holds_short_names:
        found = [key.name]
    if not found:
        # The first texts after the key that look like names.
        places = list(table.columns)
        start = places.index(key.name) if key is not None else -1
        near = [column for column in rest if start < places.index(column.name) <= start + 2]
        found += [column.name for column in near if not column.is_called_key and column.looks_like_names][:1]
    if not found:
        # A place without a name is known by its address.
        found += [column.name for column in rest if column.is_unique and "address" in column.full][:1]
    if not found and key is not None:
        # A short description after the key serves as the name: "Butter, with salt".
        behind = places[start + 1 : start + 2]
        found += [column.name for column in rest if column.name in behind and column.holds_short_names]
    if not found and key is not None and not key.is_called_key:
        # A key without a word for keys serves as the name.
        found = [key.name]
    aliases = [each for each in rest if each.is_called(ALIAS_WORDS) or " ".join(each.full) in ALIAS_PHRASES]
    return found + [column.name for column in aliases if column.name not in found]


def names_last(column: Column) -> list[str]:
    """Returns the words of a column's name, with a word for names as the last: `name common` -> common, name."""
    first, rest = column.full[:1], column.full[1:]
    return [*rest, *first] if rest and {*first} <= NAME_WORDS and {*rest} <= {*NAME_PREFIXES} else column.full


def is_called_name(column: Column) -> bool:
    """Returns True if a column's name says that it holds names: `name`, `company name`, `name common`."""
    return not NAME_WORDS.isdisjoint(names_last(column)[-1:])


def _is_plain_name(column: Column) -> bool:
    return is_called_name(column) and {*names_last(column)[:-1]} <= {*NAME_PREFIXES}


def _place_among_names(column: Column) -> int:
    """Returns 0 for a plain `name`, less for a `short name` than for a `legal name`."""
    return max((NAME_PREFIXES.index(word) + 1 for word in names_last(column)[:-1] if word in NAME_PREFIXES), default=0)


def _first_and_last(columns: Sequence[Column]) -> tuple[str, str] | None:
    """Returns the columns of first and last names; a plain `name` is a first name only if the rows are persons."""
    by_words = {words: column.name for column in columns for words in (" ".join(column.full), " ".join(column.words))}
    are_persons = any(column.is_called(OF_PERSONS) for column in columns) or not by_words.keys().isdisjoint(
        LAST - LAST_OF_ANY
    )
    firsts = (FIRST, FIRST_BESIDE_LAST) if are_persons else (FIRST,)
    first = next((by_words[words] for kind in firsts for words in sorted(by_words) if words in kind), None)
    last = next((by_words[words] for words in sorted(by_words) if words in LAST), None)
    return (first, last) if first and last else None


def _called(table: TableProfile, columns: Sequence[Column], has_name: bool) -> Iterator[tuple[int, int, str]]:
    """Yields (rank, place, column) for columns with a word for names.

    The rank is lowest for the row's own `name`, higher for its `title`, and highest for a name of something else
    (`company_name`). `place` is the column's position.
    """
    for place, column in enumerate(columns):
        words = names_last(column)
        if not is_called_name(column) or column.kind is not ValueKind.TEXT:
            continue
        before = [word for word in words[:-1] if word not in NAME_PREFIXES]
        if not before or (table.concept_words and any_alike(before, [table.concept_words[-1]])):
            rank = 0
        elif words[-1] in ("title", "titel", "label") or not column.looks_like_names:
            continue
        else:
            rank = OF_OTHERS
        is_title = words[-1] not in ("name", "names", "nom", "nombre", "naam", "bezeichnung", "benennung")
        least = MIN_TITLE_SHARE if is_title else 0 if _is_plain_name(column) else MIN_NAME_SHARE
        if column.distinct_share < least:
            continue
        yield rank + is_title, (0 if before else _place_among_names(column)) * len(columns) + place, column.name
    has_name = has_name or any(" ".join(column.full).endswith("name") for column in columns)
    kinds = [column for column in columns if is_called_by_kind(column, table)]
    yield from ((1, place, column.name) for place, column in enumerate(kinds) if not has_name)


def is_called_by_kind(column: Column, table: TableProfile) -> bool:
    """Returns True for a column of words that is named like the concept, such as `patient` in a table of patients."""
    concept = list(table.concept_words)
    return bool(concept) and column.has_words and (column.full == concept or column.full == concept[-1:])
