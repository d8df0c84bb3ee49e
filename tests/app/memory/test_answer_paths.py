"""Paths of an answer: read off its expression and the facts that lead to it, and nothing of an entity is in them."""

from __future__ import annotations

import pytest

from app.memory.case_memory import is_one_path, paths_of_answer
from app.strategies.base import FoundFact

FACTS = (
    FoundFact("Eone11", "film", ("directed by",), "Etwo22", "person", "1"),
    FoundFact("Etwo22", "person", ("^directed by",), "Sfilm3", "film", "6-20"),
    FoundFact("Etwo22", "person", ("^directed by",), "Eone11", "film", "1"),
    FoundFact("Eone11", "film", ("cast|actor",), "Sact44", "person", "6-20"),
)


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("Etwo22", [("directed by",)]),
        ("Sfilm3", [("directed by", "^directed by")]),
        ('reach(Etwo22, "born in")', [("directed by", "born in")]),
        ("count(Sact44)", [("cast|actor",)]),
        ("intersect(Sfilm3, Sact44)", [("directed by", "^directed by"), ("cast|actor",)]),
        ('reach(Eone11, "language")', [("language",)]),
        ("Eone11", []),
        ("not an expression(", []),
    ],
)
def test_a_path_leads_from_what_the_question_names(expression: str, paths: list[tuple[str, ...]]) -> None:
    assert list(paths_of_answer([expression], FACTS, ["Eone11"])) == paths


@pytest.mark.parametrize(
    ("expressions", "is_one"),
    [
        (["Sfilm3"], True),
        (['reach(reach(Eone11, "a"), "b")'], True),
        (["count(Sfilm3)"], False),
        (['argmax(Sfilm3, "year")'], False),
        (["Sfilm3", "Sact44"], False),
        ([], False),
    ],
)
def test_what_is_counted_or_compared_is_no_path_alone(expressions: list[str], is_one: bool) -> None:
    assert is_one_path(expressions) is is_one
