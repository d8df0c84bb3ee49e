"""Names and values of a graph, read from the text of its source file without the loader."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pyoxigraph

from evaluation.attacks.forms.corpus.words import is_in_dictionary, plain, surnames

_NAME = re.compile(r"(label|name|title)$", re.IGNORECASE)
_PART = re.compile(r"(first|last|given|family|sur)_?name$", re.IGNORECASE)
_SCHEMA = re.compile(r"(Class|Property|Ontology)$")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(T.*)?")
_NUMBER = re.compile(r"-?\d{2,9}(\.\d{1,2})?")
_BASE = "http://file.invalid/"
_LISTED = frozenset(surnames())


@dataclass(frozen=True, slots=True)
class GraphNames:
    """The secrets of a graph: names of two words and more that dictionaries don't explain, labels as they stand,
    texts, dates and numbers."""

    graph: str
    names: tuple[str, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    dates: tuple[str, ...] = field(repr=False)
    numbers: tuple[str, ...] = field(repr=False)

    def some(self, dice: Random, count: int) -> list[str]:
        """At most `count` names."""
        return dice.sample(self.names, min(count, len(self.names)))

    def first_names(self, dice: Random, count: int) -> list[str]:
        """Of `count` names, as they stand, those that are read as names."""
        return [first for name in self.some(dice, count) if reads_as_name(first := name.split(" ")[0])]

    def last_names(self, dice: Random, count: int) -> list[str]:
        return [last for name in self.some(dice, count) if reads_as_name(last := name.split(" ")[-1])]


def names_in_turtle(graph: str, text: str) -> GraphNames:
    """Of a file in Turtle. Properties and classes are no names, whatever they are called."""
    literals: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    schema: set[str] = set()
    for quad in pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE, base_iri=_BASE):
        subject, predicate = str(quad.subject), quad.predicate.value
        schema.add(str(quad.predicate))
        if isinstance(quad.object, pyoxigraph.Literal):
            literals[subject][predicate].append(quad.object.value)
        elif predicate.endswith("type") and _SCHEMA.search(quad.object.value):
            schema.add(subject)
    nodes = [found for subject, found in literals.items() if subject not in schema]
    labels = [label for node in nodes for label in _labels(node)]
    others = [text for node in nodes for key, texts in node.items() if not _NAME.search(key) for text in texts]
    return _sorted_out(graph, labels, others)


def names_in_triples(graph: str, text: str) -> GraphNames:
    """Of a table of head, relation and tail, with underscores for spaces."""
    lines = [line.split("\t") for line in text.splitlines()]
    cells = [cell.replace("_", " ") for line in lines if len(line) == 3 for cell in (line[0], line[2])]
    return _sorted_out(graph, cells, ())


def _labels(node: dict[str, list[str]]) -> Iterator[str]:
    parts = {predicate: texts[0] for predicate, texts in node.items() if _PART.search(predicate)}
    if len(parts) > 1:
        yield " ".join(parts[key] for key in sorted(parts))
    for predicate, texts in node.items():
        if _NAME.search(predicate) and not _PART.search(predicate):
            yield from texts


def _sorted_out(graph: str, labels: Sequence[str], others: Sequence[str]) -> GraphNames:
    several = {label for label in labels if " " in label and all(sign.isalpha() or sign in " -'’." for sign in label)}
    names = {label for label in several if any(map(reads_as_name, label.split(" ")))}
    return GraphNames(
        graph,
        names=_ordered(names),
        labels=_ordered(label for label in labels if " " in label),
        texts=_ordered(text for text in others if any(map(str.isalpha, text)) and len(text) > 3),
        dates=_ordered(match[1] for text in others if (match := _DATE.fullmatch(text))),
        numbers=_ordered(text.lstrip("-") for text in others if _NUMBER.fullmatch(text)),
    )


def reads_as_name(word: str) -> bool:
    """A listed surname, or no word of a dictionary."""
    return word.lower() in _LISTED or not is_in_dictionary(plain(word))


def _ordered(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))
