"""Reads dumps of databases (`mysqldump`, `pg_dump`, `.dump` of SQLite) as tables with the keys that they declare.

Only CREATE TABLE, ALTER TABLE, INSERT, REPLACE and COPY are read, and none is run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import DeclaredKeys, Rows, TableOfFile
from kg_store.formats.files import MAX_LITERAL_BYTES, TOO_LONG_LITERAL
from kg_store.formats.sql_statements import (
    DOUBLED,
    ESCAPED,
    HEAD_BYTES,
    Statement,
    is_of_mysql,
    name_in,
    open_dump,
    statements,
    tokens_of,
)

_PACKED: Final = b"PGDMP"
_NO_TABLE: Final = (
    "no table with rows that can be read: write each table as a file of its own instead, with "
    "`mysql DATABASE --batch -e 'SELECT * FROM t' > t.tsv`, "
    "`psql DATABASE -c \"\\copy t TO 't.csv' CSV HEADER\"` or "
    "`sqlite3 -header -csv FILE 'SELECT * FROM t' > t.csv`"
)
_NO_COLUMNS: Final = (
    "rows without the names of their columns: load the file with the CREATE TABLE statements too, or put these in "
    "front of the rows"
)
_IS_PACKED: Final = "a dump in PostgreSQL's own format: write it with `pg_dump --format=plain`"
_NOT_CONSTANT: Final = "values of {} are binary, or computed by the database, and were left out"
_UNREAD: Final = "statements of {} insert rows in a way that is not read, and were left out"
_CONSTRAINTS: Final = frozenset(
    "PRIMARY KEY INDEX UNIQUE CONSTRAINT FOREIGN CHECK FULLTEXT SPATIAL EXCLUDE LIKE PERIOD".split()
)


Place = tuple[int, int]
_Name = tuple[str, str]


class _Tables:
    """The tables of a dump by their names, which may leave out the schema."""

    def __init__(self) -> None:
        self.all: list[_Table] = []
        self.database = ""
        """The one of the last USE of MySQL."""

    def called(self, name: _Name, within: str) -> _Table | None:
        """Returns the table of that name, of the schema `within` if it names none; None if there is none."""
        schema, own = name[0] or within, name[1]
        of_name = [table for table in self.all if _folded(table.name[1]) == _folded(own)]
        exact = [table for table in of_name if _folded(table.name[0]) == _folded(schema)]
        loose = [table for table in of_name if not (table.name[0] and schema)]
        return next(iter(exact or loose), None)

    def made(self, name: _Name) -> _Table:
        """Returns the table of that name, a new one if there is none."""
        found = self.called(name, self.database)
        if found is None:
            found = _Table((name[0] or self.database, name[1]))
            self.all.append(found)
        return found

    def titles(self) -> dict[int, str]:
        """Returns the title of each table by its id(): its name, and that of its schema if two have the name."""
        counts = Counter(_folded(table.name[1]) for table in self.all)
        return {
            id(table): ".".join(filter(None, table.name)) if counts[_folded(table.name[1])] > 1 else table.name[1]
            for table in self.all
        }


@dataclass(slots=True)
class _Table:
    """One table of a dump: its columns, its keys, and the parts of the file that hold its rows.

    `name`: the table's own, behind that of its schema or database, which may be empty. A part is a pair of places:
    those of its first and of its last statement with rows. `is_declared`: a CREATE TABLE here names its columns.
    """

    name: _Name
    columns: list[str] = field(default_factory=list)
    is_declared: bool = False
    key: tuple[str, ...] = ()
    references: dict[tuple[str, ...], tuple[_Name, tuple[str, ...]]] = field(default_factory=dict)
    parts: list[tuple[Place, Place]] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)


def tables_of_sql(path: Path, beside: Sequence[Path] = ()) -> list[TableOfFile]:
    """Returns the tables with rows that a dump declares, or whose columns its rows name.

    Rows of a table that only one other of the files `beside` declares belong to that file. Raises LoadError if there
    are none, and no other file has them.
    """
    dumps = {path: _tables_in(path)}
    for each in beside:
        with suppress(LoadError):  # Its own error is told where it is read.
            dumps.setdefault(each, _tables_in(each))
    own = _Tables()
    sources: dict[int, list[tuple[Path, _Table]]] = {}
    taken = bare = 0
    for table in dumps[path].all:
        rows = [
            (each, other) for each, dump in dumps.items() for other in dump.all if _rows_are_of(table, other, dumps)
        ]
        taken += bool(table.parts and not rows)
        bare += bool(rows and not table.columns)
        if rows and table.columns:
            own.all.append(table)
            sources[id(table)] = rows
    if not own.all and not taken:
        raise LoadError(_NO_COLUMNS if bare else _NO_TABLE, path.name)
    return [_table_of_file(table, own, sources[id(table)]) for table in own.all]


def _rows_are_of(table: _Table, other: _Table, dumps: Mapping[Path, _Tables]) -> bool:
    """Returns True if `other` has rows that belong to `table`: its own, or those of a file that declares none."""
    if not other.parts or _folded(table.name[1]) != _folded(other.name[1]):
        return False
    found = [dump.called(other.name, "") for dump in dumps.values()] if not other.is_declared else []
    declared = [each for each in found if each is not None and each.is_declared]
    return table is (declared[0] if len(declared) == 1 else other)


def _table_of_file(table: _Table, own: _Tables, sources: Sequence[tuple[Path, _Table]]) -> TableOfFile:
    titles = own.titles()
    references = {
        columns: (titles[id(target)], theirs)
        for columns, (name, theirs) in table.references.items()
        if (target := own.called(name, table.name[0])) is not None
    }
    title = titles[id(table)]
    notes = tuple(
        (count, sentence.format(f"{each.name}/{title}"))
        for each, part in sources
        for sentence, count in part.notes.items()
    )
    return TableOfFile(title, _rows(table, sources), notes, declared=DeclaredKeys(table.key, references))


def _tables_in(path: Path) -> _Tables:
    told = path.stat()
    return _tables(path, told.st_size, told.st_mtime_ns)


@lru_cache(maxsize=512)
def _tables(path: Path, _size: int, _modified: int) -> _Tables:
    """Returns the tables of a dump. The whole file is read once; later only the parts with rows."""
    is_mysql = _is_of_mysql(path)
    tables = _Tables()
    last: _Table | None = None
    unread = 0
    with open_dump(path) as (stream, encoding):
        for statement in statements(stream, path.name, encoding, is_mysql):
            tokens = [word for word, _ in islice(tokens_of(statement.text, is_mysql), 4)]
            words = [*map(str.upper, tokens)]
            before, last = last, None
            if "TABLE" in words[1:] and words[0] in ("CREATE", "ALTER"):
                _declare(statement.text, is_mysql, tables)
            elif words[:1] in (["INSERT"], ["REPLACE"], ["COPY"]):
                last = _note_rows(statement, is_mysql, tables, before)
                unread += last is None
            elif words[:1] == ["USE"] and len(tokens) > 1:
                tables.database = name_in(tokens[1])
    for table in [table for table in tables.all if table.parts][:1] if unread else ():
        table.notes[_UNREAD.format(path.name)] += unread
    return tables


def _is_of_mysql(path: Path) -> bool:
    with open_dump(path) as (stream, _):
        head = stream.read(HEAD_BYTES)
    if head.startswith(_PACKED):
        raise LoadError(_IS_PACKED, path.name)
    return is_of_mysql(head)


def _note_rows(statement: Statement, is_mysql: bool, tables: _Tables, before: _Table | None) -> _Table | None:
    """Adds the statement to the parts of its table's rows, and returns the table; None if it has no rows to read.

    `before`: the table of the statement before it.
    """
    head = _head_of(statement.text, is_mysql)
    if head is None:
        return None
    table = tables.made(head.table)
    known = [*map(_folded, table.columns)]
    table.columns += [column for column in head.columns if _folded(column) not in known]
    if statement.rows is None:
        cells = [cell for _, row in _inserted(statement.text, head.at, is_mysql) for cell in row]
        if not cells:
            return None
        if unread := cells.count(None):
            table.notes[_NOT_CONSTANT] += unread
    first, last = table.parts[-1] if table.parts else (statement.place, (-1, 0))
    if before is table or statement.place <= last:
        table.parts[-1] = (first, statement.place)
    else:
        table.parts.append((statement.place, statement.place))
    return table


@dataclass(frozen=True, slots=True)
class _Head:
    """The beginning of an INSERT or COPY: its table, the columns that it names, and where the values begin."""

    table: _Name
    columns: tuple[str, ...]
    at: int


def _head_of(text: str, is_mysql: bool) -> _Head | None:
    tokens = tokens_of(text, is_mysql)
    words: list[str] = []
    columns: list[str] = []
    is_within = False
    for word, at in tokens:
        if word == "(":
            is_within = True
        elif word == ")":
            is_within = False
        elif is_within and word != ",":
            columns.append(name_in(word))
        elif word.upper() in ("VALUES", "VALUE", "FROM"):
            return _Head(_name_of(words), tuple(columns), at) if words else None
        elif word.upper() == "SELECT":
            break
        elif not is_within and not columns and word.upper() not in _BEFORE_NAMES:
            words.append(word)
    return None


def _name_of(words: Sequence[str]) -> _Name:
    """Returns the names of a schema and a table: the last word is the table's, and a dot stands between."""
    has_schema = len(words) > 2 and words[-2] == "."
    return name_in(words[-3]) if has_schema else "", name_in(words[-1])


