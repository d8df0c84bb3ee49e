"""Members of sets that lack the value by which an expression compares or counts them."""

from __future__ import annotations

import pytest

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import Operand, parse
from kg_store.terms import ValueKind, as_mids
from tests.support.algebra_fakes import FakeGraph, literal

PETREL, GANNET, TERN, SKUA = 1, 2, 3, 4
OSKHAM = 11
VALUES = {
    101: literal("41", ValueKind.NUMBER),
    102: literal("38", ValueKind.NUMBER),
    103: literal("tbc", ValueKind.TEXT),
    201: literal("2016", ValueKind.DATE),
    202: literal("2017", ValueKind.DATE),
    203: literal("pending", ValueKind.TEXT),
    301: literal("on tour", ValueKind.TEXT),
}
TRIPLES = [
    *((PETREL, "length", 101), (GANNET, "length", 102), (TERN, "length", 103)),
    *((PETREL, "sold", 201), (TERN, "sold", 203), (GANNET, "sold", 202)),
    *((PETREL, "built", 201), (GANNET, "built", 201)),
    *((PETREL, "port", OSKHAM), (SKUA, "port", OSKHAM)),
    *((PETREL, "yard", OSKHAM), (SKUA, "yard", OSKHAM), (TERN, "yard", 301)),
]
ALGEBRA = SetAlgebra(GRAPH := FakeGraph(TRIPLES, VALUES), GRAPH)
SETS = {"S": (PETREL, GANNET, TERN, SKUA), "T": (PETREL, GANNET), "O": (OSKHAM,), "V": (102,), "P": (PETREL, SKUA)}


def operand(word: str) -> Operand:
    return Operand(as_mids(SETS[word]), None, None)


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ('argmax(S, "length")', [("length", 4, 1, 1, False)]),
        ('average(T, "length")', []),
        ('count(filter(S, "length", >, V))', [("length", 4, 1, 1, False)]),
        ('count(difference(S, filter(S, "length", >, V)))', [("length", 4, 1, 1, True)]),
        ('count(intersect(filter(S, "length", >, V), P))', [("length", 2, 1, 0, False)]),
        # What is asked for is the lack itself; only the text in place of a date is worth a word.
        ('count(having(S, "sold"))', [("sold", 4, 0, 1, False)]),
        ('difference(S, having(S, "sold"))', [("sold", 4, 1, 1, True)]),
        ('filter(S, "port", =, O)', []),
        ('difference(S, filter(S, "port", =, O))', [("port", 4, 2, 0, True)]),
        ('group(S, "port")', [("port", 4, 2, 0, False)]),
        ('group(O, "^port")', []),
        # A difference needs both of its values.
        ('average(S, "sold minus built")', [("sold", 4, 1, 1, False), ("built", 4, 2, 0, False)]),
        ('count(filter(S, "sold minus built", >, V))', [("sold", 4, 1, 1, False), ("built", 4, 2, 0, False)]),
        # A reference that leads to no row is a text among things.
        ('group(S, "yard")', [("yard", 4, 1, 1, False)]),
        ('count(having(S, "yard"))', [("yard", 4, 0, 1, False)]),
    ],
)
def test_members_without_a_value_are_counted(expression: str, missing: list[tuple[str, int, int, int, bool]]) -> None:
    found = ALGEBRA.missing_values(parse(expression), operand)
    assert [(each.relation, each.total, each.empty, each.unfit, each.counts_as_not) for each in found] == missing


def test_texts_among_things_are_told_apart_from_what_is_left_out() -> None:
    (found,) = ALGEBRA.missing_values(parse('group(S, "yard")'), operand)
    assert (found.texts, found.lacking) == (1, 2)
    (found,) = ALGEBRA.missing_values(parse('argmax(S, "length")'), operand)
    assert (found.texts, found.lacking) == (0, 2)


def test_text_in_a_column_of_dates_is_no_date() -> None:
    found = ALGEBRA.evaluate(parse('difference(S, having(S, "sold"))'), operand)
    assert set(found.mids) == {TERN, SKUA}
