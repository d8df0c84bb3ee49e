"""Everyday words beside a name: they may be the name of something else in the graph, or just words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.wiring.store import open_store
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import TriplesPolicy
from tests.support.house import House, sets_house
from tests.support.service import settings_in

FILMS = """\
Night of Quarrel\twritten_by\tAda Prewett
Night of Quarrel\tdirected_by\tTove Uhlenbruck
The Story\twritten_by\tYusra Niederauer
The Story\tdirected_by\tTove Uhlenbruck
The Long Harbour\twritten_by\tAda Prewett
Zorvath\twritten_by\tPelle Marsh
Zorvath\tdirected_by\tAda Prewett
The Long Harbour\tdirected_by\tPelle Marsh
"""


@pytest.fixture
def house(embedder: Embedder, tmp_path: Path) -> Iterator[House]:
    graph = tmp_path / "films.tsv"
    graph.write_text(FILMS, "utf-8")
    store = open_store(settings_in(tmp_path / "data"))
    store.catalog.load(
        "default",
        "clinic",
        [graph],
        read_and_propose([graph], triples=(TriplesPolicy(),))[1],
        ConceptNamer(embedder).name,
    )
    yield sets_house(store, embedder)
    store.close()


async def test_words_that_lead_to_nothing_as_a_name_are_read_as_words_and_that_is_told(house: House) -> None:
    answer = await house.ask("who wrote the story for Night of Quarrel")
    assert answer.names == ["Ada Prewett"]
    assert [note for note in answer.notes if "read as everyday words" in note and "the story" in note.lower()]


async def test_words_that_lead_to_something_as_a_name_stay_one(house: House) -> None:
    answer = await house.ask("who directed Night of Quarrel and the story")
    assert answer.names == ["Tove Uhlenbruck"]
    assert not answer.notes


async def test_a_name_with_a_capital_is_never_taken_for_words(house: House) -> None:
    answer = await house.ask("who wrote both The Story and Night of Quarrel")
    assert answer.names == []


async def test_without_capitals_words_that_a_dictionary_holds_are_the_doubtful_ones(house: House) -> None:
    assert (await house.ask("who wrote the story for zorvath")).names == ["Pelle Marsh"]
    assert (await house.ask("who wrote the story")).names == ["Yusra Niederauer"]
