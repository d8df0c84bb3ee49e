"""Graphs of the facts of one labelled reply each, for the real loader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import Final
from urllib.parse import quote

import pyoxigraph

from app.evaluation.dialogue.statements.labelled_replies import LabelledReply
from kg_store.sources.policy import Policy

_HOUSE: Final = "https://replies.invalid/"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_LABEL: Final = pyoxigraph.NamedNode(f"{_RDFS}label")
_ALIAS: Final = pyoxigraph.NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
_TYPE: Final = pyoxigraph.NamedNode(f"{_RDF}type")
_DATES: Final = {
    r"-?\d{4}": "gYear",
    r"-?\d{4}-\d\d": "gYearMonth",
    r"-?\d{4}-\d\d-\d\d": "date",
    r"-?\d{4}-\d\d-\d\dT.*": "dateTime",
}
_REST_KIND: Final = "further thing"


def reply_policy() -> str:
    """Every relation and class of these graphs is shown, as their facts are public."""
    names = (_LABEL.value, _ALIAS.value)
    return Policy(names=names, local_part_names=False, show_relations="all", show_classes="all").to_toml()


def reply_graph(reply: LabelledReply) -> bytes:
    """The facts of the line as N-Triples, each name with its likely concept as its class.

    Each relation that only other lines of the same graph have joins two things that no fact of the line leads to:
    the check knows all relations of a graph.
    """
    written = pyoxigraph.serialize(_triples(reply), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return written if written is not None else b""


def _triples(reply: LabelledReply) -> Iterator[pyoxigraph.Triple]:
    ends = [(fact.start, fact.start_concept) for fact in reply.facts]
    ends += [(fact.end, fact.end_concept) for fact in reply.facts]
    concepts = {word: concept for word, concept in ends if word.startswith("E") and concept}
    named: set[str] = set()
    for name, word in reply.words.items():
        if word.startswith("E"):
            yield pyoxigraph.Triple(_node(word), _ALIAS if word in named else _LABEL, pyoxigraph.Literal(name))
            named.add(word)
    for word, concept in concepts.items():
        yield pyoxigraph.Triple(_node(word), _TYPE, _schema("kind", concept))
    for fact in reply.facts:
        is_value = fact.end.startswith("V")
        end = _literal(reply.names[fact.end], fact.end_concept) if is_value else _node(fact.end)
        yield pyoxigraph.Triple(_node(fact.start), _schema("relation", fact.path[0]), end)
    for number, label in enumerate(sorted(set(reply.labels) - {fact.path[0] for fact in reply.facts})):
        head, tail = (f"{word} {_letters(number)}" for word in ("Quorvath", "Zemblin"))
        for each in (head, tail):
            yield pyoxigraph.Triple(_node(each), _LABEL, pyoxigraph.Literal(each))
            yield pyoxigraph.Triple(_node(each), _TYPE, _schema("kind", _REST_KIND))
        yield pyoxigraph.Triple(_node(head), _schema("relation", label), _node(tail))
    for label in sorted({*reply.labels, *(fact.path[0] for fact in reply.facts)}):
        yield pyoxigraph.Triple(_schema("relation", label), _LABEL, pyoxigraph.Literal(label))
    for concept in sorted({*concepts.values(), _REST_KIND}):
        yield pyoxigraph.Triple(_schema("kind", concept), _LABEL, pyoxigraph.Literal(concept))


def _letters(number: int) -> str:
    tens, ones = divmod(number, len(ascii_lowercase))
    return f"Q{ascii_lowercase[tens]}{ascii_lowercase[ones]}x"


def _node(word: str) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(f"{_HOUSE}thing/{quote(word)}")


def _schema(what: str, label: str) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(f"{_HOUSE}{what}/{quote(label, safe='')}")


def _literal(text: str, concept: str) -> pyoxigraph.Literal:
    kinds = {"yes or no": "boolean", "number": "decimal"}
    dates = (kind for shape, kind in _DATES.items() if re.fullmatch(shape, text))
    kind = kinds.get(concept) or (next(dates, "string") if concept == "date" else "string")
    return pyoxigraph.Literal(text, datatype=pyoxigraph.NamedNode(f"{_XSD}{kind}"))
