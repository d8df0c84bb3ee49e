"""Reads from the source files themselves, without the loader, what of a graph must never be shown."""

from __future__ import annotations

import csv
import gzip
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

import pyoxigraph

_TABLES = {".tsv": "\t", ".txt": "|", ".csv": ","}
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SCHEMA_CLASS = re.compile(r"(22-rdf-syntax-ns#Property|rdf-schema#Class|/owl#\w*(Class|Property|Ontology))$")
_BASE = "http://file.invalid/"
_MASKED = frozenset({"clear", "year", "decade", "bucket"})


@dataclass(frozen=True, slots=True)
class _Reading:
    """The part of the policy that a reader of names needs; everything else is taken from the private side."""

    mediators: re.Pattern[str] | None
    shown: frozenset[str]
    composites: tuple[tuple[str, ...], ...]
    has_local_names: bool


@dataclass(slots=True)
class _Node:
    """One subject with its literals, by predicate."""

    literals: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list), repr=False)


def secret_names(sources: Sequence[Path], policy: str = "") -> set[str]:
    """Every name, alias and protected value in `sources`; `policy` is the TOML text, if there is one.

    Left out are predicates, classes and what describes them, nodes that the policy calls mediators, and values
    that it shows in clear or coarsened.
    """
    reading = _read_policy(policy)
    names: set[str] = set()
    for source in sources:
        ending = [suffix for suffix in source.suffixes if suffix != ".gz"][-1:]
        separator = _TABLES.get(ending[0] if ending else "")
        names |= _of_table(source, separator, reading) if separator else _of_rdf(source, reading)
    return {name for name in names if name.strip()}


def _read_policy(text: str) -> _Reading:
    policy = tomllib.loads(text)
    relations = policy.get("relations", {})
    pattern = policy.get("mediators", {}).get("pattern")
    return _Reading(
        mediators=re.compile(pattern) if pattern else None,
        shown=frozenset(name for name, settings in relations.items() if settings.get("values") in _MASKED),
        composites=tuple(tuple(parts) for parts in policy.get("composite_names", ())),
        has_local_names=policy.get("local_part_names", True),
    )


def _of_table(source: Path, separator: str, reading: _Reading) -> set[str]:
    with _opened(source) as stream:
        lines = (line.decode("utf-8").rstrip("\r\n") for line in stream)
        rows = csv.reader(lines) if separator == "," else (line.split(separator) for line in lines)
        cells = {cell for row in rows if len(row) >= 3 for cell in (row[0], row[2])}
    return {cell for cell in cells if not (reading.mediators and reading.mediators.search(cell))}


def _of_rdf(source: Path, reading: _Reading) -> set[str]:
    nodes: dict[str, _Node] = defaultdict(_Node)
    linked: set[str] = set()
    schema: set[str] = set()
    for subject, predicate, tail in _triples(source):
        schema.add(predicate)
        if predicate == _RDF + "type":
            schema.add(str(tail))
            if _SCHEMA_CLASS.search(str(tail)):
                schema.add(subject)
        elif predicate == _RDFS + "subClassOf":
            schema |= {subject, str(tail)}
        elif isinstance(tail, pyoxigraph.Literal):
            nodes[subject].literals[predicate].append(tail.value)
        else:
            linked |= {subject, str(tail)}
    names: set[str] = set()
    for subject in (nodes.keys() | linked) - schema:
        names |= set(_names_of(subject, nodes.get(subject, _Node()), reading))
    return names


def _names_of(subject: str, node: _Node, reading: _Reading) -> Iterator[str]:
    for predicate, texts in node.literals.items():
        if predicate not in reading.shown:
            yield from texts
    for parts in reading.composites:
        first = [node.literals.get(part, [""])[0] for part in parts]
        if all(first):
            yield " ".join(first)
    is_iri = not subject.startswith("_:")
    if is_iri and reading.has_local_names and not _has_label(node.literals):
        yield re.split(r"[#/:]", subject.rstrip("#/"))[-1]


def _has_label(predicates: Iterable[str]) -> bool:
    return any(re.search(r"(label|name|title)$", predicate, re.IGNORECASE) for predicate in predicates)


def _triples(source: Path) -> Iterator[tuple[str, str, object]]:
    ending = [suffix for suffix in source.suffixes if suffix != ".gz"][-1]
    form = pyoxigraph.RdfFormat.from_extension("rdf" if ending in (".owl", ".xml") else ending[1:])
    with _opened(source) as stream:
        for quad in pyoxigraph.parse(stream, format=form, base_iri=_BASE):
            yield _plain(quad.subject), _plain(quad.predicate), _tail(quad.object)


def _plain(term: object) -> str:
    return str(getattr(term, "value", term)) if isinstance(term, pyoxigraph.NamedNode) else str(term)


def _tail(term: object) -> object:
    return term if isinstance(term, pyoxigraph.Literal) else _plain(term)


def _opened(source: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(source)) if source.suffix == ".gz" else source.open("rb")
