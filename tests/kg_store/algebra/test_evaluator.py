"""The set algebra on small graphs: sets, numbers, tables, dates in names, and what relations reach."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.algebra.expressions import ExpressionResult, Operand, parse
from kg_store.errors import ExpressionError
from kg_store.terms import NO_MIDS, Edges, ValueKind, as_mids
from tests.support.algebra_fakes import MEDIATOR, FakeGraph, FakeRecord, literal

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
    "LText": Operand(NO_MIDS, literal="TYPE-A"),
    "LWord": Operand(NO_MIDS, literal="soon"),
    "L30Both": Operand(as_mids([101]), literal="30"),
}


def outcome(text: str) -> ExpressionResult:
    return ALGEBRA.evaluate(parse(text), OPERANDS.__getitem__)


SETS = {
    "All": (1, 2, 3, 4, 5),
    "None": (),
    "L45": (),
    "intersect(Some, Others)": (BEN,),
    "intersect(Some, None)": (),
    "union(Some, Others)": (ANNA, BEN, CARA),
    "difference(Some, Others)": (ANNA,),
    # filter: numbers
    'filter(All, "age", >, V30)': (BEN,),
    'filter(All, "age", >=, V30)': (ANNA, BEN, CARA),
    'filter(All, "age", =, V30)': (ANNA, CARA),
    'filter(All, "age", !=, V30)': (BEN, DAN),
    'filter(All, "salary", >, L45)': (ANNA, BEN),
    'filter(All, "salary", <, filter(None, "age", =, V30))': (),
    'filter(All, "age", >, average(All, "age"))': (BEN,),
    'filter(All, "age", <, BareAges)': (ANNA, CARA),
    'filter(All, "age", >, 40)': (BEN,),
    'counted(All, "treats", >=, 2, Others)': (ANNA,),
    'counted(Some, "treats", =, 0, Cara)': (BEN,),
    'filter(Eve, "age", <, L45)': (),
    # filter: dates, at the precision that both share
    'filter(All, "born", =, L1990)': (ANNA, CARA),
    'filter(All, "born", >, LMay)': (CARA,),
    'filter(All, "born", =, L1980s)': (BEN,),
    'filter(All, "born", >, Born90)': (CARA,),
    # filter: text and truth equal or differ
    'filter(All, "blood", =, LText)': (ANNA, BEN),
    'filter(All, "blood", !=, LText)': (CARA,),
    'filter(All, "active", =, Yes)': (ANNA,),
    # filter: entities
    'filter(All, "ward", =, North)': (ANNA, BEN, EVE),
    'filter(All, "ward", !=, None)': (ANNA, BEN, CARA, DAN, EVE),
    'filter(All, "treats", =, Others)': (ANNA, DAN),
    'filter(All, "^treats", =, Anna)': (BEN, CARA),
    # relations through a mediator, and relations that share their words
    'filter(All, "stay|place", =, North)': (ANNA,),
    'filter(All, "stay|nights", =, L45)': (),
    'filter(All, "ward|age", =, V30)': (),
    'filter(All, "phone", >, L45)': (ANNA, BEN),
    # extremes
    'argmax(All, "age")': (BEN,),
    'argmin(All, "age")': (ANNA, CARA),
    'argmax(All, "salary")': (ANNA,),
    'argmin(All, "born")': (BEN,),
    'argmax(Eve, "age")': (),
    'max(All, "born")': (203,),
    "max(Dates)": (203,),
    'max(Eve, "age")': (),
    "average(None)": (),
    'sum(None, "age")': (),
    # compare
    'compare(Anna, Ben, "age")': (BEN,),
    'compare(Anna, Cara, "age")': (ANNA, CARA),
    'compare(Anna, Eve, "age")': (),
    # order
    'sort(All, "age", ascending)': (ANNA, CARA, BEN, DAN, EVE),
    'sort(All, "age", descending)': (BEN, ANNA, CARA, DAN, EVE),
    'sort(Some, "salary", ascending)': (ANNA, BEN),
    'sort(All, "born", ascending)': (BEN, ANNA, CARA, DAN, EVE),
    'limit(sort(All, "age", descending), 2)': (BEN, ANNA),
    'limit(sort(All, "age", descending), 99)': (BEN, ANNA, CARA, DAN, EVE),
    "limit(All, 0)": (),
    'intersect(sort(All, "age", descending), Some)': (BEN, ANNA),
    'filter(sort(All, "age", descending), "ward", =, North)': (BEN, ANNA, EVE),
    'union(group(All, "ward"), None)': (NORTH, SOUTH),
    'most(Wards, "^ward", "age")': (NORTH,),
    'fewest(Wards, "^ward", "age")': (SOUTH,),
    'most(All, "treats")': (ANNA,),
    'fewest(All, "treats")': (BEN, CARA, EVE),
    'most(None, "treats")': (),
    'most(Wards, "^ward")': (NORTH,),
    # of a second set alone
    'most(Wards, "^ward", Cara)': (SOUTH,),
    'fewest(Wards, "^ward", Cara)': (NORTH,),
    'most(Wards, "^ward", None)': (),
    # what is false is left out
    'having(All, "active")': (ANNA,),
    'having(All, "treats")': (ANNA, DAN),
    'minus(reach(Ben, "age"), reach(Eve, "age"))': (),
}


@pytest.mark.parametrize("text", SETS)
def test_expression_gives_a_set(text: str) -> None:
    result = outcome(text)
    assert (result.kind, result.mids) == ("set", SETS[text])


NUMBERS = {
    "count(All)": "5",
    "count(None)": "0",
    "count(L45)": "0",
    'count(group(All, "ward"))': "2",
    'sum(All, "age")': "105.5",
    'average(Some, "salary")': "200.1667",
    # a value counts for each mediator that it is reached by
    'average(All, "stay|nights")': "17.75",
    'sum(All, "stay|nights")': "71",
    'max(All, "age")': "45.5",
    "sum(Ages)": "135.5",
    "average(Ages)": "33.875",
    "sum(BareAges)": "105.5",
    "sum(intersect(Ages, V30))": "60",
    "sum(union(Ages, BareAges))": "241",
    "sum(limit(Ages, 1))": "60",
    'minus(reach(Ben, "age"), reach(Anna, "age"))': "15.5",
    "minus(count(Some), count(All))": "-3",
    'minus(reach(Anna, "born"), reach(Ben, "born"))': "5",
    'minus(reach(Cara, "born"), Born90)': "0",
}


@pytest.mark.parametrize("text", NUMBERS)
def test_expression_gives_a_number(text: str) -> None:
    result = outcome(text)
    assert (result.kind, str(result.number), result.mids) == ("number", NUMBERS[text], ())


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("exists(All)", True),
        ("exists(None)", False),
        ('exists(filter(All, "age", >, L1990))', False),
        ("outnumbers(All, Some)", True),
        ("outnumbers(Some, Others)", False),
        ("outnumbers(Some, All)", False),
        ("none(None)", True),
        ("none(All)", False),
        ('holds(reach(Anna, "active"))', True),
        ('holds(reach(Ben, "active"))', False),
    ],
)
def test_expression_gives_a_truth(text: str, truth: bool) -> None:
    assert outcome(text) == ExpressionResult("truth", truth=truth)


def test_group_gives_counts_the_largest_first() -> None:
    rows = ((NORTH, 3), (SOUTH, 2))
    assert outcome('group(All, "ward")') == ExpressionResult("table", (NORTH, SOUTH), ordered=True, rows=rows)
    assert outcome('group(Others, "^treats")').rows == ((ANNA, 2), (DAN, 1))
    assert outcome('group(None, "ward")').rows == ()
    assert outcome('limit(group(All, "ward"), 1)').rows == ((NORTH, 3),)


def test_values_are_added_up_and_averaged_per_group() -> None:
    assert outcome('sums(All, "ward", "age")').rows == ((NORTH, Decimal("75.5")), (SOUTH, Decimal(30)))
    assert outcome('averages(All, "ward", "age")').rows == ((NORTH, Decimal("37.75")), (SOUTH, Decimal(30)))
    assert outcome('sums(All, "blood", "age")').rows[0] == (402, Decimal("45.5"))


def test_the_kind_of_things_is_a_word_of_the_schema() -> None:
    assert outcome("kind(All)") == ExpressionResult("kinds", names=("entity",))
    assert outcome("kind(None)").names == ()


def test_dates_are_grouped_by_year_and_month_in_order_of_time() -> None:
    assert outcome('group(All, "born", year)').rows == (("1985", 1), ("1990", 2))
    assert outcome('group(All, "born", month)').rows == (("1990-05", 1), ("1990-07", 1))
    assert outcome('sums(All, "born", "age", year)').rows == (("1985", Decimal("45.5")), ("1990", Decimal(60)))
    assert outcome('group(All, "born", year)').mids == ()


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("All", False),
        ('sort(All, "age", ascending)', True),
        ('limit(sort(All, "age", ascending), 2)', True),
        ('argmax(All, "age")', False),
        ('union(sort(All, "age", ascending), Some)', False),
    ],
)
def test_outcome_says_whether_its_order_means_something(text: str, ordered: bool) -> None:
    assert outcome(text).ordered is ordered


@pytest.mark.parametrize(
    "text",
    [
        'sums(All, "ward", "born")',
        'group(All, "ward", year)',
        'count(group(All, "born", year))',
        'minus(reach(All, "age"), V30)',
        "minus(All, V30)",
        'filter(All, "height", =, V30)',
        'filter(All, "stay|height", =, V30)',
        'sum(All, "")',
        'filter(All, "ward", <, North)',
        'filter(All, "age", <, LWord)',
        'filter(All, "age", <, Born90)',
        'filter(All, "age", =, exists(Some))',
        'argmax(All, "ward")',
        'sort(All, "ward", ascending)',
        "sum(All)",
        'sum(All, "born")',
        'average(All, "born")',
        "max(Texts)",
        "count(count(All))",
        "union(All, exists(All))",
        'compare(Anna, Ben, "blood")',
    ],
)
def test_operands_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        outcome(text)


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


def test_no_value_shows_in_a_repr() -> None:
    assert "45" not in repr(outcome('max(All, "age")')) + repr(OPERANDS["L45"]) + repr(OPERANDS["V30"])


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


def dated_mids(text: str) -> tuple[int, ...]:
    return SetAlgebra(DATED_GRAPH, DATED_GRAPH).evaluate(parse(text), DATED.__getitem__).mids


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
    assert dated_mids(text) == found


@pytest.mark.parametrize("text", ['max(reach(Team, "lost"))', 'argmax(Team, "met")', 'filter(Team, "lost", <, L2000)'])
def test_a_year_in_some_of_the_names_makes_no_dates(text: str) -> None:
    with pytest.raises(ExpressionError):
        dated_mids(text)
