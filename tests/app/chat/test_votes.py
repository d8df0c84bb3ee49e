"""Answers by a vote over entities, in schemas of many relations: their order, and what later turns make of it."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.strategies import start
from app.wiring.store import ServiceContext
from tests.support.house import House, sets_house
from tests.support.stores import PREFIXES

# No classes. Two relations say where she was a member; one club is told by both, and is no first one by its number.
GRAPH = (
    PREFIXES
    + """
:member rdfs:label "member of club" . :plays rdfs:label "plays in club" . :lives rdfs:label "lives in town" .
:town rdfs:label "town of the club" . :born rdfs:label "date of birth" .
:p1 rdfs:label "Zofia Quarrel" ; :member :c1 , :c2 , :c3 ; :plays :c2 ; :lives :t1 ; :born "1984-02-01"^^xsd:date .
:p2 rdfs:label "Bertil Oxenhame" ; :member :c1 , :c3 ; :plays :c3 ; :lives :t2 ; :born "1990-02-01"^^xsd:date .
:c1 rdfs:label "Kestrel Eleven" ; :town :t1 . :c2 rdfs:label "Gyrfalcon United" ; :town :t2 .
:c3 rdfs:label "Umbrathal Rovers" ; :town :t1 . :t1 rdfs:label "Vexquilda" . :t2 rdfs:label "Thrombury" .
"""
)
NAMES = ["Zofia", "Quarrel", "Bertil", "Kestrel", "Gyrfalcon", "Umbrathal", "Vexquilda", "Thrombury"]


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(start, "MAX_RELATIONS", 0)
    return sets_house(store, embedder)


async def test_what_most_likely_paths_lead_to_comes_first(house: House) -> None:
    answer = await house.ask("Which clubs is Zofia Quarrel a member of?")
    assert answer.names[0] == "Gyrfalcon United"
    assert sorted(answer.names) == ["Gyrfalcon United", "Kestrel Eleven", "Umbrathal Rovers"]
    assert [entity.ordered for entity in answer.entities] == [True]


async def test_the_first_one_is_the_one_that_was_shown_first(house: House) -> None:
    listed = (await house.ask("Which clubs is Zofia Quarrel a member of?")).names
    towns = {"Kestrel Eleven": "Vexquilda", "Gyrfalcon United": "Thrombury", "Umbrathal Rovers": "Vexquilda"}
    first = await house.ask("What is the town of the first one?")
    assert first.names == [towns[listed[0]]] == ["Thrombury"]


async def test_what_two_named_things_share_is_the_answer(house: House) -> None:
    answer = await house.ask("Which club are Zofia Quarrel and Bertil Oxenhame a member of?")
    assert sorted(answer.names) == ["Kestrel Eleven", "Umbrathal Rovers"]


async def test_nothing_is_answered_where_no_path_is_likely(house: House) -> None:
    answer = await house.ask("Which medicine does Zofia Quarrel take against headaches?")
    assert not answer.answered


async def test_the_confidence_is_told_and_no_name_leaves(house: House) -> None:
    answer = await house.ask("Where does Zofia Quarrel live?")
    assert answer.names == ["Vexquilda"]
    assert answer.confidence is not None
    assert house.leaked(NAMES) == []


async def test_a_chain_is_followed_where_words_say_two_steps(house: House) -> None:
    answer = await house.ask("Where do the members of Gyrfalcon United live?")
    assert answer.names == ["Vexquilda"]
