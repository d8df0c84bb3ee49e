"""Reads JSON and JSON Lines as tables: each list of objects is a table, also a list inside a record.

An object within a record gives columns of the record (`address city`); a list of plain values is one column; the rows
of a list inside a record refer to that record. An object whose keys are data, `{"EUR": {...}, "CHF": {...}}`, is read
as a list. Lists in a list of the file are rows (`json_rows.py`); lists of lists in a record are kept as one text.
Records are streamed, so only one is in memory at a time.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, cast

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Rows, TableOfFile
from kg_store.formats.fhir import is_resource, plain_resource
from kg_store.formats.files import (
    MAX_DEPTH,
    MAX_LITERAL_BYTES,
    TOO_LONG_LITERAL,
    BoundedRuns,
    Rejoined,
    bounded_lines,
    open_bytes,
)
from kg_store.formats.json_rows import (
    KEY,
    MIN_ALIKE,
    SEPARATOR,
    VALUE,
    RowNames,
    as_record,
    is_map,
    records_of_map,
)

MIN_DATA_KEYS: Final = 15
MAX_SHARE: Final = 1 / 3
"""Keys are data if at least MIN_DATA_KEYS are different, and a record has at most this share of them on average.

Chosen by hand.
"""
MAX_DIGITS_OF_NUMBER: Final = 4000
_LONG_NUMBER: Final = re.compile(rb"\d{%d}" % (MAX_DIGITS_OF_NUMBER + 1))


@dataclass(slots=True)
class _Uses:
    """Statistics of the objects at one place in the records, for telling whether their keys are data.

    `keys` are all distinct keys, `records` the number of objects, `total` the sum of their numbers of keys.
    `is_alike`: so far, all values are objects with the same keys.
    """

    keys: set[str] = field(default_factory=set)
    records: int = 0
    total: int = 0
    is_alike: bool = True
    shape: frozenset[str] | None = None

    def see(self, found: Mapping[str, Any]) -> None:
        self.records += 1
        self.total += len(found)
        self.keys.update(found)
        for child in found.values():
            shape = frozenset(child) if isinstance(child, dict) else frozenset()
            self.shape = shape if self.shape is None else self.shape
            self.is_alike &= bool(shape) and shape == self.shape

    @property
    def has_data_keys(self) -> bool:
        if self.is_alike and len(self.keys) >= MIN_ALIKE:
            return True
        return len(self.keys) >= MIN_DATA_KEYS and self.total <= MAX_SHARE * len(self.keys) * self.records


def places_of_maps(records: Iterable[tuple[str, Mapping[str, Any]]]) -> frozenset[tuple[str, str]]:
    """Returns the places where objects have data as keys, such as `{"EUR": ..., "CHF": ...}`.

    A place is (title of the table, column).
    """
    uses: dict[tuple[str, str], _Uses] = {}
    for title, record in records:
        for key, value in record.items():
            _see(uses, title, key, value)
    return frozenset(place for place, found in uses.items() if found.has_data_keys)


def _see(uses: dict[tuple[str, str], _Uses], title: str, column: str, value: object) -> None:
    if isinstance(value, dict):
        uses.setdefault((title, column), _Uses()).see(value)
        for key, child in value.items():
            _see(uses, title, f"{column} {key}", child)


LINES_ENDINGS = (".jsonl", ".ndjson")
JSON_ENDINGS = (".json", ".geojson", *LINES_ENDINGS)
PARENT = "parent"
MAX_COLUMNS = 2_000
MAX_TABLES = 500
MAX_DIGITS = 40
MAX_ONE_RECORD_BYTES = 16 << 20
"""The greatest size of one object, because it is read whole; the resources of a FHIR bundle are read one by one."""
MAX_LISTED_RECORD_BYTES = 4 << 20
"""The greatest size of an object of a list."""
_HEAD_BYTES: Final = 4_096
_READ_AHEAD_BYTES: Final = 1 << 17
_BUNDLE: Final = re.compile(rb'\s*\{\s*"resourceType"\s*:\s*"Bundle"')
_NOT_JSON = "not valid JSON, or cut off"
_SAY_HOW = "write it as a list of objects, [{...}, {...}], or one object in each line"

TOO_LONG_RECORD = f"one object of more than {MAX_ONE_RECORD_BYTES >> 20} MB: {_SAY_HOW}"


def refers_to_parent(table: str, column: str) -> bool:
    """Returns True for the column by which the rows of a list inside a JSON record refer to that record."""
    file, inside, _ = table.lower().partition("/")
    return column == PARENT and bool(inside) and file.endswith(JSON_ENDINGS)


Record = dict[str, Any]
Places = frozenset[tuple[str, str]]


def tables_of_json(path: Path) -> list[TableOfFile]:
    """Returns every table of the file, with the columns of all its records. Raises LoadError if there are none."""
    columns: dict[str, dict[str, None]] = {}
    odd: dict[str, Counter[str]] = {}
    names = RowNames()
    maps = places_of_maps((title, as_people_say_it(record)) for title, _, record in records_of(path))
    rows = Counter[str]()
    for title, _, record in _all_records(path, maps, odd):
        rows[title] += 1
        known = columns.setdefault(title, {})
        known.update(dict.fromkeys(record))
        names.see(title, record)
        if len(known) > MAX_COLUMNS or len(columns) > MAX_TABLES:
            reason = f"more than {MAX_COLUMNS} keys, or {MAX_TABLES} lists within each other: {_SAY_HOW}"
            raise LoadError(reason, path.name)
    if not columns:
        raise LoadError(f"no record: {_SAY_HOW}", path.name)
    if all([*keys] == [VALUE] for keys in columns.values()):
        raise LoadError(f"the list holds other than objects: {_SAY_HOW}", path.name)
    if _is_bulk(path):
        odd.setdefault(next(iter(columns)), Counter())[_BULK_NOTE.format(path.name)] += 1
    is_one = _is_record(path) and rows[next(iter(columns))] == 1
    headers = {title: names.header_of(title, [*keys]) for title, keys in columns.items()}
    return [
        TableOfFile(
            title,
            _rows(path, title, [*keys], maps, headers[title]),
            (
                *((count, sentence) for sentence, count in odd.get(title, {}).items()),
                *names.notes_on(title, path.name),
            ),
            is_one,
        )
        for title, keys in columns.items()
        if title not in names.used
    ]


def _rows(
    path: Path, title: str, columns: list[str], maps: Places, header: tuple[list[str], bool]
) -> Callable[[object], Rows]:
    def rows(_table: object) -> Iterator[tuple[int, list[str]]]:
        names, is_first_row = header
        # Salesforce appends `__c` to column names that its users defined.
        yield 1, [" ".join(name.removesuffix("__c").split()) or "value" for name in names]
        records = ((line, record) for of, line, record in _all_records(path, maps, {}) if of == title)
        for line, record in islice(records, int(is_first_row), None):
            yield line, [record.get(column, "") for column in columns]

    return rows


class _JsonBytes(BoundedRuns):
    """A stream for ijson that raises LoadError before the parser reads a number of too many digits, or a long record.

    Its C parser would end the process at an integer too long for Python's `int` (4,300 digits).
    """

    def __init__(self, stream: IO[bytes], file: str) -> None:
        super().__init__(stream, file, b'"')
        self._before, self._of_record = b"", 0
        self.most = MAX_LISTED_RECORD_BYTES

    def begin_record(self) -> None:
        """Counts the bytes of the next record from here."""
        self._of_record = 0

    def _count(self, data: bytes) -> None:
        super()._count(data)
        self._of_record += len(data)
        if self._of_record > self.most + _READ_AHEAD_BYTES:
            raise LoadError(f"one object of more than {self.most >> 20} MB: {_SAY_HOW}", self._file)
        if _LONG_NUMBER.search(self._before + data):
            raise LoadError(f"a number of more than {MAX_DIGITS_OF_NUMBER:,} digits", self._file)
        self._before = (self._before + data)[-MAX_DIGITS_OF_NUMBER:]


def records_of(path: Path) -> Iterator[tuple[str, int, Record]]:
    """Yields every object of the file's lists as (key of its list, line or position, object)."""
    name = path.name.removesuffix(".gz").lower()
    with open_bytes(path) as stream, _json_errors(path.name):
        bounded = _JsonBytes(stream, path.name)
        if name.endswith(LINES_ENDINGS) or _has_lines(path):
            read = _lines
        elif _is_record(path):
            read, bounded.most = _one_record, MAX_ONE_RECORD_BYTES
        else:
            read = _items
        for found in read(bounded, path.name):
            yield found
            bounded.begin_record()


