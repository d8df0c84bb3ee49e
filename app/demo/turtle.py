"""Writes Turtle, one block a subject, in the given order; the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

HEADER = """@prefix : <https://clinic.example/network#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def text(words: str, language: str = "") -> str:
    """A text literal; `words` must need no escaping."""
    return f'"{words}"' + (f"@{language}" if language else "")


def decimal(lexical: str) -> str:
    return f'"{lexical}"^^xsd:decimal'


def day(when: date) -> str:
    return f'"{when.isoformat()}"^^xsd:date'


def year(number: int) -> str:
    return f'"{number}"^^xsd:gYear'


@dataclass(slots=True)
class Node:
    """A subject and its triples; `id` is its local name, empty for a blank node."""

    id: str
    facts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, predicate: str, *objects: str) -> Node:
        self.facts += [(predicate, found) for found in objects]
        return self

    @property
    def ref(self) -> str:
        return f":{self.id}"

    def block(self) -> str:
        lines = " ;\n    ".join(f"{predicate} {found}" for predicate, found in self.facts)
        return f"{self.ref} {lines} .\n"

    def inline(self) -> str:
        """The blank node as an object in Turtle."""
        return "[ " + " ; ".join(f"{predicate} {found}" for predicate, found in self.facts) + " ]"


def document(nodes: Iterable[Node]) -> str:
    return HEADER + "\n" + "\n".join(node.block() for node in nodes)
