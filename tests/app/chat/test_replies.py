"""A model's own sentence stays only where it says the facts that it cites, and nothing else."""

from __future__ import annotations

import pytest

from app.chat.concluding import adds_nothing
from app.strategies.base import FoundFact

FACT = FoundFact("Eq7f2k", "film", ("directed by",), "Ex81zp", "person", "1")


@pytest.mark.parametrize(
    "text",
    [
        "Ex81zp directed Eq7f2k.",
        "Eq7f2k is a film that Ex81zp directed.",
        "The film Eq7f2k was directed by the person Ex81zp.",
    ],
)
def test_words_of_the_facts_and_of_grammar_may_stay(text: str) -> None:
    assert adds_nothing(text, [FACT])


@pytest.mark.parametrize(
    "text",
    [
        "Ex81zp never directed Eq7f2k.",
        "Ex81zp may have directed Eq7f2k.",
        "Ex81zp directed Eq7f2k alone.",
        "Ex81zp, who is ill, directed Eq7f2k.",
        "Ex81zp didn't direct Eq7f2k.",
        "Ex81zp directed Eq7f2k in 1961.",
        "Ex81zp directed Eq7f2k and Ew00ab.",
    ],
)
def test_any_other_word_is_too_much(text: str) -> None:
    assert not adds_nothing(text, [FACT])
