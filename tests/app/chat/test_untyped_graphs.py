"""Graphs that do not say what their things are: what one path says goes by a path, and what needs several by a reading
of the whole question."""

from __future__ import annotations

import pytest

from kg_store.algebra import expressions
from tests.support.house import House
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:dir rdfs:label "directed by" . :act rdfs:label "starred actors" . :year rdfs:label "release year" .
:f1 rdfs:label "Kestrel Wing" ; :dir :p1 ; :act :p2 , :p3 ; :year "1984"^^xsd:gYear .
:f2 rdfs:label "Umbrathal" ; :dir :p1 ; :act :p3 ; :year "1991"^^xsd:gYear .
:f4 rdfs:label "S" ; :dir :p3 .
:f3 rdfs:label "Orvindel Road" ; :dir :p2 ; :act :p3 , :p2 ; :year "1999"^^xsd:gYear .
:p1 rdfs:label "Zofia Quarrel" . :p2 rdfs:label "Bertil Oxenhame" . :p3 rdfs:label "Ottoline Brackwater" .
"""
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which films were directed by Zofia Quarrel?", {"Kestrel Wing", "Umbrathal"}),
        ("Which films directed by Zofia Quarrel starred Bertil Oxenhame?", {"Kestrel Wing"}),
        ("Which film directed by Zofia Quarrel has the latest release year?", {"Umbrathal"}),
        ("Which has the later release year: Kestrel Wing or Umbrathal?", {"Umbrathal"}),
        ("Which films starring Ottoline Brackwater are newer than Umbrathal?", {"Orvindel Road"}),
    ],
)
async def test_questions_of_one_path_and_of_several(house: House, question: str, names: set[str]) -> None:
    assert set((await house.ask(question)).names) == names


async def test_a_reading_that_gives_nothing_is_left_for_one_that_gives_something(house: House) -> None:
    """Both have directed; turned round, there is no such film."""
    answer = await house.ask("Which films starring Bertil Oxenhame did Zofia Quarrel direct?")
    assert answer.names == ["Kestrel Wing"]


async def test_a_reading_of_more_parts_than_can_be_executed_ends_no_question(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "MAX_NODES", 5)
    answer = await house.ask("Which films directed by Zofia Quarrel starred Bertil Oxenhame?")
    assert set(answer.names) <= {"Kestrel Wing"}


async def test_no_name_leaves_for_a_reading_that_is_tried_in_the_house(house: House) -> None:
    await house.ask("Who starred in the films that Zofia Quarrel directed?")
    assert house.leaked(["Quarrel", "Kestrel", "Oxenhame", "Brackwater", "Orvindel", "Umbrathal"]) == []
