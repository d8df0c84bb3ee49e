"""The measurement of linking: slips that change a name, and counts that follow what was found."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from evaluation.datasets.questions import Question
from evaluation.tables.linking import (
    NO_NAME,
    SLIPS,
    KindOfSlip,
    Slip,
    linking_markdown,
    linking_measures,
    measure_mentions,
    measure_topics,
    whole,
)
from kg_store.catalog import PrivateGraph
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from tests.support.stores import catalog_in, load_text

GRAPH = """
@prefix : <http://house.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 a :Patient ; rdfs:label "Zoë-Marie O'Bröcklehurst" ; :knows :p2 .
:p2 a :Patient ; rdfs:label "Thaddeus Quarrelsby" ; :knows :p3 .
:p3 a :Patient ; rdfs:label "Ilse Montgomerie-Vance" ; :knows :p1 .
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> PrivateGraph:
    folder = tmp_path_factory.mktemp("graph")
    catalog = catalog_in(folder / "data")
    load_text(catalog, GRAPH, folder)
    return catalog.open("t1", "clinic")


def deaf(graph: PrivateGraph) -> PrivateGraph:
    """The same graph with a linker that knows one name, of nobody."""
    index = NameIndex.build([NameEntry(1, "the", "name", None, True, True)])
    return replace(graph, linker=EntityLinker(index))


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.kind)
def test_every_slip_changes_some_name(slip: Slip) -> None:
    names = ["Zoë-Marie O'Bröcklehurst", "Thaddeus Quarrelsby"]
    changed = [slip.apply(name, Random(1)) for name in names]
    assert changed != names
    assert all(changed)


def test_names_with_slips_are_counted_by_kind(graph: PrivateGraph) -> None:
    report = measure_mentions([graph], mentions=80, seed=3)
    assert {each.kind for each in report} == {*(slip.kind for slip in SLIPS), NO_NAME}
    assert whole(report).typed == 80
    assert whole(report).recall >= 0.9
    assert whole(report).precision >= 0.97
    assert linking_markdown(report, whole(report)).count("\n") == len(report) + 4


def test_a_linker_that_finds_nothing_is_measured_so(graph: PrivateGraph) -> None:
    report = measure_mentions([deaf(graph)], mentions=20)
    assert (whole(report).recall, whole(report).found) == (0.0, 0)


def test_one_seed_makes_one_corpus(graph: PrivateGraph) -> None:
    assert measure_mentions([graph], 60, seed=1) == measure_mentions([graph], 60, seed=1)


def test_topics_are_counted_each_and_other_mentions_cost_precision(graph: PrivateGraph) -> None:
    questions = [
        Question(
            id="1", question="does Thadeus Quarrelsby know ilse", answers=(), topic_entities=("Thaddeus Quarrelsby",)
        ),
        Question(id="2", question="who is there", answers=(), topic_entities=("Ilse Montgomerie-Vance",)),
    ]
    topics = measure_topics(graph, questions)
    assert (topics.typed, topics.found, topics.linked, topics.right) == (2, 1, 2, 1)


def test_missed_bounds_are_said() -> None:
    good, bad = KindOfSlip("x", 10, 10, 10, 10, 10), KindOfSlip("x", 10, 5, 10, 5, 10)
    assert all(line.passed for line in linking_measures(good, good))
    assert sum(not line.passed for line in linking_measures(bad, bad)) == 3
