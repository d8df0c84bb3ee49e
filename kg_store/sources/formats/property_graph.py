"""Exports of property graphs: neo4j-admin's CSV, and APOC's CSV and JSON, as nodes and relationships, streamed.

A node is a thing with its labels as classes and its properties as values. A relationship is a relation; its own
properties hang on a node without a name that stands between its ends beside it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from kg_store.errors import LoadError
from kg_store.sources.delimited_text import TableFile
from kg_store.sources.files import open_bytes
from kg_store.sources.raw_graph import Term, plain_term, value_term
from kg_store.terms import ValueKind
from kg_store.text.literals import fits

NODE, RELATIONSHIP, LABEL = "urn:graph:node:", "urn:graph:relation:", "urn:graph:label:"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_NUMBERS = ("int", "long", "short", "byte", "float", "double", "number", "integer", "bigdecimal")
_DATES = ("date", "datetime", "localdatetime")
_TRUTHS = ("boolean", "bool")

Triple = tuple[Term, Term, Term]
Values = Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class Node:
    """`id` tells it apart in its export; every property has a list of values."""

    id: str = field(repr=False)
    labels: Sequence[str]
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relation of type `type` from the node `start` to the node `end`."""

    type: str
    start: str = field(repr=False)
    end: str = field(repr=False)
    properties: Values = field(repr=False)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)


def is_property_graph(path: Path) -> bool:
    """True of a file whose first line or record is that of an export. Broken files are none."""
    from kg_store.sources.formats.apoc_exports import is_apoc_json
    from kg_store.sources.formats.neo4j_tables import is_node_header

    name = path.name.removesuffix(".gz").lower()
    try:
        if name.endswith((".json", ".jsonl", ".ndjson")):
            return is_apoc_json(path)
        if not name.endswith((".csv", ".tsv", ".txt")):
            return False
        return is_node_header(header_of_text(path)[1])
    except (LoadError, StopIteration):
        return False


def header_of_text(path: Path) -> tuple[str, list[str]]:
    """The delimiter and the cells of the first line, empty ones too."""
    with open_bytes(path) as stream:
        opened = TableFile(stream, path.name)
        delimiter = opened.header_delimiter()
        return delimiter, next(opened.quoted_rows(delimiter))[1]


def property_triples(path: Path) -> Iterator[Triple]:
    """The triples of an export. Raises LoadError with the line, and never quotes it."""
    from kg_store.sources.formats.apoc_exports import read_apoc_json
    from kg_store.sources.formats.neo4j_tables import read_neo4j_csv

    is_json = path.name.removesuffix(".gz").lower().endswith((".json", ".jsonl", ".ndjson"))
    read = read_apoc_json(path) if is_json else read_neo4j_csv(path)
    count = 0
    for count, each in enumerate(read, start=1):
        yield from _of_node(each) if isinstance(each, Node) else _of_relationship(each, f"{path.name}.{count}")
    if not count:
        raise LoadError(
            "this export has a header and no row below it: where the header lies in a file of its own, put it in "
            "front of its rows", path.name,
        )  # fmt: skip


def _of_node(node: Node) -> Iterator[Triple]:
    subject = _iri(NODE, node.id)
    for label in node.labels:
        yield subject, _TYPE, _iri(LABEL, label)
    yield from _properties(subject, node.properties, node.kinds)


def _of_relationship(each: Relationship, number: str) -> Iterator[Triple]:
    start, relation, end = _iri(NODE, each.start), _iri(RELATIONSHIP, each.type.lower()), _iri(NODE, each.end)
    yield start, relation, end
    if not any(each.properties.values()):
        return
    joint = "_:p" + quote(number, safe="").replace("%", ".").replace("-", ".")
    yield start, _iri(RELATIONSHIP, f"{each.type.lower()} details"), joint
    yield joint, _iri(RELATIONSHIP, f"{each.type.lower()} details of"), end
    yield from _properties(joint, each.properties, each.kinds)


def _properties(subject: Term, properties: Values, kinds: Mapping[str, ValueKind]) -> Iterator[Triple]:
    for key, values in properties.items():
        for value in values:
            kind, text = _value(value, kinds.get(key))
            if text:
                yield subject, _iri(RELATIONSHIP, key), value_term(text, kind) if kind else plain_term(text)


def _value(value: object, kind: ValueKind | None) -> tuple[ValueKind | None, str]:
    """The text of a value, and its kind where the texts of all do not tell it: years are numbers in most exports."""
    if isinstance(value, bool):
        return ValueKind.TRUTH, "true" if value else "false"
    text = "" if value is None else str(value).strip()
    return (kind if kind is ValueKind.TRUTH and fits(text, kind) else None), text


def kind_of_type(name: str) -> ValueKind | None:
    """The kind of the values of a column of type `int`, `string[]`, ... in a header; None where it says nothing."""
    word = name.removesuffix("[]").partition("{")[0].lower()
    if word in _NUMBERS:
        return ValueKind.NUMBER
    if word in _DATES:
        return ValueKind.DATE
    return ValueKind.TRUTH if word in _TRUTHS else ValueKind.TEXT if word else None


def split_array(cell: str, delimiter: str = ";") -> list[str]:
    """The values of a cell of type `[]`."""
    return [part for part in (each.strip() for each in cell.split(delimiter)) if part]


def parse_csv_list(cell: str) -> list[str]:
    """The values of a list that stands in a cell as JSON or between brackets."""
    inner = cell.strip().removeprefix("[").removesuffix("]")
    return [part.strip() for part in next(csv.reader([inner], skipinitialspace=True), []) if part.strip()]


def _iri(space: str, text: str) -> Term:
    return f"<{space}{quote(text, safe='')}>"


Parts = Iterable[Node | Relationship]
