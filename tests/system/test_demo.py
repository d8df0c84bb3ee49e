"""The demo graph, its policy and its questions: the answers are what SPARQL gives."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal as FoundLiteral
from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, RdfFormat, Store
from rdflib import RDFS, Graph, Literal, URIRef
from rdflib.term import Node

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from kg_store.algebra.expressions import names_in, parse
from kg_store.sources.policy import Policy

NETWORK = "https://clinic.example/network#"
PREFIXES = f"""PREFIX : <{NETWORK}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
QUERIES = tomllib.loads((Path(__file__).parent / "demo_queries.toml").read_text("utf-8"))


@cache
def clinic() -> Graph:
    graph = Graph()
    graph.parse(GRAPH_FILE)
    return graph


@cache
def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUESTIONS_FILE.read_text("utf-8").splitlines()]


@cache
def store() -> Store:
    """The same in Oxigraph, which answers a query in milliseconds."""
    store = Store()
    store.load(path=str(GRAPH_FILE), format=RdfFormat.TURTLE)
    return store


def as_shown(found: object) -> str:
    """A cell as the asker sees it: an English name, a number without trailing zeros, a date as it stands."""
    assert isinstance(found, NamedNode | FoundLiteral)
    node = (
        URIRef(found.value)
        if isinstance(found, NamedNode)
        else Literal(found.value, lang=found.language, datatype=None if found.language else found.datatype.value)
    )
    if isinstance(node, URIRef):
        names = [name for name in clinic().objects(node, RDFS.label) if isinstance(name, Literal)]
        return str(next(name for name in names if name.language in (None, "en")))
    value = node.toPython() if isinstance(node, Literal) else node
    return f"{Decimal(value).normalize():f}" if isinstance(value, int | Decimal) else str(node)


def answers_by_sparql(question: str) -> list[str]:
    found = store().query(PREFIXES + QUERIES[question])
    if isinstance(found, QueryBoolean):
        return ["yes" if found else "no"]
    assert isinstance(found, QuerySolutions)
    return sorted(": ".join(as_shown(cell) for cell in row) for row in found)


def local_words(iri: Node) -> str:
    """`dateOfBirth` as words, unless the graph has a label for it."""
    label = clinic().value(URIRef(str(iri)), RDFS.label)
    name = str(iri).removeprefix(NETWORK)
    return str(label) if label else "".join(f" {c.lower()}" if c.isupper() else c for c in name)


def test_the_policy_is_valid_and_speaks_only_of_predicates_of_the_graph() -> None:
    policy = Policy.from_toml(POLICY_FILE.read_text("utf-8"))
    predicates = {str(predicate) for predicate in clinic().predicates()}
    assert {*policy.names, *policy.relations} <= predicates


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_the_answers_are_what_sparql_gives(question: dict[str, Any]) -> None:
    assert question["answers"] == answers_by_sparql(question["id"])
    assert bool(question["answers"]) == (question["kind"] != "unanswerable")


@cache
def names() -> set[str]:
    return {str(label) for label in clinic().objects() if isinstance(label, Literal)}


@cache
def relations() -> set[str]:
    return {local_words(predicate) for predicate in clinic().predicates(unique=True)}


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_every_topic_is_a_name_of_the_graph_and_stands_in_the_question(question: dict[str, Any]) -> None:
    text = " ".join(question.get("turns", [question.get("question", "")])).casefold()
    for name in question["topic_entities"]:
        assert name.casefold() in text
        assert name in names()


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_every_plan_uses_relations_and_sets_that_exist(question: dict[str, Any]) -> None:
    plan = question["plan"]
    if plan is None:
        assert question["kind"] == "unanswerable"
        return
    for step in plan["sets"].values():
        start, _, what = step["start"].partition(":")
        assert start in {"topic", "earlier", "kind", "set"}
        assert start != "set" or what in plan["sets"]
        for element in step["path"]:
            assert {hop.removeprefix("^") for hop in element.split("|")} <= relations()
    for text in plan["answer"]:
        expression = parse(text.replace("topic:", "Topic").replace("earlier:", "Earlier"))
        assert {name for name in names_in(expression) if len(name) == 1} <= set(plan["sets"])
