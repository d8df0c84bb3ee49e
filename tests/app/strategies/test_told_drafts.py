"""Drafts are told in our own words, whoever chose the expressions."""

from __future__ import annotations

import pytest

from app.strategies.drafts import draft_of
from tests.support.languages import english
from tests.support.tasks import fact, step, thing

TOPIC = thing("Eq7f2k", "patient")
TREATED = fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", of="patient")
SHOWN = step("Who is Eq7f2k treated by?", [TOPIC], (), [TREATED])


@pytest.mark.parametrize(
    ("expressions", "parts", "text"),
    [
        (["Sa1b2c"], ["Sa1b2c"], "Eq7f2k is treated by {1}."),
        (["count(Sa1b2c)"], ["count(Sa1b2c)"], "The number of"),
        (["Sa1b2c", "Eq7f2k"], ["Sa1b2c", "Eq7f2k"], "The answer is {1}, {2}."),
        (["count(Sa1b2c"], ["count(Sa1b2c"], "The answer is {1}."),
    ],
)
def test_an_answer_has_our_words(expressions: list[str], parts: list[str], text: str) -> None:
    draft = draft_of(english(), expressions, SHOWN)
    assert list(draft.expressions) == parts
    assert draft.text.startswith(text)
