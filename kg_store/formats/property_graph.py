"""Reads graphs in files as nodes and relationships: exports of databases, GraphML, GEDCOM, vCard, iCalendar."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any, Final, cast

from kg_store.errors import LoadError
from kg_store.formats.bibliographies import read_bibliography
from kg_store.formats.files import (
    MAX_LITERAL_BYTES,
    TOO_LONG_LITERAL,
    BoundedRuns,
    open_bytes,
    tame_xml,
    whole_text,
    with_few_elements,
)
from kg_store.formats.neo4j_exports import (
    Node,
    Relationship,
    header_of_text,
    is_apoc_json,
    is_node_header,
    read_apoc_json,
    read_neo4j_csv,
)

MAX_CARD_LINES: Final = 300_000
MAX_RECORD_LINES: Final = 100_000
"""The most lines of one person or family of a GEDCOM file, which is read whole."""
MAX_ELEMENTS: Final = 1_000_000
"""The most elements of a GraphML file, which is read whole; each takes up to a kilobyte."""
_WORDS: Final = {
    "fn": "name", "summary": "name", "tel": "phone", "org": "organisation", "bday": "birthday", "adr": "address",
    "dtstart": "start", "dtend": "end", "organizer": "organiser", "attendee": "attendee", "url": "website",
    "email": "email", "title": "title", "role": "role", "note": "note", "nickname": "nickname", "due": "due",
    "location": "location", "description": "description", "categories": "category", "status": "status",
}  # fmt: skip
"""The properties of a contact or an event that are read, with the names they get; others are for programs."""
_OF_THE_FORMAT: Final = frozenset({"version", "prodid", "uid", "n"})
_KINDS: Final = {"VCARD": "contact", "VEVENT": "event", "VTODO": "task", "VJOURNAL": "journal entry"}


def read_cards(path: Path, left: Counter[str]) -> Iterator[Node]:
    """Yields the entries of a vCard or iCalendar file as nodes; counts in `left` what is not read.

    Raises LoadError, which never quotes the file.
    """
    import vobject

    text = whole_text(path)
    if text.count("\n") > MAX_CARD_LINES:
        raise LoadError(f"more than {MAX_CARD_LINES:,} lines: split it into several files", path.name)
    try:
        read = list(vobject.readComponents(text, allowQP=True, ignoreUnreadable=True))
    except Exception:
        raise LoadError("not a vCard or iCalendar file that can be read", path.name) from None
    calendars = (each.components() if each.name == "VCALENDAR" else [each] for each in read)
    components = (each for some in calendars for each in some if each.name in _KINDS)
    for number, component in enumerate(components, start=1):
        values = {word: found for key, word in _WORDS.items() if (found := _values(component.contents, key))}
        if unread := len(component.contents.keys() - _WORDS.keys() - _OF_THE_FORMAT):
            left[f"properties of {path.name} are for programs, or none that is read, and were left out"] += unread
        uid = next(iter(_values(component.contents, "uid")), f"{path.name}:{number}")
        yield Node(uid, [_KINDS[component.name]], values)


def _values(contents: Mapping[str, list[Any]], key: str) -> list[str]:
    return [text for each in contents.get(key, ()) if (text := _text(getattr(each, "value", "")))]


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat() if not (value.hour or value.minute) else value.isoformat(timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    parts = value if isinstance(value, list) else [value]
    words = " ".join(" ".join(str(part).split()) for part in parts if part)
    return words.removeprefix("mailto:").removeprefix("MAILTO:").strip()


_EVENTS: Final = {"BIRT": "birth", "DEAT": "death", "BURI": "burial", "CHR": "christening"}
_FACTS: Final = {"SEX": "sex", "OCCU": "occupation", "EDUC": "education", "RELI": "religion", "TITL": "title"}
_OF_PERSONS: Final = frozenset({"NAME", "FAMS", "FAMC", *_EVENTS, *_FACTS})
_OF_FAMILIES: Final = frozenset({"HUSB", "WIFE", "CHIL", "MARR"})
_MONTHS: Final = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
# Switched off, because this library's log messages quote the file.
logging.getLogger("ged4py").setLevel(logging.CRITICAL + 1)


def read_gedcom(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Yields the persons and family relations of a GEDCOM file; counts in `left` what is not read.

    Ids such as `@I1@` are those of one file: two files number other persons alike. Raises LoadError, which never
    quotes the file.
    """
    from ged4py.parser import GedcomReader

    _require_short_records(path)
    unread = 0
    try:
        with GedcomReader(str(path)) as reader:
            for person in reader.records0("INDI"):
                unread += sum(each.tag not in _OF_PERSONS for each in person.sub_records)
                yield _person(person, path.name)
            for family in reader.records0("FAM"):
                unread += sum(each.tag not in _OF_FAMILIES for each in family.sub_records)
                yield from _ties(family, path.name)
    except LoadError:
        raise
    except Exception:
        raise LoadError("not a GEDCOM file that can be read", path.name) from None
    if unread:
        left[f"entries of {path.name}, such as notes and sources, are not read, and were left out"] += unread


