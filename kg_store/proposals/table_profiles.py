"""Profiles of tables: the key column, the columns that hold names of the rows, and the references to other tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kg_store.formats.files import Encoding
from kg_store.formats.json_records import refers_to_parent
from kg_store.lexicon.lexicon import in_lexicon, kinds_of
from kg_store.proposals.column_profiles import (
    ALIAS_PHRASES,
    ALIAS_WORDS,
    CONCEPTS,
    COUNT_WORDS,
    FILE_WORDS,
    FIRST,
    FIRST_BESIDE_LAST,
    KEY_WORDS,
    LAST,
    LEADING_WORDS,
    LONG_TEXT,
    NAME_PREFIXES,
    NAME_WORDS,
    OF_THE_SAME,
    Column,
    any_alike,
    full_words,
)
from kg_store.sources.policy import stem_of
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular
from kg_store.text.literals import is_year

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
    `encoding`: None if its files have several; each is then read in its own.
    """

    file: str
    columns: dict[str, Column] = field(repr=False)
    rows: int
    concept_words: tuple[str, ...]
    key: str | None
    is_certain: bool = True
    header_row: int | None = None
    encoding: Encoding | None = "utf-8"

    @property
    def empty(self) -> tuple[str, ...]:
        """The marks for "nothing is known" in this table (`NULL`, `-`), unless a column has the mark as a value."""
        marks = {mark for column in self.columns.values() for mark in column.empty}
        return tuple(sorted(marks.difference(*(each.distinct for each in self.columns.values()))))

    @property
    def keys(self) -> frozenset[str]:
        return self.columns[self.key].distinct if self.key is not None else frozenset()

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


def concept_words(file: str, full: Sequence[str]) -> tuple[str, ...]:
    """Returns the words for the kind of a table's rows, from the words of its file name.

    Numbers, words for keys, and words for files are left out; empty if nothing is left.
    """
    kept = [re.sub(r"(?<=[^\W\d_])\d+$", "", word) for word in full if word not in KEY_WORDS]
    bare = [word for word in kept if word.isalpha() and word not in FILE_WORDS]
    # The `list` of `waiting_list` is kept, because "a waiting" is nothing.
    kept = bare if bare and kinds_of(bare[-1]) != "v" else kept
    if not kept or " ".join(kept) in NAME_WORDS or not any(char.isalpha() for char in stem_of(file)):
        return ()
    if len(kept) > 1 and "a" in kinds_of(kept[-1]) and singular(kept[-2]) != kept[-2]:
        # An adjective behind a plural is moved in front: `legislators-current` -> current legislators.
        kept = [*kept[:-2], kept[-1], kept[-2]]
    return (*kept[:-1], singular(kept[-1]))


def row_noun(key: str) -> tuple[str, ...]:
    """Returns the words of a key's name if they are a noun for the rows: `Ticket No` -> ticket; else empty."""
    words = [word for word in full_words(key) if word not in KEY_WORDS | NAME_WORDS]
    is_noun = 0 < len(words) <= MAX_ROW_WORDS and all(map(in_lexicon, words)) and "n" in kinds_of(words[-1])
    return tuple(words) if is_noun and singular(words[-1]) == words[-1] else ()


