"""Names in forms that the graph does not hold: adjectives of places, well-known namesakes, and common nouns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kg_store.lexicon.lexicon import PlaceAdjectives
from kg_store.names.linker import EntityLinker
from kg_store.terms import Mids, ValueKind
from kg_store.text.english import PublicWords
from tests.support.linking import index_of

PLACES = ("Burundi", "Sri Lanka", "Tonga", "Poland", "Zambia", "Zambian", "The Burundian Wedding")
INDEX = index_of(PLACES, ["tongan title", "actor", "city"], {8: "Kyrgyzstan"})


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
        ("Which customers are Kyrgyz?", [("Kyrgyz", (8,), ValueKind.TEXT)]),
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
    assert [hit.mids for hit in INDEX.find_secret("all kyrgyz actors")] == [(8,)]
    assert INDEX.find_secret("all kenyan actors") == []
    public = INDEX.with_public(PublicWords.of(["burundi"]))
    assert public.find_secret("all burundian actors") == public.find_secret("all of burundi") == []


def test_a_graph_without_places_has_no_adjectives() -> None:
    assert list(PlaceAdjectives.of(lambda _text: False, lambda _text: False).said_in("French films")) == []


KNOWN_FACTS = {
    "Wexler": 3, "Orlando Wexler": 400, "Wexler Street": 30,
    "Brannock": 3, "Ida Brannock": 90, "Tom Brannock": 70,
    "Ostrava": 60, "Ostrava Region": 300,
    "UK": 2, "United Kingdom": 500, "UK Garage Band": 40,
    "Danish": 3, "Denmark": 200, "Danish language": 12, "Danish Pastry": 150,
    "World War II": 80, "Wooden Wheels in Idaho": 25,
    "Ada": 1, "Lumley": 2, "Ada M. Lumley": 100,
    "Harald V": 4, "Harald VII of Brunn": 30,
}  # fmt: skip
KNOWN_MIDS = {name: mid for mid, name in enumerate(KNOWN_FACTS, start=1)}
KNOWN_INDEX = index_of(KNOWN_FACTS, ["president of a country", "about us"])


def known_counts(mids: Mids) -> npt.NDArray[np.int64]:
    facts = list(KNOWN_FACTS.values())
    return np.array([facts[mid - 1] for mid in mids.tolist()], dtype=np.int64)


KNOWN = EntityLinker(KNOWN_INDEX, known_counts)


def linked_to(text: str, linker: EntityLinker = KNOWN) -> dict[str, set[str]]:
    names = list(KNOWN_MIDS)
    return {text[each.start : each.end]: {names[mid - 1] for mid in each.mids} for each in linker.find_mentions(text)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("when was wexler born", {"wexler": {"Wexler", "Orlando Wexler"}}),
        ("When was Wexler born?", {"Wexler": {"Wexler", "Orlando Wexler"}}),
        ("what is the uk known for", {"uk": {"UK", "United Kingdom"}}),
        ("which danish is meant", {"danish": {"Danish", "Denmark", "Danish language"}}),
        ("where do they speak danish", {"danish": {"Danish", "Danish language"}}),
        ("what did john kennedy do in the us", {}),
        ("when did wwii end", {"wwii": {"World War II"}}),
        ("where did ada lumley live", {"ada lumley": {"Ada M. Lumley"}}),
        ("who was harald vii", {"harald vii": {"Harald VII of Brunn"}}),
    ],
)
def test_the_thing_that_is_known_far_better_stands_beside_what_is_called_so(
    text: str, found: dict[str, set[str]]
) -> None:
    assert linked_to(text) == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("when was brannock born", "brannock"),  # Two Brannocks are known alike.
        ("what is near ostrava", "ostrava"),  # It is known well itself.
        ('when was "Wexler" written', "Wexler"),  # The quotes say that this is all of the name.
        ("when was gerta wexler born", "wexler"),  # Another Wexler.
    ],
)
def test_none_is_added_where_the_name_may_well_be_meant_itself(text: str, name: str) -> None:
    assert linked_to(text)[name] == {name.capitalize()}


def test_without_a_graph_nothing_is_known_better() -> None:
    assert linked_to("when was wexler born", EntityLinker(KNOWN_INDEX)) == {"wexler": {"Wexler"}}


def test_the_guard_tells_a_country_in_short_from_us() -> None:
    index = index_of(("United States of America", "Tilda Bron"), ["about us"])
    assert [hit.mids for hit in index.find_secret("all of the US")] == [(1,)]
    assert index.find_secret("tell us more about us") == []


COMMON_FACTS = {
    "Guitarist": 40, "Basketball": 60, "Constitutional monarchy": 30, "Play": 25, "Model": 20, "Senator": 90,
    "Poet": 4, "Portuguese": 50, "Portugal": 70, "Ovar": 12, "Lawyer": 3, "lawyer": 80,
}  # fmt: skip
COMMON_NAMES = list(COMMON_FACTS)
SHOWN = ["movie", "born in", "play"]
PUBLIC = PublicWords.of(SHOWN)


def common_counts(mids: Mids) -> npt.NDArray[np.int64]:
    return np.array([list(COMMON_FACTS.values())[mid - 1] for mid in mids.tolist()], dtype=np.int64)


COMMON = EntityLinker(index_of(COMMON_NAMES, SHOWN), common_counts)


def common(text: str, taken: tuple[tuple[int, int], ...] = ()) -> dict[str, set[str]]:
    named = COMMON.find_common(text, PUBLIC, taken, lambda noun: noun == "model")
    return {text[each.start : each.end]: {COMMON_NAMES[mid - 1] for mid in each.mids} for each in named}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which guitarists were born in Ovar", {"guitarists": {"Guitarist"}}),
        ("how many people born in Ovar play basketball?", {"basketball": {"Basketball"}}),
        ("which constitutional monarchies border Ovar", {"constitutional monarchies": {"Constitutional monarchy"}}),
        ("which works of Ovar are listed as a play?", {"play": {"Play"}}),
        ("which people of Ovar were portuguese?", {"portuguese": {"Portuguese", "Portugal"}}),
        ("lawyers born in Ovar", {"lawyers": {"lawyer", "Lawyer"}}),
    ],
)
def test_a_noun_names_what_many_things_are_sorted_by(text: str, names: dict[str, set[str]]) -> None:
    expected = {word: {name for name in called if name != "Lawyer"} for word, called in names.items()}
    assert common(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "who is the guitarist in Ovar",  # One that was told of.
        "who are the senators of Ovar",  # Senators of a town are no senators at large.
        "who may play in Ovar",  # A verb.
        "which poets were born in Ovar",  # Hardly anything is sorted by it.
        "which Guitarists were born in Ovar",  # A capital tells of a name, which is linked as one.
        "a model in Ovar",  # The schema has the concept.
    ],
)
def test_other_words_stay_words(text: str) -> None:
    assert common(text) == {}


def test_what_is_taken_stays() -> None:
    assert common("which guitarists were born in Ovar", ((6, 16),)) == {}
