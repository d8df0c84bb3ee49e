"""`reach(A, "relation")`: what a relation leads to, as a set that other functions go on with."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import ExpressionResult, Operand, parse
from kg_store.errors import ExpressionError
from kg_store.terms import NO_MIDS, ValueKind, as_mids
from tests.support.algebra_fakes import MEDIATOR, FakeGraph, literal

ANNA, BEN, CARA, NORTH, SOUTH = 1, 2, 3, 11, 12
GRAPH = FakeGraph(
    [
        *((ANNA, "ward", NORTH), (BEN, "ward", NORTH), (CARA, "ward", SOUTH)),
        *((ANNA, "spouse", BEN), (ANNA, "stay", 21), (21, "place", SOUTH)),
        *((ANNA, "salary", 301), (BEN, "salary", 301), (CARA, "salary", 302)),
        *((ANNA, "phone#home", 301), (ANNA, "phone#work", 302)),
    ],
    {21: MEDIATOR, 301: literal("100", ValueKind.NUMBER), 302: literal("250.5", ValueKind.NUMBER)},
)
ALGEBRA = SetAlgebra(GRAPH, GRAPH)
OPERANDS = {"All": as_mids([ANNA, BEN, CARA]), "Anna": as_mids([ANNA]), "Ben": as_mids([BEN]), "None": NO_MIDS}


def outcome(text: str) -> ExpressionResult:
    return ALGEBRA.evaluate(parse(text), lambda name: Operand(OPERANDS[name]))


@pytest.mark.parametrize(
    "text", ['reach("ward")', "reach(Anna)", "reach(Anna, ward)", 'reach(Anna, "a", "b")', "reach()"]
)
def test_it_takes_a_set_and_a_relation(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "mids"),
    [
        ('reach(Anna, "ward")', (NORTH,)),
        ('reach(All, "ward")', (NORTH, SOUTH)),
        ('reach(Ben, "^spouse")', (ANNA,)),
        ('reach(Anna, "stay|place")', (SOUTH,)),
        ('reach(reach(Anna, "ward"), "^ward")', (ANNA, BEN)),
        ('intersect(reach(All, "ward"), reach(Ben, "ward"))', (NORTH,)),
        ('reach(Anna, "phone")', (301, 302)),
    ],
)
def test_it_gives_what_the_relation_leads_to(text: str, mids: tuple[int, ...]) -> None:
    found = outcome(text)
    assert (found.kind, found.mids, found.ordered) == ("set", mids, False)


def test_counts_are_over_members_and_sums_over_everybodys_value() -> None:
    assert outcome('count(reach(All, "salary"))').number == 2
    assert outcome('sum(reach(All, "salary"))').number == Decimal("450.5")
    assert outcome('exists(reach(Ben, "spouse"))').truth is False


@pytest.mark.parametrize(
    "text", ['reach(Anna, "no such words")', 'reach(count(All), "ward")', 'reach(Anna, "ward|nothing")']
)
def test_what_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        outcome(text)
