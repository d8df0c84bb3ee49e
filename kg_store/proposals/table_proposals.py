"""Proposing `[[tables]]` for files that are tables: a header, one row an entity, and not head, relation, tail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kg_store.errors import LoadError
from kg_store.lexicon import in_lexicon
from kg_store.sources.files import open_bytes
from kg_store.sources.table_files import TABLE_ENDINGS, delimiter_of, header_of, read_rows
from kg_store.sources.table_policy import MAX_COLUMN_CHARS, MAX_LABEL_CHARS, ColumnPolicy, TablePolicy
from kg_store.sources.triple_columns import places_in_header, words_of
from kg_store.terms import ValueKind
from kg_store.text.labels import FORBIDDEN_IN_LABELS, readable
from kg_store.text.literals import fits, is_year

_KEY_WORDS = frozenset({"id", "key", "code", "nr", "no", "number", "uuid", "isbn", "sku"})
_NAME_WORDS = ("name", "full name", "fullname", "display name", "title", "label", "nickname", "alias")
_FIRST = ("first name", "firstname", "given name", "givenname", "forename", "first", "given")
_LAST = ("last name", "lastname", "family name", "familyname", "surname", "last", "family")
# Columns that hold keys of their own table.
_OF_THE_SAME = frozenset({"boss", "manager", "supervisor", "superior", "parent", "mother", "father"})
# Digits that nobody counts with.
_KEPT_AS_TEXT = frozenset({"phone", "telephone", "fax", "zip", "postcode", "postal", "iban", "ssn", *_KEY_WORDS})
_ALIKE = 0.98
_UPLOADED = re.compile(r"file-\d+")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table as it lies in its file: its columns, each with every filled cell."""

    file: str
    columns: dict[str, list[str]] = field(repr=False)
    key: str
    rows: int

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.columns[self.key])

    @property
    def concept(self) -> str:
        """From the file's name, or from the key's where an upload has left none: `patient_id` -> patient."""
        stem = Path(self.file).stem
        return _concept(self.key if _UPLOADED.fullmatch(stem) else stem)


def propose_tables(paths: Iterable[Path]) -> tuple[TablePolicy, ...]:
    """A mapping for every file of `paths` that is a table. Files that are none, or broken, are left to `reading`."""
    sheets = [sheet for path in paths if (sheet := _sheet(path)) is not None]
    return tuple(_mapping(sheet, sheets) for sheet in sheets)


def _sheet(path: Path) -> _Sheet | None:
    name = path.name.removesuffix(".gz")
    if Path(name).suffix.lower() not in TABLE_ENDINGS or len(name) > MAX_COLUMN_CHARS:
        return None
    try:
        header = header_of(path)
        columns = _columns(path, header) if _may_be_header(header) else {}
        is_called = _is_called_as_table(header, delimiter_of(path))
    except LoadError:
        return None
    rows = len(next(iter(columns.values()), ()))
    if not is_called and not _stands_apart(columns):
        return None
    key = _key(columns, _concept(Path(name).stem)) or (None if is_called else _first_if_unique(columns))
    if key is None or rows == 0:
        return None
    filled = {column: [cell for cell in cells if cell] for column, cells in columns.items()}
    return _Sheet(name, filled, key, rows)


def _concept(text: str) -> str:
    words = readable(text).lower().split()
    kept = [word for word in words if word not in _KEY_WORDS]
    if not kept or " ".join(kept) in _NAME_WORDS:
        return "thing"
    return _label(" ".join([*kept[:-1], _singular(kept[-1])])) or "thing"


def _label(words: str) -> str:
    """`words` as a label of a policy; empty where nothing is left of them."""
    return FORBIDDEN_IN_LABELS.sub(" ", words).strip()[:MAX_LABEL_CHARS].strip()


def _may_be_header(header: Sequence[str]) -> bool:
    """True where the cells can be names of columns, and not those of a list of triples."""
    if len(header) < 2 or any(_is_value(column) or len(column) > MAX_COLUMN_CHARS for column in header):
        return False
    return places_in_header(header) is None


def _is_called_as_table(header: Sequence[str], delimiter: str) -> bool:
    """True where a column calls itself a key or a name; of three columns that may be triples, the first must be a key.
    Nobody separates triples by semicolons."""
    words = [_words(column) for column in header]
    if len(header) == 3 and delimiter != ";":
        return bool(_KEY_WORDS & set(words[0].split()))
    return any(_KEY_WORDS & set(each.split()) or each in (*_NAME_WORDS, *_FIRST) for each in words)