def called_by_keys(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns `tables`; those of which several have keys of one name have the noun in it as their concept.

    The files `leicester.csv` and `rochdale.csv` with a `SiteReference` both hold sites.
    """
    found = []
    for table in tables:
        noun = row_noun(table.key or "")
        others = [other for other in tables if other is not table and noun and row_noun(other.key or "") == noun]
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
    named = [column for column in unique if _is_plain_name(column)]
    if not (own or called) and kinds and not named:
        return kinds[0].name
    return next((column.name for column in (*own, *called, *kinds, *named)), None)


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
    called = sorted(_called(table, rest, bool(joined)))
    if found or (called and called[0][0] < OF_OTHERS):
        # If the row has a name of its own, names of others are dropped: a mother's maiden name, a contact's name.
        called = [each for each in called if each[0] < OF_OTHERS]
    found += [column for _, _, column in called]
    key = table.columns[table.key] if table.key is not None else None
    # A key that looks like a name comes before other columns: a ship is not called by its captain's name.
    if not found and key is not None and (_is_plain_name(key) or (not key.is_called_key and key.holds_short_names)):
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


def _is_plain_name(column: Column) -> bool:
    return bool(column.full) and column.full[-1] in NAME_WORDS and set(column.full[:-1]) <= NAME_PREFIXES


def _first_and_last(columns: Sequence[Column]) -> tuple[str, str] | None:
    by_words = {words: column.name for column in columns for words in (" ".join(column.full), " ".join(column.words))}
    first = next((by_words[words] for words in sorted(by_words) if words in FIRST), None)
    last = next((by_words[words] for words in sorted(by_words) if words in LAST), None)
    first = first or next((by_words[words] for words in sorted(by_words) if last and words in FIRST_BESIDE_LAST), None)
    return (first, last) if first and last else None


def _called(table: TableProfile, columns: Sequence[Column], has_name: bool) -> Iterator[tuple[int, int, str]]:
    """Yields (rank, place, column) for columns with a word for names.

    The rank is lowest for the row's own `name`, higher for its `title`, and highest for a name of something else
    (`company_name`). `place` is the column's position.
    """
    for place, column in enumerate(columns):
        words = column.full
        if len(words) > 1 and words[0] in NAME_WORDS and set(words[1:]) <= NAME_PREFIXES:
            words = [*words[1:], words[0]]  # `name common` is a common name.
        if not words or words[-1] not in NAME_WORDS or column.kind is not ValueKind.TEXT:
            continue
        before = [word for word in words[:-1] if word not in NAME_PREFIXES]
        if not before or (table.concept_words and any_alike(before, [table.concept_words[-1]])):
            rank = 0
        elif words[-1] in ("title", "titel", "label") or not column.looks_like_names:
            continue
        else:
            rank = OF_OTHERS
        is_title = words[-1] not in ("name", "names", "nom", "nombre", "naam", "bezeichnung", "benennung")
        if column.distinct_share < (MIN_TITLE_SHARE if is_title else MIN_NAME_SHARE):
            continue
        yield rank + is_title, place, column.name
    has_name = has_name or any(" ".join(column.full).endswith("name") for column in columns)
    kinds = [column for column in columns if _is_called_by_kind(column, table)]
    yield from ((1, place, column.name) for place, column in enumerate(kinds) if not has_name)


def _is_called_by_kind(column: Column, table: TableProfile) -> bool:
    """Returns True for a column of words that is named like the concept, such as `patient` in a table of patients."""
    concept = list(table.concept_words)
    return bool(concept) and column.has_words and (column.full == concept or column.full == concept[-1:])


MIN_KNOWN = 0.5
"""The least share of cells that are keys of the other table, if the column's words speak of it."""
MIN_KNOWN_WITHOUT_WORDS = 0.95
MIN_DISTINCT = 3
MIN_FIGURES = 5
"""This many different numbers that are all keys of one table are evidence, if its keys lie close together."""
MIN_DIGITS, MIN_DIGITS_OF_CODES = 4, 8
MAX_CHANCE = 0.001
"""The greatest probability that whole numbers are all keys of a table by chance, if their containment is to count."""
MAX_OF_OWN = 0.9
"""A column with different cells for more than this share of a table's rows identifies them, and refers to none."""
MIN_REPEATED = 2
"""Where this many columns repeat those of the other table, a bare `id` is its key."""
SMALL_WORDS = frozenset({"of", "the", "in"})
MIN_COVERED = 0.5
"""Where no header speaks, a column refers to a table that its own is named after, if it has this share of its keys."""


def find_target(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """Returns the table that a column refers to, by its words and by its share of cells that are keys; else None."""
    if column.name == table.key or not column.cells or COUNT_WORDS & set(column.full) or LONG_TEXT & set(column.full):
        return None
    owner = _owner(column, table, tables)
    if owner is not None and owner.key is not None and _known(column, owner) >= MIN_KNOWN_WITHOUT_WORDS:
        return owner
    ranked = [
        (_rank(column, table, other, share), -place, other)
        for place, other in enumerate(tables)
        if other.key is not None and (share := _known(column, other)) > 0
    ]
    best = max(ranked, key=lambda each: each[:2], default=None)
    if best is not None and best[0] > 0:
        return best[2]
    # A bare `id` says nothing of a table, and without a header nothing is said at all.
    says = bool(table.words_of(column))
    leads = says and (column.is_called_key or column.full[-1] in LEADING_WORDS)
    # Small numbers are keys of many tables, so exactly one table may have all of them.
    holding = [other for *_, other in ranked if _known(column, other) == 1 and other is not table]
    if len(holding) != 1:
        return None
    is_sure = (leads and len(column.distinct) >= MIN_DISTINCT) or (says and _are_figures_of(column, holding[0]))
    return (
        holding[0] if is_sure or (not _says_a_concept(column.full) and _is_beyond_chance(column, holding[0])) else None
    )


def find_named_target(
    column: Column, table: TableProfile, tables: Sequence[TableProfile]
) -> tuple[TableProfile, str] | None:
    """Returns the only table that a column refers to by names, codes or e-mails, with that column; else None."""
    if (owner := _owner(column, table, tables)) is not None and owner.key is not None:
        told = next((each.name for each in owner.columns.values() if each.is_unique and _holds(each, column)), None)
        return None if told is None else (owner, told)
    is_text = column.kind is ValueKind.TEXT and not LONG_TEXT & set(column.full)
    is_text = is_text and bool(table.words_of(column) or table.header_row == 0)
    if not is_text or column.name == table.key or len(set(column.parts)) < MIN_DISTINCT:
        return None
    # A list may refer to rows of its own table, such as the countries that border one.
    may_be_own = bool(OF_THE_SAME & set(column.full)) or column.separator is not None
    others = [other for other in tables if other is not table or may_be_own]
    if column.is_unique and column.separator is None:
        # Texts that are unique in every row are names of the row, unless the column's words speak of the other table.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    if _says_a_concept(column.full):
        # A concept such as a subject may have the name of a department without being one.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    found = [
        (other, by)
        for other in others
        if (by := next((each.name for each in _told_by(other) if _holds(each, column)), None)) is not None
    ]
    if len(found) > 1:  # `team1` refers to teams, although standings tell their names too.
        found = [(other, by) for other, by in found if any_alike(column.full, other.concept_words)]
    return found[0] if len(found) == 1 else None


def _owner(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """Returns the table that the rows of `table` were nested in, if `column` is the reference to it; else None.

    In JSON, the rows of a list inside a record refer to that record. Also None for a single record around all lists,
    because a reference to it says nothing.
    """
    if not refers_to_parent(table.file, column.name):
        return None
    holder = table.file.rpartition("/")[0]
    return next((other for other in tables if other.file == holder and other.rows > 1), None)


def _told_by(table: TableProfile) -> Iterator[Column]:
    """Yields the columns besides the key that identify the rows: names, e-mail addresses and short codes."""
    names = {each for each in find_names(table, frozenset()) if isinstance(each, str)} - {table.key}
    for column in table.columns.values():
        is_filled = bool(column.cells) and len(column.distinct) == len(column.cells) >= MIN_KNOWN * table.rows
        if table.key is not None and is_filled and (column.name in names or column.holds_emails or column.is_sign):
            yield column


def _holds(told: Column, column: Column) -> bool:
    """Returns True if nearly all cells of `column` occur in the column `told`, so that one may refer to the other.

    At least half of them are enough if both columns have the same name and it has a word for keys.
    """
    needed = MIN_KNOWN if column.name == told.name and told.is_called_key else MIN_KNOWN_WITHOUT_WORDS
    return sum(cell in told.distinct for cell in column.parts) >= needed * len(column.parts)


def _known(column: Column, other: TableProfile) -> float:
    """Returns the share of the cells that are keys of `other`.

    If at least MIN_KNOWN are, cells that can be no key do not count: the place "Base store" among codes of persons.
    """
    held = sum(cell in other.keys for cell in column.parts)
    likely = len(_like_keys(column.parts, other)) if held >= MIN_KNOWN * len(column.parts) else len(column.parts)
    return held / max(1, likely)


def _like_keys(cells: Iterable[str], other: TableProfile) -> list[str]:
    """Returns those of `cells` that may be keys of `other`: numbers if all keys are, texts with digits if all are."""
    if all(key.isdecimal() for key in other.keys):
        return [cell for cell in cells if cell.isdecimal()]
    has_digits = all(_DIGIT.search(key) for key in other.keys)
    return [cell for cell in cells if not has_digits or _DIGIT.search(cell)]


def _are_figures_of(column: Column, other: TableProfile) -> bool:
    """Returns True if `column` may hold amounts that equal keys of `other` by chance.

    That is so for many numbers, if the keys of `other` are numbers in a narrow range (4100 to 4190).
    """
    assert other.key is not None
    keys = other.columns[other.key].distinct
    if column.is_unique or len(column.distinct) < MIN_FIGURES or all(map(is_year, column.distinct)):
        return False
    if not all(key.isdecimal() and len(key) >= MIN_DIGITS for key in keys):
        return False
    figures = [int(key) for key in keys]
    return max(figures) < 2 * min(figures)


def _rank(column: Column, table: TableProfile, other: TableProfile, share: float) -> float:
    """Returns how well a column refers to `other`, 0 for not at all: first by its words, then by the share of keys."""
    assert other.key is not None
    key = other.columns[other.key]
    rest = table.words_of(column)
    if not rest:
        return _rank_without_words(column, table, other, share)
    if other is table:
        is_of_the_same = bool(OF_THE_SAME & set(column.full))
        speaks = column.is_called_key and share >= MIN_KNOWN_WITHOUT_WORDS and _is_telling(key)
        # Another identifier of the row itself often equals its key.
        speaks = speaks and len(column.distinct) <= MAX_OF_OWN * table.rows
        return 2 + share if (is_of_the_same or speaks) and share > MIN_KNOWN else 0
    if "".join(rest) == "".join(other.concept_words) and share > MIN_KNOWN:
        return 6 + share
    if (column.name == key.name or (column.aside and column.aside == key.full)) and share > MIN_KNOWN:
        return 5 + share
    if other.concept_words and any_alike(rest, other.concept_words):
        # A word beside the noun, `teams` of a table of team franchises, is evidence only if all are keys there.
        least = MIN_KNOWN if any_alike(rest, other.concept_words[-1:]) else MIN_KNOWN_WITHOUT_WORDS
        if share > least:
            return 4 + share
    key_rest = [word for word in key.full if word not in KEY_WORDS]
    if key_rest and any_alike(rest, key_rest) and share > MIN_KNOWN:
        return 3 + share
    # Of codes with letters and digits, no half is the same by chance.
    least = MIN_KNOWN if _are_codes(key) else MIN_KNOWN_WITHOUT_WORDS
    if share < least or len(column.distinct & key.distinct) < min(MIN_DISTINCT, table.rows):
        return 0
    if _says_a_concept(rest):
        return 0
    # Small numbers are keys of many tables, so without fitting words only keys unlike counts are evidence.
    is_long = all(len(cell) >= MIN_DIGITS for cell in key.distinct)
    return 1 + share if _is_telling(key) or (column.is_called_key and is_long) else 0


def _rank_without_words(column: Column, table: TableProfile, other: TableProfile, share: float) -> float:
    """Returns how well a column without a telling header refers to `other`: by its cells and the file's name alone.

    The table of `department_history.csv` may refer to departments; a bare `id` refers to another table if its cells
    cannot all be keys there by chance.
    """
    is_own = other is table or len(column.distinct) < min(MIN_DISTINCT, table.rows)
    if is_own or share < MIN_KNOWN_WITHOUT_WORDS:
        return 0
    named = bool(other.concept_words) and any_alike(other.concept_words, table.concept_words)
    if table.header_row == 0 and named and len(column.distinct) >= MIN_COVERED * len(other.keys):
        return 2 + len(column.distinct) / len(other.keys)
    return 1 + share if _is_beyond_chance(column, other) or _is_repeated(table, other) else 0


def _is_repeated(table: TableProfile, other: TableProfile) -> bool:
    """Returns True if two columns of `table` have the words and the cells of columns of `other`.

    The contributors of a work repeat gender and birth year of the artists that they are.
    """
    theirs = {frozenset(each.full) - SMALL_WORDS: each for each in other.columns.values() if each.name != other.key}
    pairs = [(each, theirs.get(frozenset(table.words_of(each)) - SMALL_WORDS)) for each in table.columns.values()]
    held = [each for each, known in pairs if each.cells and known and _holds(known, each)]
    return len(held) >= MIN_REPEATED


def _is_beyond_chance(column: Column, other: TableProfile) -> bool:
    """Returns True if the cells cannot all be keys of `other` by chance.

    For whole numbers, the probability is the share of the numbers in their range that are keys, once for each
    different cell. Keys from 1 to 500 without a gap hold every small number.
    """
    assert other.key is not None
    key = other.columns[other.key]
    cells = {cell for cell in column.parts if cell in key.distinct}
    if len(cells) < MIN_DISTINCT or len(cells) < MIN_KNOWN_WITHOUT_WORDS * len(_like_keys(set(column.parts), other)):
        return False
    if not all(cell.isdecimal() for cell in key.distinct):
        return _is_telling(key)
    numbers = [int(cell) for cell in cells]
    low, high = min(numbers), max(numbers)
    held = sum(low <= int(cell) <= high for cell in key.distinct)
    return bool((held / (high - low + 1)) ** len(cells) <= MAX_CHANCE)


def _says_a_concept(words: Sequence[str]) -> bool:
    """Returns True if a header says what its cells are: the codes of languages (DE, FR) are no countries."""
    return not CONCEPTS.isdisjoint(map(singular, words))


_DIGIT = re.compile(r"\d")


def _are_codes(key: Column) -> bool:
    """Returns True for keys that each have letters and digits: `S01`."""
    return all(_DIGIT.search(cell) and not cell.isdecimal() for cell in key.distinct)


def _is_telling(key: Column) -> bool:
    """Returns True for keys unlike counts: with letters or signs, a zero in front, or many digits."""
    if not all(cell.isdigit() for cell in key.distinct):
        return True
    has_zeros = any(cell[0] == "0" and len(cell) > 1 for cell in key.distinct)
    return has_zeros or min(map(len, key.distinct)) >= MIN_DIGITS_OF_CODES


def with_links(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns `tables`; a table whose key refers to another table has no key in the result.

    Its rows are links between things, not things.
    """
    found = []
    for table in tables:
        others = [other for other in tables if other is not table]
        found.append(replace(table, key=None) if table.key is not None and _is_borrowed(table, others) else table)
    return found


def _is_borrowed(table: TableProfile, others: Sequence[TableProfile]) -> bool:
    """Returns True if the key column and another column both refer to tables: a row then joins two things."""
    assert table.key is not None
    keyless = replace(table, key=None)
    key = table.columns[table.key]
    rest = [word for word in key.full if word not in KEY_WORDS]
    target = find_target(key, keyless, others)
    if not rest or target is None:
        return False
    # A table of orders may have the order number as key; but `place_isPartOf_place` is not a table of places.
    is_of_rest = any_alike(rest, target.concept_words) and len(target.concept_words) < len(table.concept_words)
    if table.concept_words and any_alike(rest, table.concept_words[-1:]) and not is_of_rest:
        return False
    return any(find_target(each, keyless, others) is not None for each in table.columns.values() if each is not key)