def _is_record(path: Path) -> bool:
    """Returns True if the file is a single object that holds something else than lists."""
    import ijson

    depth = 0
    with open_bytes(path) as stream, _json_errors(path.name):
        bounded = _JsonBytes(stream, path.name)
        for event, _ in ijson.basic_parse(cast(IO[bytes], bounded), use_float=False):
            bounded.begin_record()  # Nothing is kept here.
            if depth == 0 and event != "start_map":
                return False
            if depth == 1 and event not in ("map_key", "start_array", "end_map"):
                return True
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
    return False


def _one_record(stream: BoundedRuns, file: str) -> Iterator[tuple[str, int, Record]]:
    """Yields (key, line, object) for a file that is one object: the object without its `@context`, and an empty key.

    For a FHIR bundle, yields each resource in it, with the resource's type as key and its number in place of a line.
    """
    head = stream.read(_HEAD_BYTES).removeprefix(codecs.BOM_UTF8)
    if _BUNDLE.match(head):
        yield from _resources(Rejoined(head, cast(IO[bytes], stream)))
        return
    text = head + stream.read(MAX_ONE_RECORD_BYTES + 1 - len(head))
    if len(text) > MAX_ONE_RECORD_BYTES:
        raise LoadError(TOO_LONG_RECORD, file)
    try:
        record = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise LoadError(_NOT_JSON, file) from None
    if isinstance(record.get("@context"), dict):
        raise LoadError("this is JSON-LD: give the file the ending .jsonld", file)
    if record.get("resourceType") == "Bundle" and isinstance(record.get("entry"), list):
        entries = (each.get("resource") for each in record["entry"] if isinstance(each, dict))
        yield from _numbered(entries)
    elif is_map(record):
        yield from records_of_map(record)
    else:
        yield "", 1, {key: _as_rows(value) for key, value in record.items() if key != "@context"}


