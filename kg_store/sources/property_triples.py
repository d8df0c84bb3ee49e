"""Turns nodes and relationships of property graphs into triples.

A node is a thing with its labels as classes and its properties as values. A relationship is a relation; its own
properties belong to a nameless node between its ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from kg_store.errors import LoadError
from kg_store.formats.graph_elements import Node, Relationship, Values
from kg_store.formats.property_graph import read_property_graph
from kg_store.sources.raw_graph import Term, plain_term, value_term
from kg_store.terms import ValueKind
from kg_store.text.literals import fits

NODE, RELATIONSHIP, LABEL = "urn:graph:node:", "urn:graph:relation:", "urn:graph:label:"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

Triple = tuple[Term, Term, Term]


def property_triples(path: Path, left: Counter[str]) -> Iterator[Triple]:
    """Yields the triples of an export; counts in `left` what is left out.

    Raises LoadError with the line, and never quotes it.
    """
    read = read_property_graph(path, left)
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
    # Exports often say the label once more, as `type`: it is no value that somebody could be told by.
    said = {label.casefold() for label in node.labels}
    kept = {
        key: [each for each in values if str(each).casefold() not in said] for key, values in node.properties.items()
    }
    yield from _properties(subject, kept, node.kinds)


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
    """The text of a value, and its kind if it is not to be decided from all texts: years are numbers
    in most exports.
    """
    if isinstance(value, bool):
        return ValueKind.TRUTH, "true" if value else "false"
    text = "" if value is None else str(value).strip()
    return (kind if kind is ValueKind.TRUTH and fits(text, kind) else None), text


def _iri(space: str, text: str) -> Term:
    return f"<{space}{quote(text, safe='')}>"
