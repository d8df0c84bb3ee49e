"""Names in forms that the graph does not hold: adjectives of places, well-known namesakes, and common nouns."""

from __future__ import annotations

from kg_store.lexicon.lexicon import PlaceAdjectives
from kg_store.text.english import PublicWords
from tests.support.linking import index_of

PLACES = ("Burundi", "Sri Lanka", "Tonga", "Poland", "Zambia", "Zambian", "The Burundian Wedding")
INDEX = index_of(PLACES, ["tongan title", "actor", "city"], {8: "Kyrgyzstan"})


def test_the_guard_is_told_of_the_adjective_as_of_the_name() -> None:
    assert [hit.mids for hit in INDEX.find_secret("all burundian actors")] == [(1,)]
    assert [hit.mids for hit in INDEX.find_secret("all kyrgyz actors")] == [(8,)]
    assert INDEX.find_secret("all kenyan actors") == []
    public = INDEX.with_public(PublicWords.of(["burundi"]))
    assert public.find_secret("all burundian actors") == public.find_secret("all of burundi") == []


def test_a_graph_without_places_has_no_adjectives() -> None:
    assert list(PlaceAdjectives.of(lambda _text: False, lambda _text: False).said_in("French films")) == []


def test_the_guard_tells_a_country_in_short_from_us() -> None:
    index = index_of(("United States of America", "Tilda Bron"), ["about us"])
    assert [hit.mids for hit in index.find_secret("all of the US")] == [(1,)]
    assert index.find_secret("tell us more about us") == []
