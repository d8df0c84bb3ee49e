"""Well-known namesakes: things that are meant far more often than what is called just as it is typed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.terms import Mids
from kg_store.text.english import PublicWords

FACTS = {
    "Wexler": 3, "Orlando Wexler": 400, "Wexler Street": 30,
    "Brannock": 3, "Ida Brannock": 90, "Tom Brannock": 70,
    "Ostrava": 60, "Ostrava Region": 300,
    "UK": 2, "United Kingdom": 500, "UK Garage Band": 40,
    "Danish": 3, "Denmark": 200, "Danish language": 12, "Danish Pastry": 150,
    "World War II": 80, "Wooden Wheels in Idaho": 25,
    "Ada": 1, "Lumley": 2, "Ada M. Lumley": 100,
    "Harald V": 4, "Harald VII of Brunn": 30,
}  # fmt: skip
MIDS = {name: mid for mid, name in enumerate(FACTS, start=1)}
INDEX = NameIndex.build(NameEntry(mid, name, "name", None, True, True) for name, mid in MIDS.items())
INDEX = INDEX.with_public(PublicWords.of(["president of a country", "about us"]))


def counts(mids: Mids) -> npt.NDArray[np.int64]:
    facts = list(FACTS.values())
    return np.array([facts[mid - 1] for mid in mids.tolist()], dtype=np.int64)


LINKER = EntityLinker(INDEX, counts)


def linked(text: str, linker: EntityLinker = LINKER) -> dict[str, set[str]]:
    names = list(MIDS)
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
    assert linked(text) == found


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
    assert linked(text)[name] == {name.capitalize()}


def test_without_a_graph_nothing_is_known_better() -> None:
    assert linked("when was wexler born", EntityLinker(INDEX)) == {"wexler": {"Wexler"}}


def test_a_country_in_short_is_told_from_us() -> None:
    names = ["United States of America", "Tilda Bron"]
    index = NameIndex.build(NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(names))
    index = index.with_public(PublicWords.of(["about us"]))
    linker = EntityLinker(index)
    assert [each.mids for each in linker.find_mentions("who led the us in 1944")] == [(0,)]
    assert [each.mids for each in linker.find_mentions("who led the USA then")] == [(0,)]
    assert linker.find_mentions("who of us was there") == []
    assert [hit.mids for hit in index.find_secret("all of the US")] == [(0,)]
    assert index.find_secret("tell us more about us") == []
