"""Questions with the plural of a genre: "documentaries" are the films of that genre, and its name never leaves."""

from __future__ import annotations

import pytest

from tests.support.house import House
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:ge rdfs:label "genre" . :di rdfs:label "directed by" . :pl rdfs:label "plays in" .
:g1 a :Genre ; rdfs:label "Documentary" . :g2 a :Genre ; rdfs:label "comedy film" . :c1 a :City ; rdfs:label "Tower" .
:f1 a :Film ; rdfs:label "Orvindel" ; :ge :g1 ; :di :p1 . :f2 a :Film ; rdfs:label "Thrombury" ; :ge :g2 ; :di :p1 .
:f3 a :Film ; rdfs:label "Jaskworthy" ; :ge :g1 ; :di :p2 ; :pl :c1 .
:p1 a :Person ; rdfs:label "Ottoline Brackwater" . :p2 a :Person ; rdfs:label "Bertil Oxenhame" .
"""
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which documentaries are there?", {"Orvindel", "Jaskworthy"}),
        ("Which documentaries did Ottoline Brackwater direct?", {"Orvindel"}),
        ("how many documentaries are there", {"2"}),
        ("Which comedies are there?", {"Thrombury"}),
    ],
)
async def test_the_plural_of_a_genre_is_read_as_what_has_the_genre(
    house: House, question: str, names: set[str]
) -> None:
    answer = await house.ask(question)
    assert set(answer.names) == names, answer.text


async def test_the_plural_of_another_name_is_none(house: House) -> None:
    assert not (await house.ask("Which towers are there?")).answered


@pytest.mark.parametrize("question", ["Which documentaries are there?", "comedies by Ottoline Brackwater"])
async def test_the_genre_never_leaves(house: House, question: str) -> None:
    await house.ask(question)
    assert house.leaked(["Documentary", "documentaries", "comedies", "comedy", "Brackwater"]) == []