_BEFORE_NAMES: Final = frozenset(
    "INSERT REPLACE COPY INTO IGNORE LOW_PRIORITY DELAYED HIGH_PRIORITY OR CREATE ALTER TABLE ONLY IF NOT EXISTS "
    "TEMPORARY TEMP UNLOGGED GLOBAL LOCAL".split()
)


def _folded(name: str) -> str:
    return name.casefold()


def _declare(text: str, is_mysql: bool, tables: _Tables) -> None:
    """Notes the columns and keys of a CREATE TABLE, or the keys of an ALTER TABLE."""
    tokens = [word for word, _ in tokens_of(text, is_mysql) if word.strip()]
    at = next((at for at, word in enumerate(tokens) if word.upper() not in _BEFORE_NAMES), len(tokens))
    end = at + 1
    while tokens[end : end + 1] == ["."]:
        end += 2
    if end >= len(tokens):
        return
    table = tables.made(_name_of(tokens[at:end]))
    is_new = tokens[0].upper() == "CREATE"
    if is_new and tokens[end] != "(":
        return  # Its columns are those of a query.
    # Oracle adds several constraints in brackets: ALTER TABLE ... ADD (CONSTRAINT ..., CONSTRAINT ...).
    in_brackets = is_new or [word.upper() for word in tokens[end : end + 2]] == ["ADD", "("]
    body = tokens[end + (1 if is_new else 2) :] if in_brackets else tokens[end:]
    for part in _parts(body):
        is_column = is_new and part[0].upper() not in _CONSTRAINTS
        if is_column:
            table.columns.append(name_in(part[0]))
            table.is_declared = True
        _note_keys(part, [name_in(part[0])] if is_column else [], table)


