"""The set algebra on small graphs: sets, numbers, tables, dates in names, and what relations reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import ExpressionResult, Operand, of_one_row, parse
from kg_store.errors import ExpressionError
from kg_store.terms import NO_MIDS, Edges, ValueKind, as_mids
from tests.support.algebra_fakes import MEDIATOR, FakeGraph, FakeRecord, literal
from tests.support.corpus import Corpus

CORPUS = Corpus.beside(__file__)

ANNA, BEN, CARA, DAN, EVE = 1, 2, 3, 4, 5
NORTH, SOUTH = 11, 12
NUMBER, DATE, TEXT, TRUTH = ValueKind.NUMBER, ValueKind.DATE, ValueKind.TEXT, ValueKind.TRUTH

VALUES: dict[int, FakeRecord] = {
    **dict.fromkeys(range(21, 26), MEDIATOR),
    101: literal("30", NUMBER),
    102: literal("45.5", NUMBER),
    103: literal("30.0", NUMBER),
    104: literal("unknown", NUMBER),
    201: literal("1990-05-01", DATE),
    202: literal("1985", DATE),
    203: literal("1990-07-01T10:00:00", DATE),
    301: literal("100", NUMBER),
    302: literal("300", NUMBER),
    303: literal("200.50", NUMBER),
    401: literal("Type A", TEXT),
    402: literal("type_a", TEXT),
    403: literal("Type 0", TEXT),
    501: literal("true", TRUTH),
    502: literal("0", TRUTH),
    601: literal("17", NUMBER),
    602: literal("20", NUMBER),
}
TRIPLES = [
    *((ANNA, "age", 101), (BEN, "age", 102), (CARA, "age", 103), (DAN, "age", 104)),
    *((ANNA, "born", 201), (BEN, "born", 202), (CARA, "born", 203)),
    *((ANNA, "salary", 301), (ANNA, "salary", 302), (BEN, "salary", 303)),
    *((ANNA, "blood", 401), (BEN, "blood", 402), (CARA, "blood", 403)),
    *((ANNA, "active", 501), (BEN, "active", 502)),
    *((ANNA, "ward", NORTH), (BEN, "ward", NORTH), (CARA, "ward", SOUTH), (DAN, "ward", SOUTH), (EVE, "ward", NORTH)),
    *((ANNA, "treats", BEN), (ANNA, "treats", CARA), (DAN, "treats", BEN)),
    *((ANNA, "stay", 21), (21, "place", NORTH), (BEN, "stay", 22), (22, "place", SOUTH)),
    *((ANNA, "phone#home", 301), (BEN, "phone#work", 303)),
    *((21, "nights", 601),),
    *((DAN, "stay", 23), (DAN, "stay", 24), (DAN, "stay", 25), (23, "nights", 601), (24, "nights", 601)),
    *((25, "nights", 602),),
]
GRAPH = FakeGraph(TRIPLES, VALUES)
ALGEBRA = SetAlgebra(GRAPH, GRAPH)

OPERANDS = {
    "All": Operand(as_mids([ANNA, BEN, CARA, DAN, EVE])),
    "Some": Operand(as_mids([ANNA, BEN])),
    "Others": Operand(as_mids([BEN, CARA])),
    "Anna": Operand(as_mids([ANNA])),
    "Ben": Operand(as_mids([BEN])),
    "Cara": Operand(as_mids([CARA])),
    "Eve": Operand(as_mids([EVE])),
    "Wards": Operand(as_mids([NORTH, SOUTH])),
    "North": Operand(as_mids([NORTH])),
    "None": Operand(NO_MIDS),
    "V30": Operand(as_mids([101])),
    "Born90": Operand(as_mids([201])),
    "Ages": Operand(as_mids([101, 102, 103]), Edges(np.array([ANNA, BEN, CARA, EVE]), np.array([101, 102, 103, 101]))),
    "BareAges": Operand(as_mids([101, 102, 103])),
    "Dates": Operand(as_mids([201, 202, 203])),
    "Texts": Operand(as_mids([401, 402])),
    "V2": Operand(NO_MIDS, literal="2"),
    "TypeA": Operand(as_mids([401])),
    "Yes": Operand(as_mids([501])),
    "L45": Operand(NO_MIDS, literal="45"),
    "L1990": Operand(NO_MIDS, literal="1990"),
    "L1980s": Operand(NO_MIDS, literal="1980s"),
    "LMay": Operand(NO_MIDS, literal="May 1990"),
    "AnyMay": Operand(NO_MIDS, literal="May"),
    "AnyJune": Operand(NO_MIDS, literal="june"),
    "FirstOfMay": Operand(NO_MIDS, literal="1st May"),
    "LText": Operand(NO_MIDS, literal="TYPE-A"),
    "LWord": Operand(NO_MIDS, literal="soon"),
    "L30Both": Operand(as_mids([101]), literal="30"),
}


def outcome(text: str) -> ExpressionResult:
    return ALGEBRA.evaluate(parse(text), OPERANDS.__getitem__)


def test_error_repeats_no_word_of_the_expression_and_no_value() -> None:
    with pytest.raises(ExpressionError) as caught:
        outcome('filter(All, "Anna\'s secret", =, V30)')
    assert "Anna" not in str(caught.value)


def test_only_the_values_that_are_needed_are_read() -> None:
    graph = FakeGraph(TRIPLES, VALUES)
    algebra = SetAlgebra(graph, graph)
    algebra.evaluate(parse('filter(Some, "age", >, V30)'), OPERANDS.__getitem__)
    assert sorted(set(graph.asked)) == [101, 102]
    graph.asked.clear()
    algebra.evaluate(parse('group(union(Some, Others), "ward")'), OPERANDS.__getitem__)
    assert graph.asked == []


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ('filter(All, "born", =, AnyMay)', [ANNA]),
        ('filter(All, "born", =, FirstOfMay)', [ANNA]),
        ('filter(All, "born", !=, AnyMay)', [BEN, CARA]),
        # All that are left are of 1990.
        ('filter(filter(All, "born", >=, L1990), "born", <, AnyJune)', [ANNA]),
        ('filter(filter(All, "born", >=, L1990), "born", >, FirstOfMay)', [CARA]),
    ],
)
def test_a_date_without_a_year(text: str, members: list[int]) -> None:
    assert list(outcome(text).mids) == members


def test_an_order_needs_the_year_where_there_are_several() -> None:
    with pytest.raises(ExpressionError, match="several years"):
        outcome('filter(All, "born", <, AnyJune)')


def test_the_years_of_what_equals_a_date_without_a_year() -> None:
    def years(text: str) -> set[int]:
        return ALGEBRA.years_met(parse(text), OPERANDS.__getitem__)

    assert years('count(filter(All, "born", =, AnyMay))') == {1990}
    assert years('filter(All, "born", =, L1990)') == set()


def test_no_value_shows_in_a_repr() -> None:
    assert "45" not in repr(outcome('max(All, "age")')) + repr(OPERANDS["L45"]) + repr(OPERANDS["V30"])


ADA, BO, CY, DEE = 1, 2, 3, 4
DRILL, SAW, LAMP, POWER, LIGHT = 11, 12, 13, 21, 22
DAYS: dict[int, FakeRecord] = {
    **dict.fromkeys((ADA, BO, CY, DEE), MEDIATOR),
    101: literal("2024-02-27", DATE),
    102: literal("2024-03-02", DATE),
    103: literal("2024-03-01", DATE),
    104: literal("2024-03", DATE),
    105: literal("2024-02-27T09:00:00", DATE),
    106: literal("2024-02-28T21:00:00", DATE),
    201: literal("7.5", NUMBER),
    202: literal("5", NUMBER),
}
LOANS = FakeGraph(
    [
        *((ADA, "taken", 101), (BO, "taken", 101), (CY, "taken", 101), (DEE, "taken", 105)),
        *((ADA, "back", 102), (BO, "back", 103), (CY, "back", 104), (DEE, "back", 106)),
        *((ADA, "paid", 201), (BO, "paid", 201), (ADA, "due", 202), (BO, "due", 201), (BO, "due", 202)),
        *((ADA, "tool", DRILL), (BO, "tool", SAW), (CY, "tool", LAMP), (DEE, "tool", LAMP)),
        *((DRILL, "sort", POWER), (SAW, "sort", POWER), (LAMP, "sort", LIGHT)),
    ],
    DAYS,
)
OF_LOANS = SetAlgebra(LOANS, LOANS)


@pytest.mark.parametrize(
    ("expression", "given"),
    [
        # March 2024 without a day is no end from which days can be counted.
        ('argmax(S, "back minus taken")', (ADA,)),
        ('max(S, "back minus taken")', Decimal(4)),
        ('average(intersect(S, T), "back minus taken")', Decimal("3.5")),
        ('max(D, "back minus taken")', Decimal("1.5")),
        ('filter(S, "back minus taken", >, 3)', (ADA,)),
        ('filter(S, "back minus taken", <, 2)', (DEE,)),
        ('sort(T, "back minus taken", ascending)', (BO, ADA)),
        # Of two values nobody says which of them counts.
        ('sum(S, "paid minus due")', Decimal("2.5")),
        ('group(S, "tool then sort")', ((POWER, 2), (LIGHT, 2))),
        ('averages(T, "tool then sort", "back minus taken")', ((POWER, Decimal("3.5")),)),
        ('sums(S, "tool then sort", "paid")', ((POWER, Decimal(15)),)),
        ('filter(S, "tool then sort", =, L)', (CY, DEE)),
        ('reach(T, "tool then sort")', (POWER,)),
    ],
)
def test_values_of_one_row_differ_and_relations_stand_in_a_row(expression: str, given: object) -> None:
    operands = {"S": (ADA, BO, CY, DEE), "T": (ADA, BO), "D": (DEE,), "L": (LIGHT,)}
    found = OF_LOANS.evaluate(parse(expression), lambda name: Operand(as_mids(operands[name])))
    assert {"set": found.mids, "number": found.number, "table": found.rows}[found.kind] == given


@pytest.mark.parametrize(
    "expression", ['max(S, "back minus due")', 'reach(S, "back minus taken")', 'pairs(S, "tool")']
)
def test_a_difference_takes_numbers_or_dates_and_is_nothing_to_reach(expression: str) -> None:
    with pytest.raises(ExpressionError):
        OF_LOANS.evaluate(parse(expression), lambda _name: Operand(as_mids([ADA, BO])))


MEMBERS = st.frozensets(st.integers(1, 12), max_size=8)


@given(MEMBERS, MEMBERS, MEMBERS)
def test_sets_obey_the_laws_of_sets(a: frozenset[int], b: frozenset[int], c: frozenset[int]) -> None:
    operands = {name: Operand(as_mids(sorted(members))) for name, members in zip("ABC", (a, b, c), strict=True)}

    def members(text: str) -> set[int]:
        return set(ALGEBRA.evaluate(parse(text), operands.__getitem__).mids)

    def count(text: str) -> int:
        return int(ALGEBRA.evaluate(parse(f"count({text})"), operands.__getitem__).number or 0)

    assert members("intersect(A, B)") == members("intersect(B, A)") == a & b
    assert members("union(A, B, C)") == members("union(C, union(B, A))") == a | b | c
    assert members("difference(A, B)") == a - b
    assert members("difference(A, union(B, C))") == members("intersect(difference(A, B), difference(A, C))")
    assert members("intersect(A, union(B, C))") == members("union(intersect(A, B), intersect(A, C))")
    assert count("union(A, B)") + count("intersect(A, B)") == count("A") + count("B")
    assert ALGEBRA.evaluate(parse("exists(A)"), operands.__getitem__).truth is bool(a)


AGES = st.dictionaries(st.integers(1, 9), st.frozensets(st.integers(-50, 50), min_size=1, max_size=3), max_size=6)
OPERATORS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


@given(AGES, st.integers(-50, 50), st.sampled_from(sorted(OPERATORS)))
def test_numbers_agree_with_plain_python(ages: dict[int, frozenset[int]], limit: int, operator: str) -> None:
    values = {number + 1000: literal(str(number), NUMBER) for number in range(-50, 51)}
    triples = [(person, "age", number + 1000) for person, numbers in ages.items() for number in numbers]
    graph = FakeGraph([*triples, (99, "age", 1000)], values)
    algebra = SetAlgebra(graph, graph)
    operands = {"A": Operand(as_mids(sorted(ages))), "L": Operand(NO_MIDS, literal=str(limit))}

    def evaluate(text: str) -> ExpressionResult:
        return algebra.evaluate(parse(text), operands.__getitem__)

    bag = [number for numbers in ages.values() for number in numbers]
    holds = OPERATORS[operator]
    assert set(evaluate(f'filter(A, "age", {operator}, L)').mids) == {
        person for person, numbers in ages.items() if any(holds(number, limit) for number in numbers)
    }
    assert evaluate('sum(A, "age")').number == (sum(bag) if bag else None)
    assert evaluate('max(A, "age")').number == (Decimal(max(bag)) if bag else None)
    assert set(evaluate('argmax(A, "age")').mids) == {p for p, numbers in ages.items() if max(bag) in numbers}
    order = evaluate('sort(A, "age", descending)').mids
    assert [max(ages[person]) for person in order] == sorted((max(each) for each in ages.values()), reverse=True)
    assert sum(count for _, count in evaluate('group(A, "age")').rows) == len(bag)


TEAM, FIRST, SECOND, THIRD = 1, 2, 3, 4


# --- rows of the corpus ----------------------------------------------------------------------------------------
TEAM, FIRST, SECOND, THIRD = 1, 2, 3, 4
DATED_TRIPLES = [
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
DATED_GRAPH = FakeGraph(DATED_TRIPLES, NODES)
DATED = {
    "Team": Operand(as_mids([TEAM])),
    "Year": Operand(as_mids([32])),
    "L2000": Operand(NO_MIDS, literal="2000"),
    "L2004": Operand(NO_MIDS, literal="2004"),
    "Final": Operand(as_mids([42])),
}
REACHED = FakeGraph(
    [
        *((ANNA, "ward", NORTH), (BEN, "ward", NORTH), (CARA, "ward", SOUTH)),
        *((ANNA, "spouse", BEN), (ANNA, "stay", 21), (21, "place", SOUTH)),
        *((ANNA, "salary", 301), (BEN, "salary", 301), (CARA, "salary", 302)),
        *((ANNA, "phone#home", 301), (ANNA, "phone#work", 302)),
    ],
    {21: MEDIATOR, 301: literal("100", ValueKind.NUMBER), 302: literal("250.5", ValueKind.NUMBER)},
)
STARTS = {"All": as_mids([ANNA, BEN, CARA]), "Anna": as_mids([ANNA]), "Ben": as_mids([BEN]), "None": NO_MIDS}


def told(algebra: SetAlgebra, text: str, operands: Mapping[str, Operand]) -> object:
    try:
        found = algebra.evaluate(parse(text), operands.__getitem__)
    except ExpressionError:
        return "refused"
    match found.kind:
        case "set":
            return found.kind, found.ordered, found.mids
        case "number":
            return found.kind, str(found.number)
        case "truth":
            return found.kind, found.truth
        case "table":
            return found.kind, [(key, str(value)) for key, value in found.rows]
    return found.kind, found.names


def parsed(text: str) -> object:
    try:
        return parse(text)
    except ExpressionError:
        return "refused"


READS: dict[str, Callable[[str], object]] = {
    "over people": lambda text: told(ALGEBRA, text, OPERANDS),
    "over dates in names": lambda text: told(SetAlgebra(DATED_GRAPH, DATED_GRAPH), text, DATED),
    "over what is reached": lambda text: told(
        SetAlgebra(REACHED, REACHED), text, {name: Operand(mids) for name, mids in STARTS.items()}
    ),
    "of one row": of_one_row,
    "outside the grammar": parsed,
}


@pytest.mark.parametrize("section", READS)
def test_expressions_give_what_their_rows_say(section: str) -> None:
    CORPUS.judge(section, READS[section])


def test_every_section_is_read() -> None:
    assert set(READS) == set(CORPUS.sections)


@pytest.mark.parametrize("text", ["union(" + ", ".join(["A"] * 60) + ")", "count(" * 60 + "A" + ")" * 60])
def test_an_expression_of_very_many_parts_is_refused(text: str) -> None:
    assert parsed(text) == "refused"
