"""Common nouns that name what a graph sorts its things by: trades, sports, kinds of works."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.terms import Mids
from kg_store.text.english import PublicWords

FACTS = {
    "Guitarist": 40, "Basketball": 60, "Constitutional monarchy": 30, "Play": 25, "Model": 20, "Senator": 90,
    "Poet": 4, "Portuguese": 50, "Portugal": 70, "Ovar": 12, "Lawyer": 3, "lawyer": 80,
}  # fmt: skip
NAMES = list(FACTS)
ENTRIES = [NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(NAMES)]
PUBLIC = PublicWords.of(["movie", "born in", "play"])


def counts(mids: Mids) -> npt.NDArray[np.int64]:
    return np.array([list(FACTS.values())[mid] for mid in mids.tolist()], dtype=np.int64)


LINKER = EntityLinker(NameIndex.build(ENTRIES).with_public(PUBLIC), counts)


def found(text: str, taken: tuple[tuple[int, int], ...] = ()) -> dict[str, set[str]]:
    named = LINKER.find_common(text, PUBLIC, taken, lambda noun: noun == "model")
    return {text[each.start : each.end]: {NAMES[mid] for mid in each.mids} for each in named}


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
    assert found(text) == expected


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
    assert found(text) == {}


def test_what_is_taken_stays() -> None:
    assert found("which guitarists were born in Ovar", ((6, 16),)) == {}
