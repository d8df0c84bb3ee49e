"""Dates that are names of things, as files of plain triples tell them: they compare and have an order."""

from __future__ import annotations

import pytest

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import Operand, parse
from kg_store.errors import ExpressionError
from kg_store.terms import NO_MIDS, as_mids
from tests.support.algebra_fakes import MEDIATOR, FakeGraph, FakeRecord

TEAM, FIRST, SECOND, THIRD = 1, 2, 3, 4
TRIPLES = [
    *((TEAM, "stay", 21), (21, "from", 31), (21, "to", 32), (21, "coach", FIRST)),
    *((TEAM, "stay", 22), (22, "from", 32), (22, "coach", SECOND)),
    *((TEAM, "won", 41), (TEAM, "won", 42), (TEAM, "lost", 42), (TEAM, "lost", 43), (TEAM, "met", THIRD)),
]
NODES = {
    21: MEDIATOR,
    22: MEDIATOR,
    31: FakeRecord(names=("1999-02-01",)),
    32: FakeRecord(names=("2004",)),
    41: FakeRecord(names=("1994 Finals",)),
    42: FakeRecord(names=("2001 Finals", "The 1980 game")),
    43: FakeRecord(names=("Finals XL",)),
}
GRAPH = FakeGraph(TRIPLES, NODES)
OPERANDS = {
    "Team": Operand(as_mids([TEAM])),
    "Year": Operand(as_mids([32])),
    "L2000": Operand(NO_MIDS, literal="2000"),
    "L2004": Operand(NO_MIDS, literal="2004"),
    "Final": Operand(as_mids([42])),
}


def mids(text: str) -> tuple[int, ...]:
    return SetAlgebra(GRAPH, GRAPH).evaluate(parse(text), OPERANDS.__getitem__).mids


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('filter(reach(Team, "stay"), "from", <=, L2000)', (21,)),
        ('filter(reach(Team, "stay"), "from", =, L2004)', (22,)),
        ('filter(reach(Team, "stay"), "from", <, Year)', (21,)),
        ('reach(argmax(reach(Team, "stay"), "from"), "coach")', (SECOND,)),
        ('difference(reach(Team, "stay"), filter(reach(Team, "stay"), "to", <, L2000))', (21, 22)),
        ('min(reach(Team, "won"))', (41,)),
        ('max(reach(Team, "won"))', (42,)),
        ('filter(Team, "won", =, Final)', (TEAM,)),
        ('filter(Team, "lost", !=, Final)', (TEAM,)),
    ],
)
def test_names_that_are_dates_compare_as_dates(text: str, found: tuple[int, ...]) -> None:
    assert mids(text) == found


@pytest.mark.parametrize("text", ['max(reach(Team, "lost"))', 'argmax(Team, "met")', 'filter(Team, "lost", <, L2000)'])
def test_a_year_in_some_of_the_names_makes_no_dates(text: str) -> None:
    with pytest.raises(ExpressionError):
        mids(text)
