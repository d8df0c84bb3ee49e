"""Places within places: what is in a place is also what is in its parts."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep
from app.reader.meaning.reading import is_chain_of_places, within_parts

STEPS = [
    SchemaStep("place", "^located in", "^located in", "firm", ""),
    SchemaStep("place", "^rules", "^rules", "person", ""),
    SchemaStep("place", "^part of", "^part of", "place", ""),
    SchemaStep("firm", "located in", "located in", "place", ""),
]
PARTS = 'reach(union(Ea1b2c, reach(Ea1b2c, "^part of"), reach(reach(Ea1b2c, "^part of"), "^part of")), "^located in")'


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ('count(reach(Ea1b2c, "^located in"))', f"count({PARTS})"),
        # Who rules a country rules no town of it, and its own parts are asked for by one step.
        ('reach(Ea1b2c, "^rules")', 'reach(Ea1b2c, "^rules")'),
        ('reach(Ea1b2c, "^part of")', 'reach(Ea1b2c, "^part of")'),
        ('reach(Ed4e5f, "^located in")', 'reach(Ed4e5f, "^located in")'),
    ],
)
def test_what_is_located_in_a_part_is_located_in_the_whole(read: str, meant: str) -> None:
    assert within_parts(read, STEPS, {"Ea1b2c": "place"}) == meant


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('reach(reach(Ea1b2c, "^country"), "^city")', True),
        ('count(intersect(reach(reach(Ea1b2c, "^country"), "^address city"), Sa1b2c))', True),
        ('reach(reach(Ea1b2c, "^country"), "^owned")', False),
        ('reach(reach(Ea1b2c, "^country"), "^born in")', False),
        ('reach(reach(Ea1b2c, "country"), "city")', False),
        ('reach(Ea1b2c, "^city")', False),
    ],
)
def test_a_chain_of_places_is_said_as_one_step(text: str, is_one: bool) -> None:
    assert is_chain_of_places(text) == is_one
