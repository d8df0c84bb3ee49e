"""Adjectives of the places that a graph names: the linker's mentions, and what the guard is told."""

from __future__ import annotations

import pytest

from kg_store.lexicon.lexicon import PlaceAdjectives
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords

ENTRIES = [
    NameEntry(1, "Burundi", "name", None, True, True),
    NameEntry(2, "Sri Lanka", "name", None, True, True),
    NameEntry(3, "Kyrgyzstan", "value", ValueKind.TEXT, True, True),
    NameEntry(4, "Poland", "name", None, True, True),
    NameEntry(5, "Zambia", "name", None, True, True),
    NameEntry(6, "Zambian", "name", None, True, True),
    NameEntry(7, "The Burundian Wedding", "name", None, True, True),
    NameEntry(10, "Tonga", "name", None, True, True),
]
INDEX = NameIndex.build(ENTRIES).with_public(PublicWords.of(["tongan title", "actor", "city"]))


def linked(text: str) -> list[tuple[str, tuple[int, ...], ValueKind | None]]:
    found = EntityLinker(INDEX).find_mentions(text)
    return [(text[each.start : each.end], each.mids, each.value_kind) for each in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Which Burundian actors are there?", [("Burundian", (1,), None)]),
        ("which burundian actors are there", [("burundian", (1,), None)]),
        ("a Sri  Lankan city", [("Sri  Lankan", (2,), None)]),
        ("BURUND\u0131AN actors", [("BURUND\u0131AN", (1,), None)]),
        ("a \u017fri Lankan city", [("\u017fri Lankan", (2,), None)]),
        ("Which customers are Kyrgyz?", [("Kyrgyz", (3,), ValueKind.TEXT)]),
        ("Which Polish cities are there?", [("Polish", (4,), None)]),
        ("Who made The Burundian Wedding?", [("The Burundian Wedding", (7,), None)]),
        ("Which Burundian actors are in The Burundian Wedding?",
         [("Burundian", (1,), None), ("The Burundian Wedding", (7,), None)]),
    ],
)  # fmt: skip
def test_an_adjective_is_a_mention_of_its_place(
    text: str, found: list[tuple[str, tuple[int, ...], ValueKind | None]]
) -> None:
    assert linked(text) == found


def test_a_thing_of_that_name_goes_first() -> None:
    assert linked("Which Zambian actors are there?") == [("Zambian", (6,), None)]


@pytest.mark.parametrize(
    "text", ["who may polish cities", "Which Tongan title is it?", "Which Kenyan actors are there?"]
)
def test_other_words_name_no_place(text: str) -> None:
    assert linked(text) == []


def test_the_guard_is_told_of_the_adjective_as_of_the_name() -> None:
    assert [hit.mids for hit in INDEX.find_secret("all burundian actors")] == [(1,)]
    assert [hit.mids for hit in INDEX.find_secret("all kyrgyz actors")] == [(3,)]
    assert INDEX.find_secret("all kenyan actors") == []
    public = INDEX.with_public(PublicWords.of(["burundi"]))
    assert public.find_secret("all burundian actors") == public.find_secret("all of burundi") == []


def test_a_graph_without_places_has_no_adjectives() -> None:
    assert list(PlaceAdjectives.of(lambda _text: False, lambda _text: False).said_in("French films")) == []