def _parts(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yields the definitions that commas separate, up to the bracket that closes them."""
    part: list[str] = []
    depth = 0
    for word in tokens:
        depth += (word == "(") - (word == ")")
        if depth < 0:
            break
        if word == "," and depth == 0:
            yield from [part] if part else []
            part = []
        else:
            part.append(word)
    yield from [part] if part else []


def _note_keys(part: Sequence[str], own: Sequence[str], table: _Table) -> None:
    """Notes the keys in a definition. `own`: the column that it defines; empty if it defines a constraint."""
    words = [word.upper() for word in part]
    for at, (word, after) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        if (word, after) == ("PRIMARY", "KEY"):
            table.key = tuple(own) or _names_within(part, at + 2)
        elif word == "REFERENCES":
            columns = tuple(own)
            if "FOREIGN" in words[:at]:
                columns = _names_within(part, words.index("FOREIGN") + 2)
            end = at + 2
            while part[end : end + 1] == ["."]:
                end += 2
            table.references[columns] = _name_of(part[at + 1 : end]), _names_within(part, end)


def _names_within(part: Sequence[str], at: int) -> tuple[str, ...]:
    """Returns the names in the next brackets; an index's name may stand before them, and a length behind a name."""
    start = next((place for place in range(at, min(at + 3, len(part))) if part[place] == "("), None)
    if start is None:
        return ()
    return tuple(name_in(each[0]) for each in _parts(part[start + 1 :]))


def _rows(table: _Table, sources: Sequence[tuple[Path, _Table]]) -> Callable[[object], Rows]:
    def rows(_table: object) -> Iterator[tuple[int, list[str]]]:
        yield 1, table.columns
        above = line = 0
        for path, own in sources:
            for line, cells in _rows_in(path, own.parts, table):
                yield above + line, cells
            above += line  # The lines of several files are counted on, so that no two rows have one number.

    return rows


def _rows_in(path: Path, parts: Sequence[tuple[Place, Place]], table: _Table) -> Rows:
    is_mysql = _is_of_mysql(path)
    with open_dump(path) as (stream, encoding):
        for first, last in parts:
            for statement in statements(stream, path.name, encoding, is_mysql, first):
                if statement.place > last:
                    break
                yield from _rows_of(statement, table, path.name, is_mysql)


def _rows_of(statement: Statement, table: _Table, file: str, is_mysql: bool) -> Iterator[tuple[int, list[str]]]:
    head = _head_of(statement.text, is_mysql)
    schema, own = head.table if head is not None else ("", "")
    is_other = schema and table.name[0] and _folded(schema) != _folded(table.name[0])
    if head is None or is_other or _folded(own) != _folded(table.name[1]):
        return
    columns = [*map(_folded, head.columns or table.columns)]
    places = [columns.index(each) if each in columns else None for each in map(_folded, table.columns)]
    found = _inserted(statement.text, head.at, is_mysql) if statement.rows is None else _copied(statement.rows)
    first = statement.line if statement.rows is None else 0
    for line, cells in found:
        if len(cells) != len(columns):
            reason = f"this row has {len(cells)} values, the table has {len(columns)} columns"
            raise LoadError(reason, f"{file}/{table.name[1]}", first + line)
        if any(len(cell or "") > MAX_LITERAL_BYTES for cell in cells):
            raise LoadError(TOO_LONG_LITERAL, f"{file}/{table.name[1]}", first + line)
        yield first + line, ["" if place is None else (cells[place] or "").strip() for place in places]


_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_COPY_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)")