def _require_short_records(path: Path) -> None:
    count = 0
    with open_bytes(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LITERAL_BYTES + 1), b""), start=1):
            count = 0 if _RECORD.match(line) else count + 1
            if len(line) > MAX_LITERAL_BYTES:
                raise LoadError(TOO_LONG_LITERAL, path.name, number)
            if count > MAX_RECORD_LINES:
                raise LoadError(f"a person or family of more than {MAX_RECORD_LINES:,} lines", path.name, number)


_RECORD: Final = re.compile(rb"[^\w]*0[\x00 ]")


def _person(record: Any, file: str) -> Node:
    found = {"name": [" ".join(record.name.format().split())]}
    found |= {word: [record.sub_tag_value(tag)] for tag, word in _FACTS.items()}
    for tag, word in _EVENTS.items():
        found[f"date of {word}"] = [_day(record.sub_tag_value(f"{tag}/DATE"))]
        found[f"place of {word}"] = [record.sub_tag_value(f"{tag}/PLAC")]
    filled = {word: [str(value) for value in values if value] for word, values in found.items()}
    return Node(f"{file}:{record.xref_id}", ["person"], {word: values for word, values in filled.items() if values})


def _ties(family: Any, file: str) -> Iterator[Relationship]:
    def id_of(person: Any) -> str:
        return f"{file}:{person.xref_id}"

    husband, wife = family.sub_tag("HUSB"), family.sub_tag("WIFE")
    if husband is not None and wife is not None:
        told = {"date": _day(family.sub_tag_value("MARR/DATE")), "place": family.sub_tag_value("MARR/PLAC")}
        facts = {word: [str(value)] for word, value in told.items() if value}
        yield Relationship("married to", id_of(husband), id_of(wife), facts)
    for child in family.sub_tags("CHIL"):
        for word, parent in (("father", husband), ("mother", wife)):
            if parent is not None:
                yield Relationship(word, id_of(child), id_of(parent), {})


def _day(told: Any) -> str:
    """Returns a GEDCOM date as YYYY-MM-DD, or as a year if there is no more; empty for None.

    Any other date, such as "about 1850", stays as the file writes it.
    """
    date = told.date if told is not None and getattr(told.kind, "name", "") == "SIMPLE" else None
    if date is None:
        return "" if told is None else str(told)
    month = _MONTHS.index(date.month.upper()) + 1 if str(date.month).upper() in _MONTHS else 0
    return f"{date.year:04}-{month:02}-{date.day:02}" if month and date.day else str(told if month else date.year)


_NODE_LABELS: Final = ("labelV", "labels", "label", "type", "kind", "class")
_EDGE_LABELS: Final = ("labelE", "label", "type", "relation", "relationship")
"""The keys under which programs write the kind of a node or of an edge; the first one with a value counts."""
_PLAIN_EDGE: Final = "linked to"


def read_graphml(path: Path) -> Iterator[Node | Relationship]:
    """Yields the nodes and edges of a GraphML file. Raises LoadError, which never quotes the file."""
    import networkx

    try:
        with open_bytes(path) as stream:
            few = with_few_elements(stream, path.name, MAX_ELEMENTS)
            safe = tame_xml(cast(IO[bytes], BoundedRuns(few, path.name, b"<")), path.name)
            graph = networkx.read_graphml(safe, force_multigraph=True)
    except LoadError:
        raise
    except Exception:
        raise LoadError("not a GraphML file that can be read", path.name) from None
    for name, data in graph.nodes(data=True):
        key = next((key for key in _NODE_LABELS if data.get(key)), None)
        labels = [part for part in str(data.get(key, "")).strip(":").split(":") if part] if key else []
        yield Node(str(name), labels, _properties(data, key))
    for start, end, data in graph.edges(data=True):
        key = next((key for key in _EDGE_LABELS if data.get(key)), None)
        relation = str(data[key]) if key else _PLAIN_EDGE
        yield Relationship(relation, str(start), str(end), _properties(data, key, "id"))


def _properties(data: dict[str, Any], *without: str | None) -> dict[str, list[object]]:
    return {key: [value] for key, value in data.items() if key not in without and value not in ("", None)}


_READERS: Final[Mapping[str, Callable[[Path, Counter[str]], Iterator[Node | Relationship]]]] = {
    ".graphml": lambda path, _left: read_graphml(path),
    ".ged": read_gedcom,
    ".vcf": read_cards,
    ".ics": read_cards,
    ".bib": read_bibliography,
}
GRAPH_ENDINGS: Final = tuple(_READERS)
_JSON: Final = (".json", ".jsonl", ".ndjson")


def is_property_graph(path: Path) -> bool:
    """Returns True if the file holds a graph, by its name's ending or by the first line or record of an export.

    Returns False for a broken file.
    """
    ending = _ending(path)
    try:
        if ending in _JSON:
            return is_apoc_json(path)
        if ending not in (".csv", ".tsv", ".txt"):
            return ending in _READERS
        return is_node_header(header_of_text(path)[1])
    except (LoadError, StopIteration):
        return False


def read_property_graph(path: Path, left: Counter[str]) -> Iterator[Node | Relationship]:
    """Yields every node and relationship of a file; counts in `left`, by reason, what is left out.

    Raises LoadError with the line number, which never quotes the line.
    """
    ending = _ending(path)
    if ending in _READERS:
        return _READERS[ending](path, left)
    return read_apoc_json(path, left) if ending in _JSON else read_neo4j_csv(path)


def _ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()