def _stands_apart(columns: Mapping[str, Sequence[str]]) -> bool:
    """True where the first line is unlike those below: common words over numbers or dates, or in small letters over
    capitals. A first line that is not would be a row, whose cells must not become words of the schema."""
    if not columns or not all(words_of(name) and all(map(in_lexicon, words_of(name))) for name in columns):
        return False
    if any(re.search(r"\d", name) for name in columns):
        return False
    filled = [[cell for cell in cells if cell] for cells in columns.values()]
    if any(cells and all(map(_is_value, cells)) for cells in filled):
        return True
    capitals = sum(cell[0].isupper() for cell in filled[0])
    return all(name.islower() for name in columns) and capitals >= _ALIKE * len(filled[0]) > 0


def _first_if_unique(columns: Mapping[str, Sequence[str]]) -> str | None:
    name, cells = next(iter(columns.items()))
    return name if all(cells) and len(set(cells)) == len(cells) else None


def _columns(path: Path, header: Sequence[str]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {column: [] for column in header}
    # Any column does as the key here: lines without one are told apart by `_key`.
    table = TablePolicy(file=path.name, key=header[0])
    with open_bytes(path) as stream:
        for row in read_rows(stream, path.name, table):
            for column in header:
                columns[column].append(row.cells[column])
    return columns


def _key(columns: Mapping[str, Sequence[str]], concept: str) -> str | None:
    """The first column that calls itself a key, or what the table is of, and is one; else the first that is a name
    without doubles."""
    unique = [column for column, cells in columns.items() if all(cells) and len(set(cells)) == len(cells)]
    called = [column for column in unique if _KEY_WORDS & set(_words(column).split()) or _words(column) == concept]
    named = [column for column in unique if _words(column) in _NAME_WORDS]
    return next(iter((*called, *named)), None)


def _mapping(sheet: _Sheet, sheets: Sequence[_Sheet]) -> TablePolicy:
    names = tuple(_names(sheet))
    taken = {part for name in names for part in ((name,) if isinstance(name, str) else name)} | {sheet.key}
    columns = {
        column: _column(column, cells, sheet, sheets)
        for column, cells in sheet.columns.items()
        if column not in taken and cells
    }
    return TablePolicy(file=sheet.file, key=sheet.key, concept=sheet.concept, names=names, columns=columns)


def _names(sheet: _Sheet) -> Iterator[str | tuple[str, ...]]:
    by_words = {_words(column): column for column in sheet.columns}
    first = next((by_words[words] for words in _FIRST if words in by_words), None)
    last = next((by_words[words] for words in _LAST if words in by_words), None)
    if first and last:
        yield (first, last)
    called = [by_words[words] for words in (*_NAME_WORDS, f"{sheet.concept} name") if words in by_words]
    yield from (column for column in called if column not in (first, last))
    of_kind = by_words.get(sheet.concept)
    # A code that is called by its kind is no name beside a name.
    if of_kind and not ((called or (first and last)) and of_kind == sheet.key):
        yield of_kind
    # A key that calls itself nothing is what people call the thing.
    elif not (called or (first and last) or _KEY_WORDS & set(_words(sheet.key).split())):
        yield sheet.key


def _column(column: str, cells: Sequence[str], sheet: _Sheet, sheets: Sequence[_Sheet]) -> ColumnPolicy:
    target = _target(column, cells, sheet, sheets)
    words = [word for word in _words(column).split() if target is None or word not in _KEY_WORDS]
    label = _label(" ".join(words)) or "related to"
    if target is not None:
        return ColumnPolicy(relation=label, table=target.file)
    return ColumnPolicy(relation=label, kind=_kind(column, cells))


def _target(column: str, cells: Sequence[str], sheet: _Sheet, sheets: Sequence[_Sheet]) -> _Sheet | None:
    """The table whose keys these cells are, most of them at least: where the column's name speaks of it or its key."""
    words = set(_words(column).split())
    for other in sheets:
        speaks = set(other.concept.split()) <= words or (other.key == column and other is not sheet)
        speaks = speaks or (words - _KEY_WORDS != words and column != sheet.key)
        speaks = speaks or (other is sheet and bool(words & _OF_THE_SAME))
        if speaks and sum(cell in other.keys for cell in cells) * 2 > len(cells):
            return other
    return None


def _kind(column: str, cells: Sequence[str]) -> ValueKind:
    words = set(_words(column).split())
    if words & _KEPT_AS_TEXT or any(re.fullmatch(r"0\d+", cell) for cell in cells):
        return ValueKind.TEXT
    if "year" in words and all(is_year(cell) for cell in cells):
        return ValueKind.DATE
    for kind in (ValueKind.NUMBER, ValueKind.DATE):
        if sum(fits(cell, kind) for cell in cells) >= _ALIKE * len(cells):
            return kind
    return ValueKind.TEXT


def _words(column: str) -> str:
    return readable(column.replace("-", " ")).lower()


def _is_value(cell: str) -> bool:
    return fits(cell, ValueKind.NUMBER) or fits(cell, ValueKind.DATE) or cell.startswith(("http://", "https://", "<"))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