def _copied(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str | None]]]:
    for line, row in rows:
        yield line, ["" if cell == "\\N" else _COPY_ESCAPE.sub(_unescaped, cell) for cell in row.split("\t")]


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPES.get(code, code)


_SIMPLE: Final = {
    is_mysql: re.compile(
        rf"\s*+(?:(?:[nN]|[eE](?=')|_utf8\w*+\s*+)?'(?P<text>{inside})'(?:::[\w .\[\]\"]++(?:\(\d+\))?)?"
        r"|(?P<plain>[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+|[A-Za-z]++))\s*+(?P<end>[,)])",
        re.DOTALL,
    )
    for is_mysql, inside in ((True, ESCAPED), (False, DOUBLED))
}
_WORDS: Final = {"null": "", "true": "true", "false": "false", "default": ""}


def _inserted(text: str, at: int, is_mysql: bool) -> Iterator[tuple[int, list[str | None]]]:
    """Yields (lines below the first one, values) for each row of an INSERT; None for a value that is no constant."""
    lines, counted = 0, 0
    while (start := re.compile(r"[\s,]*+\(").match(text, at)) is not None:
        lines, counted, at = lines + text.count("\n", counted, start.end()), start.end(), start.end()
        cells: list[str | None] = []
        end = ","
        while end == ",":
            found = _SIMPLE[is_mysql].match(text, at)
            if found is not None and (plain := found["plain"]) is not None:
                cells.append(plain if not plain[0].isalpha() else _WORDS.get(plain.lower()))
                at, end = found.end(), found["end"]
            elif found is not None:
                cells.append(_string(found["text"], is_mysql or text[found.start("text") - 2] in "eE"))
                at, end = found.end(), found["end"]
            else:
                cell, at, end = _other_value(text, at, is_mysql)
                cells.append(cell)
        yield lines, cells


_STRING_ESCAPE: Final = re.compile(r"''|\\(.)", re.DOTALL)
_OF_STRINGS: Final = {"b": "\b", "n": "\n", "r": "\r", "t": "\t", "0": "", "Z": ""}


def _string(inside: str, has_escapes: bool) -> str:
    if not has_escapes:
        return inside.replace("''", "'")
    return _STRING_ESCAPE.sub(lambda found: _OF_STRINGS.get(found[1], found[1]) if found[1] else "'", inside)


def _other_value(text: str, at: int, is_mysql: bool) -> tuple[str | None, int, str]:
    """Returns (value, position behind it, the comma or bracket there) of a value that is no plain constant.

    SQLite writes a text with line breaks as `replace('a\\nb','\\n',char(10))` or `unistr('a\\u000ab')`, and these are
    read.
    """
    depth, tokens = 0, list[str]()
    for word, end in tokens_of(text, is_mysql, at):
        if depth == 0 and word in (",", ")"):
            return _computed(tokens, is_mysql), end, word
        depth += (word == "(") - (word == ")")
        tokens.append(word)
        at = end
    return None, at, ""


def _computed(tokens: Sequence[str], is_mysql: bool) -> str | None:
    texts = [_string(word[1:-1], is_mysql) for word in tokens if word[:1] == "'"]
    if len(tokens) == 1 and tokens[0][:1] == '"':
        return name_in(tokens[0])
    if tokens and tokens[0] == "unistr" and len(texts) == 1:
        return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), texts[0]).replace("\\\\", "\\")
    if tokens and tokens[0] == "replace" and texts:
        codes = [int(word) for word in tokens if word.isdecimal()]
        found = texts[0]
        for mark, code in zip(texts[1:], codes, strict=False):
            found = found.replace(mark, chr(code))
        return found
    return None