def _as_rows(value: object) -> object:
    """Returns a list of the file with each list in it as a row; any other value as it is."""
    holds_rows = isinstance(value, list) and any(isinstance(each, list) for each in value)
    return [as_record(each) for each in cast(list[object], value)] if holds_rows else value


def _resources(stream: Rejoined) -> Iterator[tuple[str, int, Record]]:
    """Yields the resources of a bundle, one in memory at a time."""
    import ijson

    yield from _numbered(ijson.items(io.BufferedReader(stream), "entry.item.resource", use_float=False))


def _numbered(resources: Iterable[object]) -> Iterator[tuple[str, int, Record]]:
    for number, each in enumerate((each for each in resources if isinstance(each, dict)), start=1):
        yield str(each.get("resourceType", "")), number, each


def _has_lines(path: Path) -> bool:
    """Returns True if each of the first two lines is an object: some programs write JSON Lines into `.json` files."""
    with open_bytes(path) as stream:
        for _ in range(2):
            line = stream.readline(MAX_LITERAL_BYTES)
            try:
                if not isinstance(json.loads(line.removeprefix(codecs.BOM_UTF8)), dict):
                    return False
            except (ValueError, RecursionError):
                return False
    return True


_BULK: Final = frozenset({"index", "create", "update", "delete"})
_BULK_NOTE: Final = "kind of line in {} tells a search engine where the next record belongs, and was left out"


