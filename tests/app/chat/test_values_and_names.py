"""Words that are a text value and a part of a name: the relation from what is asked for decides which is meant."""

from __future__ import annotations

import pytest

from tests.support.house import House
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:ci rdfs:label "city" . :wo rdfs:label "works in" . :se rdfs:label "number of seats" .
:na rdfs:label "customer name" .
:sa rdfs:label "monthly salary" .
:o1 a :Office ; rdfs:label "Zemgalburg Office" ; :ci "Zemgalburg" ; :se 12 .
:o2 a :Office ; rdfs:label "Umbrathal Office" ; :ci "Umbrathal" ; :se 20 .
:o3 a :Office ; rdfs:label "Old Umbrathal Office" ; :ci "Fenwhistle" ; :se 8 .
:c1 a :Customer ; rdfs:label "Orvindel" ; :ci "Zemgalburg" .
:c2 a :Customer ; rdfs:label "Jaskworthy" ; :ci "Umbrathal" .
:c3 a :Customer ; rdfs:label "Thrombury" ; :ci "Zemgalburg" ; :na "Thrombury" .
:e1 a :Employee ; rdfs:label "Ottoline Brackwater" ; :wo :o1 ; :sa 5200 .
:e2 a :Employee ; rdfs:label "Bertil Oxenhame" ; :wo :o2 ; :sa 6100 .
"""
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which customers are in Zemgalburg?", {"Orvindel", "Thrombury"}),
        ("customers in Umbrathal", {"Jaskworthy"}),
        ("Who works in Zemgalburg?", {"Ottoline Brackwater"}),
        ("How many seats does Zemgalburg Office have?", {"12"}),
    ],
)
async def test_the_relation_from_what_is_asked_for_decides(house: House, question: str, names: set[str]) -> None:
    answer = await house.ask(question)
    assert set(answer.names) == names, answer.text


async def test_a_thing_that_is_called_so_is_no_value(house: House) -> None:
    assert not (await house.ask("Thrombury, what sort of customer is that?")).answered


async def test_a_refusal_is_that_of_the_name(house: House) -> None:
    answer = await house.ask("Which umbrella has Zemgalburg?")
    assert not answer.answered
    assert [each.concept for each in house.last.understood] == ["office"]


async def test_neither_the_name_nor_the_value_leaves(house: House) -> None:
    await house.ask("Which customers are in Zemgalburg?")
    assert house.leaked(["Zemgalburg", "Umbrathal", "Orvindel"]) == []
