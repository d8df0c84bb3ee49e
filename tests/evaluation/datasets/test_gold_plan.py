"""Gold plans read as the whole paths that lead to their answers."""

from __future__ import annotations

import pytest

from evaluation.datasets.gold_plan import plan_paths
from evaluation.datasets.questions import PlanSet, QueryPlan


@pytest.mark.parametrize(
    ("sets", "answer", "paths"),
    [
        ({"A": ("topic:0", ("a", "b"))}, ("A",), [("topic:0", ("a", "b"))]),
        ({"A": ("topic:0", ("a",)), "B": ("difference(A, topic:0)", ("b",))}, ("B",), [("topic:0", ("a", "b"))]),
        ({"A": ("topic:0", ("a",)), "B": ("set:A", ("b",))}, ("count(B)",), [("topic:0", ("a", "b"))]),
        (
            {"A": ("topic:0", ("a",)), "B": ("topic:1", ("b",))},
            ("intersect(A, B)",),
            [("topic:0", ("a",)), ("topic:1", ("b",))],
        ),
        ({"A": ("topic:0", ("a",)), "K": ("kind:ward", ())}, ("intersect(A, K)",), [("topic:0", ("a",))]),
        ({"K": ("kind:ward", ())}, ('argmax(K, "beds")',), [("kind:ward", ())]),
        ({}, ('compare(topic:0, topic:1, "age")',), [("topic:0", ()), ("topic:1", ())]),
    ],
)
def test_a_plan_is_read_as_whole_paths(
    sets: dict[str, tuple[str, tuple[str, ...]]],
    answer: tuple[str, ...],
    paths: list[tuple[str, tuple[str, ...]]],
) -> None:
    planned = {letter: PlanSet(start=start, path=path) for letter, (start, path) in sets.items()}
    assert plan_paths(QueryPlan(sets=planned, answer=answer)) == paths