def _is_action(record: object) -> bool:
    """Returns True for a line of a search engine's bulk format that is no record: `{"index": {"_id": "7"}}`."""
    action = next(iter(record.items())) if isinstance(record, dict) and len(record) == 1 else ("", None)
    return action[0] in _BULK and isinstance(action[1], dict) and all(key[:1] == "_" for key in action[1])


def _is_bulk(path: Path) -> bool:
    with open_bytes(path) as stream, suppress(ValueError, RecursionError):
        return _is_action(json.loads(stream.readline(MAX_LITERAL_BYTES)))
    return False


def _lines(stream: BoundedRuns, file: str) -> Iterator[tuple[str, int, Record]]:
    text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig")
    for number, line in enumerate(bounded_lines(text, file), start=1):
        if line.strip():
            try:
                parsed = json.loads(line, parse_float=Decimal)
            except (ValueError, RecursionError):
                raise LoadError("this line is no JSON object", file, number) from None
            if not _is_action(parsed):
                if not isinstance(parsed, dict | list):
                    raise LoadError("this line is no JSON object", file, number)
                yield "", number, as_record(parsed)


def _items(stream: BoundedRuns, file: str) -> Iterator[tuple[str, int, Record]]:
    """Yields the objects of a list; if the file is one object, the objects of every list in it."""
    import ijson

    depth, key, number = 0, "", 0
    builder: Any = None
    is_object = False
    for event, value in ijson.basic_parse(cast(IO[bytes], stream), use_float=False):
        depth += event in ("start_map", "start_array")
        if depth > MAX_DEPTH:
            raise LoadError(f"lists and objects lie more than {MAX_DEPTH} deep within each other", file)
        if event == "start_map" and depth == 1:
            is_object = True
        elif event == "map_key" and depth == 1:
            key = str(value)
        elif depth > 1 + is_object or (depth == 1 + is_object and event not in ("start_array", "end_array")):
            if builder is None:
                builder, number = ijson.ObjectBuilder(), number + 1
            builder.event(event, value)
            if depth == 1 + is_object or (event in ("end_map", "end_array") and depth == 2 + is_object):
                yield key, number, as_record(builder.value)
                builder = None
        elif depth == 0 and event not in ("end_map", "end_array"):
            raise LoadError(f"no record: {_SAY_HOW}", file)
        depth -= event in ("end_map", "end_array")


def _all_records(path: Path, maps: Places, odd: dict[str, Counter[str]]) -> Iterator[tuple[str, int, dict[str, str]]]:
    """Yields the records of every table as (title, line, cells by column); counts in `odd`, by title, odd values."""
    for title, line, record in records_of(path):
        place = _Place(path.name, line, title, maps, odd)
        yield from _flat(title, line, as_people_say_it(record), place, None)


def as_people_say_it(record: Record) -> Record:
    """Returns `record` without parts that only programs read.

    A FHIR resource becomes a plain record; Salesforce's reference `@Ref7` becomes `Ref7`, the id of the record.
    """
    if is_resource(record):
        return plain_resource(record)
    attributes = record.get("attributes")
    if isinstance(attributes, dict) and "referenceId" in attributes:
        return {key: each[1:] if isinstance(each, str) and each[:1] == "@" else each for key, each in record.items()}
    return record


def _plain_feature(record: Record) -> Record:
    """Returns a feature of a GeoJSON file with its properties as its own, as a table of places has them."""
    properties = record.get("properties")
    if record.get("type") != "Feature" or "geometry" not in record or not isinstance(properties, dict):
        return record
    return {**properties, **{key: each for key, each in record.items() if key not in ("type", "properties")}}


@dataclass(slots=True)
class _Place:
    file: str
    line: int
    title: str
    maps: Places
    odd: dict[str, Counter[str]]
    table: str = ""

    def count(self, reason: str) -> None:
        """Adds one to a reason's count for the table that is being filled."""
        self.odd.setdefault(self.table, Counter())[reason.format(self.file)] += 1

    def refuse(self, reason: str) -> LoadError:
        return LoadError(reason, self.file, self.line)


