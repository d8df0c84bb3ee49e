"""Keys and names of a table: the column that tells its rows apart, and what people call the things in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kg_store.formats.encodings import Encoding
from kg_store.lexicon.lexicon import kinds_of
from kg_store.proposals.column_profiles import Column
from kg_store.proposals.column_words import (
    ALIAS_PHRASES,
    ALIAS_WORDS,
    COUNT_WORDS,
    FILE_WORDS,
    FIRST,
    FIRST_BESIDE_LAST,
    KEY_WORDS,
    LAST,
    NAME_PREFIXES,
    NAME_WORDS,
    any_alike,
)
from kg_store.sources.table_policy import stem_of
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular

MIN_TITLE_SHARE = 0.5
MIN_NAME_SHARE = 0.1
OF_OTHERS = 2
"""From this rank on, a column that calls itself a name may be that of something else."""


@dataclass(frozen=True)
class TableProfile:
    """A table as it lies in its file. Without a `key` its rows join what they refer to.

    `is_certain`: its first line calls itself a header, whatever stands in other files.
    """

    file: str
    columns: dict[str, Column] = field(repr=False)
    rows: int
    concept_words: tuple[str, ...]
    key: str | None
    is_certain: bool = True
    header_row: int | None = None
    encoding: Encoding = "utf-8"

    @property
    def empty(self) -> tuple[str, ...]:
        """The cells by which this table says that nothing is known; none that is a value in one of its columns."""
        marks = {mark for column in self.columns.values() for mark in column.empty}
        return tuple(
            sorted(mark for mark in marks if not any(mark in each.distinct for each in self.columns.values()))
        )

    @property
    def keys(self) -> frozenset[str]:
        return self.columns[self.key].distinct if self.key is not None else frozenset()

    @property
    def concept(self) -> str:
        return " ".join(self.concept_words) or "thing"

    def without_key(self) -> TableProfile:
        return replace(self, key=None)


def concept_words(file: str, full: Sequence[str]) -> tuple[str, ...]:
    """The kind of a table's rows, by the words of its file; numbers and words for files say nothing of it."""
    kept = [word for word in full if word not in KEY_WORDS]
    kept = [word for word in kept if word.isalpha() and word not in FILE_WORDS] or kept
    if not kept or " ".join(kept) in NAME_WORDS or not any(char.isalpha() for char in stem_of(file)):
        return ()
    if len(kept) > 1 and "a" in kinds_of(kept[-1]) and singular(kept[-2]) != kept[-2]:
        # `legislators-current` are current legislators.
        kept = [*kept[:-2], kept[-1], kept[-2]]
    return (*kept[:-1], singular(kept[-1]))


def find_key(columns: Sequence[Column], concept: Sequence[str]) -> str | None:
    """The column that is a key and is called so, one of the table's own kind first; else a name without doubles."""
    unique = [column for column in columns if column.is_unique and not _is_counted(column)]
    called = [column for column in unique if column.is_called_key or column.is_code]
    own = [column for column in called if _is_of_kind(column, concept)]
    kinds = [column for column in unique if column.words == list(concept)]
    named = [column for column in unique if _is_plain_name(column)]
    if not (own or called) and kinds and not named:
        return kinds[0].name
    return next((column.name for column in (*own, *called, *kinds, *named)), None)


def find_names(table: TableProfile, taken: frozenset[str]) -> list[str | tuple[str, ...]]:
    """The names of a table's rows, best first: first and last together, what is called a name, what looks like one."""
    columns = [column for column in table.columns.values() if column.name not in taken and column.cells]
    joined = _first_and_last(columns)
    found: list[str | tuple[str, ...]] = [joined] if joined else []
    parts = set(joined or ())
    rest = [column for column in columns if column.name not in parts and column.name != table.key]
    called = sorted(_called(table, rest, bool(joined)))
    if found or (called and called[0][0] < OF_OTHERS):
        # A mother's maiden name is no name of hers, nor a contact's name one of the firm, where these have their own.
        called = [each for each in called if each[0] < OF_OTHERS]
    found += [column for _, _, column in called]
    if not found and table.key is not None and _is_name(table.columns[table.key]):
        found = [table.key]
    if not found and (first := next(_looking_like_names(table, rest), None)) is not None:
        found = [first.name]
    if not found:
        # People know a place by its address.
        found += [column.name for column in rest if column.is_unique and "address" in column.full][:1]
    if not found and table.key is not None:
        # Short descriptions behind a key are what people call the thing: "Butter, with salt".
        behind = list(table.columns)[list(table.columns).index(table.key) + 1 :][:1]
        found += [column.name for column in rest if column.name in behind and column.holds_short_names]
    if not found and table.key is not None and not table.columns[table.key].is_called_key:
        # A key that calls itself nothing is what people call the thing.
        found = [table.key]
    return found + [column.name for column in rest if column.name not in found and _is_called_alias(column)]


def _is_name(key: Column) -> bool:
    """True of a key that calls itself a name, or no key, and holds names: ships are not called by their captains."""
    return _is_plain_name(key) or (not key.is_called_key and key.holds_short_names)


def _is_called_alias(column: Column) -> bool:
    return bool(ALIAS_WORDS & {*column.words, *column.full}) or " ".join(column.full) in ALIAS_PHRASES


def _is_counted(column: Column) -> bool:
    return (column.kind is not ValueKind.TEXT and not column.is_called_key) or bool(COUNT_WORDS & set(column.full))


def _is_of_kind(column: Column, concept: Sequence[str]) -> bool:
    rest = [word for word in column.full if word not in KEY_WORDS]
    return not rest or (bool(concept) and any_alike(rest, [concept[-1]]))


def _is_plain_name(column: Column) -> bool:
    return bool(column.full) and column.full[-1] in NAME_WORDS and set(column.full[:-1]) <= NAME_PREFIXES


def _first_and_last(columns: Sequence[Column]) -> tuple[str, str] | None:
    by_words = {words: column.name for column in columns for words in (" ".join(column.full), " ".join(column.words))}
    first = next((by_words[words] for words in sorted(by_words) if words in FIRST), None)
    last = next((by_words[words] for words in sorted(by_words) if words in LAST), None)
    first = first or next((by_words[words] for words in sorted(by_words) if last and words in FIRST_BESIDE_LAST), None)
    return (first, last) if first and last else None


def _called(table: TableProfile, columns: Sequence[Column], has_name: bool) -> Iterator[tuple[int, int, str]]:
    """Columns that call themselves names of the row, with how well: `name`, then `company_name`, then a title."""
    for place, column in enumerate(columns):
        words = _turned(column.full)
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


def _turned(words: Sequence[str]) -> list[str]:
    """`name common` as "common name"."""
    is_turned = len(words) > 1 and words[0] in NAME_WORDS and set(words[1:]) <= NAME_PREFIXES
    return [*words[1:], words[0]] if is_turned else [*words]


def _is_called_by_kind(column: Column, table: TableProfile) -> bool:
    """True of `patient` in a table of patients, where it holds texts and not codes."""
    concept = list(table.concept_words)
    return bool(concept) and column.has_words and (column.full == concept or column.full == concept[-1:])


def _looking_like_names(table: TableProfile, columns: Sequence[Column]) -> Iterator[Column]:
    """Columns that nothing calls a name, and that hold what looks like names: the first texts behind the key."""
    places = list(table.columns)
    start = places.index(table.key) if table.key is not None else -1
    for column in columns[:]:
        if start < places.index(column.name) <= start + 2 and not column.is_called_key and column.looks_like_names:
            yield column
