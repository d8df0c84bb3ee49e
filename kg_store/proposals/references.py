"""Finds the references between tables: which table the cells of a column are keys or names of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kg_store.formats.json_records import refers_to_parent
from kg_store.proposals.column_profiles import (
    ALIKE,
    CONCEPTS,
    COUNT_WORDS,
    KEY_WORDS,
    LEADING_WORDS,
    LONG_TEXT,
    OF_THE_SAME,
    Column,
    any_alike,
)
from kg_store.proposals.table_profiles import TableProfile, find_names
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular
from kg_store.text.literals import is_year

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
MIN_CODES = 2
"""So many different codes with letters and digits, all keys of one table, are no chance. Chosen by hand."""
MIN_REPEATED = 2
"""Where this many columns repeat those of the other table, a bare `id` is its key."""
SMALL_WORDS = frozenset({"of", "the", "in"})
MIN_COVERED = 0.5
"""Where no header speaks, a column refers to a table that its own is named after, if it has this share of its keys."""


def find_target(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> TableProfile | None:
    """Returns the table that a column refers to, by its words and by its share of cells that are keys; else None."""
    if column.name == table.key or not column.cells or COUNT_WORDS & set(column.full) or LONG_TEXT & set(column.full):
        return None
    stated = _declared_target(column, table, tables)
    if stated is not None:
        return stated[0] if stated[1] == stated[0].key else None
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
    is_led = not LEADING_WORDS.isdisjoint(column.full[-1:]) and not all(map(is_year, column.distinct))
    leads = says and (column.is_called_key or is_led)
    # Small numbers are keys of many tables, so exactly one table may have all of them.
    holding = [other for *_, other in ranked if _known(column, other) == 1 and other is not table]
    if len(holding) != 1:
        return None
    is_sure = (leads and len(column.distinct) >= MIN_DISTINCT) or (says and _are_figures_of(column, holding[0]))
    return (
        holding[0] if is_sure or (not says_a_concept(column.full) and _is_beyond_chance(column, holding[0])) else None
    )


def find_named_target(
    column: Column, table: TableProfile, tables: Sequence[TableProfile]
) -> tuple[TableProfile, str] | None:
    """Returns the only table that a column refers to by names, codes or e-mails, with that column; else None."""
    stated = _declared_target(column, table, tables)
    if stated is not None and stated[1] != stated[0].key:
        return stated
    if (owner := _owner(column, table, tables)) is not None and owner.key is not None:
        told = next((each.name for each in owner.columns.values() if each.is_unique and _holds(each, column)), None)
        return None if told is None else (owner, told)
    is_text = column.kind is ValueKind.TEXT and not LONG_TEXT & set(column.full)
    is_text = is_text and bool(table.words_of(column) or table.header_row == 0)
    if not is_text or column.name == table.key:
        return None
    # A list may refer to rows of its own table, such as the countries that border one.
    may_be_own = bool(OF_THE_SAME & set(column.full)) or column.separator is not None
    others = [other for other in tables if other is not table or may_be_own]
    if column.is_unique and column.separator is None:
        # Texts that are unique in every row are names of the row, unless the column's words speak of the other table.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    if says_a_concept(column.full) or len(set(column.parts)) < MIN_DISTINCT:
        # A concept such as a subject may have the name of a department without being one.
        others = [other for other in others if any_alike(column.full, other.concept_words)]
    found = [
        (other, by)
        for other in others
        if (by := next((each.name for each in _told_by(other) if _may_tell(each, column, other is table)), None))
    ]
    if len(found) > 1:  # `team1` refers to teams, although standings tell their names too.
        found = [(other, by) for other, by in found if any_alike(column.full, other.concept_words)]
    return found[0] if len(found) == 1 else None


def _declared_target(
    column: Column, table: TableProfile, tables: Sequence[TableProfile]
) -> tuple[TableProfile, str] | None:
    """Returns the table, with its column, that a database declares a column to refer to; None if it declares none."""
    told = table.declared.references.get((column.name,)) if table.declared is not None else None
    if told is None:
        return None
    file = f"{table.file.partition('/')[0]}/{told[0]}"
    target = next((other for other in tables if other.file == file and other.key is not None), None)
    by = target and next(iter(told[1]), target.key)
    return (target, by) if target is not None and by in target.columns else None


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
        is_filled = column.distinct_share >= ALIKE and len(column.cells) >= MIN_KNOWN * table.rows
        if table.key is not None and is_filled and (column.name in names or column.holds_emails or column.is_sign):
            yield column


def _may_tell(told: Column, column: Column, is_own: bool) -> bool:
    return _holds(told, column) and not (is_own and (told is column or column.repeats(told)))


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
    if other is table and column.repeats(key):
        return 0
    if other is table:
        is_of_the_same = bool(OF_THE_SAME & set(column.full))
        # Codes with letters and digits lead to other rows whatever the header says: `reports to` S04 among staff.
        speaks = column.is_called_key or _are_codes(key)
        speaks = speaks and share >= MIN_KNOWN_WITHOUT_WORDS and _is_telling(key)
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
    # Of codes with letters and digits, no half is the same by chance, nor are two of them.
    are_codes = _are_codes(key)
    least, fewest = (MIN_KNOWN, MIN_CODES) if are_codes else (MIN_KNOWN_WITHOUT_WORDS, MIN_DISTINCT)
    if share < least or len(column.distinct & key.distinct) < min(fewest, table.rows):
        return 0
    if says_a_concept(rest):
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


def says_a_concept(words: Sequence[str]) -> bool:
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


def with_referred_keys(tables: Sequence[TableProfile]) -> list[TableProfile]:
    """Returns `tables`; one to whose key no other refers has the key to which most columns of others do, if any does.

    Legislators have a number for each agency, and the other tables know one of them.
    """
    found = []
    for table in tables:
        others = [(column, other) for other in tables if other is not table for column in other.columns.values()]
        rest = [other for other in tables if other is not table]
        own = [each for each in table.columns.values() if each.is_called_key and each.is_unique]
        own = [each for each in own if each.name == table.key or not each.is_private_text]
        # The address of a customer tells the customers apart, but is the key of an address.
        own = [each for each in own if each.name == table.key or find_target(each, table, rest) is None]
        may_change = table.key in {each.name for each in own} and table.declared is None and len(own) > 1
        counts = Counter[str]()
        for key in own if may_change else ():
            keyed = replace(table, key=key.name)
            counts[key.name] = sum(find_target(column, other, [keyed]) is keyed for column, other in others)
        best = max(counts, key=lambda name: (counts[name], name == table.key), default=table.key)
        found.append(replace(table, key=best) if not counts[str(table.key)] else table)
    return found


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
    if table.part in table.key_beside:
        return True  # The figures of a shop in each year.
    # A table of orders may have the order number as key; but `place_isPartOf_place` is not a table of places.
    is_of_rest = any_alike(rest, target.concept_words) and len(target.concept_words) < len(table.concept_words)
    if table.concept_words and any_alike(rest, table.concept_words[-1:]) and not is_of_rest:
        return False
    return any(find_target(each, keyless, others) is not None for each in table.columns.values() if each is not key)