def _flat(
    title: str, line: int, record: Record, place: _Place, parent: str | None
) -> Iterator[tuple[str, int, dict[str, str]]]:
    cells: dict[str, str] = {} if parent is None else {PARENT: parent}
    lists: dict[str, list[Record]] = {}
    record = _plain_feature(record)
    place.table = title
    _fill(cells, lists, record, "", place, 1)
    yield title, line, cells
    # Rows of the record's lists refer to it by its `id`, or else by its first plain value.
    plain = [(key.lower(), value) for key, value in record.items() if isinstance(value, str | int) and value != ""]
    key = next((value for called, value in plain if called in ("id", "_id", "key")), plain[0][1] if plain else line)
    for name, items in lists.items():
        for item in items:
            yield from _flat(f"{title}/{name}" if title else name, line, item, place, _plain(key))


def _fill(
    cells: dict[str, str], lists: dict[str, list[Record]], record: Record, before: str, place: _Place, depth: int
) -> None:
    if depth > MAX_DEPTH:
        raise place.refuse(f"lists and objects lie more than {MAX_DEPTH} deep within each other")
    for key, value in record.items():
        column = f"{before} {key}".strip() or "value"
        if isinstance(value, dict) and (place.title, column) in place.maps:
            if any(isinstance(each, dict | list) for each in value.values()):
                entries = ((key, each if isinstance(each, dict) else {VALUE: each}) for key, each in value.items())
                lists[column] = [{KEY: key, **entry} for key, entry in entries]
            else:
                cells[column], cells[f"{column} {KEY}"] = map(_joined, (value.values(), value))
        elif isinstance(value, dict):
            _fill(cells, lists, value, column, place, depth + 1)
        elif not isinstance(value, list):
            cells[column] = _plain(value)
        elif any(isinstance(item, dict) for item in value):
            if not all(isinstance(item, dict) for item in value):
                place.count(_MIXED)
            lists[column] = [as_record(item) for item in value if item not in (None, "")]
        elif any(isinstance(item, list) for item in value):
            text = _as_text(value, place, depth)
            is_long = len(text) > MAX_LITERAL_BYTES
            place.count(_LONG_LISTS if is_long else _LISTS)
            cells[column] = "" if is_long else text
        else:
            cells[column] = _joined(value)
        if len(cells.get(column, "")) > MAX_LITERAL_BYTES:
            raise place.refuse(TOO_LONG_LITERAL)


_MIXED: Final = "lists of {} hold objects and other values: each of these is a row with a `value`"
_LISTS: Final = "lists of lists of {} are kept as a text each, as the file writes them"
_LONG_LISTS: Final = "lists of lists of {} are longer than a text may be, and were left out"


def _as_text(value: object, place: _Place, depth: int) -> str:
    """Returns a list of lists as JSON writes it."""
    if depth > MAX_DEPTH:
        raise place.refuse(f"lists and objects lie more than {MAX_DEPTH} deep within each other")
    if isinstance(value, list):
        return f"[{', '.join(_as_text(each, place, depth + 1) for each in value)}]"
    if isinstance(value, dict):
        pairs = (f"{key}: {_as_text(each, place, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return _plain(value) or "null"


def _joined(values: Iterable[object]) -> str:
    return SEPARATOR.join(map(_plain, values))


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal) and abs(value.adjusted()) < MAX_DIGITS:
        return f"{value:f}"
    return str(value).replace(SEPARATOR, " ").strip()


@contextmanager
def _json_errors(file: str) -> Iterator[None]:
    """Raises LoadError for any error of the parser, because the parser's own texts may quote the file."""
    import ijson

    try:
        yield
    except (ijson.JSONError, UnicodeError):
        raise LoadError(_NOT_JSON, file) from None
