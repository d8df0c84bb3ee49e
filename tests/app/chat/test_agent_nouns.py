"""Questions with nouns for people by their field: they are read as the people of the field, which never leaves."""

from __future__ import annotations

import pytest

from tests.support.house import House
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:sp rdfs:label "specializes in" . :tb rdfs:label "treated by" . :pr rdfs:label "profession" .
:in rdfs:label "enrolled in" . :bo rdfs:label "born on" . :ro rdfs:label "role" .
:s1 a :Specialty ; rdfs:label "Dermatology" . :s2 a :Specialty ; rdfs:label "General Surgery" .
:s3 a :Specialty ; rdfs:label "Nursing" . :c1 a :Course ; rdfs:label "Biology" .
:d1 a :Doctor ; rdfs:label "Ottoline Brackwater" ; :sp :s1 ; :bo "1961-02-11"^^xsd:date .
:d2 a :Doctor ; rdfs:label "Ptolemy Ashgrove" ; :sp :s2 ; :bo "1958-09-30"^^xsd:date .
:d3 a :Doctor ; rdfs:label "Nurse Vantongeren" ; :sp :s3 ; :bo "1990-01-05"^^xsd:date .
:p1 a :Patient ; rdfs:label "Zofia Quarrel" ; :tb :d1 ; :in :c1 ; :pr "Architecture" .
:p2 a :Patient ; rdfs:label "Bertil Oxenhame" ; :tb :d2 ; :in :c1 ; :pr "Dentistry" .
"""
)
PRIVATE = [
    "Dermatology",
    "dermatologist",
    "General Surgery",
    "surgeon",
    "Brackwater",
    "Ashgrove",
    "Dentistry",
    "dentist",
]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which dermatologists are there?", {"Ottoline Brackwater"}),
        ("who are the general surgeons", {"Ptolemy Ashgrove"}),
        ("Which patients are treated by a dermatologist?", {"Zofia Quarrel"}),
        ("How many dermatologists do we have?", {"1"}),
    ],
)
async def test_a_noun_for_people_is_read_as_those_of_the_field(house: House, question: str, names: set[str]) -> None:
    answer = await house.ask(question)
    assert set(answer.names) == names, answer.text


async def test_what_is_no_field_of_people_makes_none(house: House) -> None:
    assert not (await house.ask("Which biologists are there?")).answered
    assert not (await house.ask("Which cardiologists are there?")).answered


async def test_a_title_and_a_name_stay_what_they_are(house: House) -> None:
    assert (await house.ask("When was Nurse Vantongeren born?")).names == ["1990-01-05"]


@pytest.mark.parametrize(
    "question",
    ["Which dermatologists treat Zofia Quarrel?", "who are the general surgeons", "Which dentists are there?"],
)
async def test_the_field_and_its_people_never_leave(house: House, question: str) -> None:
    await house.ask(question)
    assert house.leaked(PRIVATE) == []
