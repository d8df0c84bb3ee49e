"""Questions with adjectives of places: they are read as the places, and go like their names."""

from __future__ import annotations

import pytest

from tests.support.house import House
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:ci rdfs:label "citizen of" . :in rdfs:label "in country" . :li rdfs:label "lives in" . :la rdfs:label "speaks" .
:na rdfs:label "nationality" . :bi rdfs:label "born on" .
:fr a :Country ; rdfs:label "France" . :gb a :Country ; rdfs:label "United Kingdom", "UK" .
:nl a :Country ; rdfs:label "Netherlands" .
:p1 a :City ; rdfs:label "Zemgalburg" ; :in :fr . :p2 a :City ; rdfs:label "Umbrathal" ; :in :gb .
:p3 a :City ; rdfs:label "Fenwhistle" ; :in :fr .
:a1 a :Actor ; rdfs:label "Ottoline Brackwater" ; :ci :fr ; :la :l1 ; :bi "1961-02-11"^^xsd:date .
:a2 a :Actor ; rdfs:label "Bertil Oxenhame" ; :ci :gb ; :la :l2 ; :bi "1958-09-30"^^xsd:date .
:a3 a :Actor ; rdfs:label "Dawn French" ; :ci :gb ; :la :l2 ; :bi "1990-01-05"^^xsd:date .
:c1 a :Customer ; rdfs:label "Orvindel" ; :na "Netherlands" .
:c2 a :Customer ; rdfs:label "Jaskworthy" ; :na "Belgium" .
:c3 a :Customer ; rdfs:label "Thrombury" ; :na "Netherlands" .
:l1 a :Language ; rdfs:label "Dutch" . :l2 a :Language ; rdfs:label "Danish" .
"""
)
PRIVATE = ["France", "French", "Kingdom", "British", "Netherlands", "Belgium", "Belgian", "Brackwater", "Oxenhame"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which actors are French?", {"Ottoline Brackwater"}),
        ("which french cities are there", {"Zemgalburg", "Fenwhistle"}),
        ("Which Belgian customers do we have?", {"Jaskworthy"}),
        ("Is Dawn French British?", {"yes"}),
    ],
)
async def test_an_adjective_of_a_place_is_read_as_the_place(house: House, question: str, names: set[str]) -> None:
    answer = await house.ask(question)
    assert set(answer.names or [answer.text.split(",")[0].lower()]) == names, answer.text


async def test_a_name_goes_before_the_adjective(house: House) -> None:
    assert (await house.ask("When was French born?")).names == ["1990-01-05"]
    assert (await house.ask("Which actors speak Dutch?")).names == ["Ottoline Brackwater"]


@pytest.mark.parametrize(
    "question",
    ["Which British actors are there?", "which french cities are there", "Which Belgian customers do we have?"],
)
async def test_an_adjective_of_a_private_place_never_leaves(house: House, question: str) -> None:
    await house.ask(question)
    assert house.leaked(PRIVATE) == []
