"""Expressions as text: what parses, what is refused, and expressions written back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.algebra import expressions
from kg_store.algebra.expressions import (
    DIRECTIONS,
    FUNCTIONS,
    OPERATORS,
    PERIODS,
    Call,
    Expression,
    Name,
    parse,
    with_relations,
    written,
)
from kg_store.errors import ExpressionError

WELL_FORMED: dict[str, Expression] = {
    "Sk3mmd": Name("Sk3mmd"),
    "  Sk3mmd  ": Name("Sk3mmd"),
    "count": Name("count"),
    "count(Sk3mmd)": Call("count", (Name("Sk3mmd"),)),
    "intersect(A,B , C)": Call("intersect", (Name("A"), Name("B"), Name("C"))),
    'sum(A, "salary")': Call("sum", (Name("A"),), ("salary",)),
    "sum(A)": Call("sum", (Name("A"),)),
    'filter(A, "born", <=, V)': Call("filter", (Name("A"), Name("V")), ("born", "<=")),
    'argmax(A, "^a|b c")': Call("argmax", (Name("A"),), ("^a|b c",)),
    'compare(A, B, "age")': Call("compare", (Name("A"), Name("B")), ("age",)),
    'limit(sort(A, "age", descending), 3)': Call(
        "limit", (Call("sort", (Name("A"),), ("age", "descending")),), ("3",)
    ),
    'group(union(A, B), "ward")': Call("group", (Call("union", (Name("A"), Name("B"))),), ("ward",)),
}


@pytest.mark.parametrize("text", WELL_FORMED)
def test_well_formed_expression_gives_its_tree(text: str) -> None:
    assert parse(text) == WELL_FORMED[text]


def test_error_does_not_repeat_the_models_words() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("explode(Anna)")
    assert "explode" not in str(caught.value)
    assert "Anna" not in str(caught.value)


def test_every_function_stands_in_the_table_that_people_read() -> None:
    rows = [line for line in (expressions.__doc__ or "").splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {3}
    assert len({len(line) for line in rows}) == 1
    assert set(re.findall(r"(\w+)\(", "".join(rows))) == set(FUNCTIONS)


def _calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda function: _call(function, inner))


def _call(function: str, inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    shape = FUNCTIONS[function]
    words = {
        "r": st.from_regex(r"\^?[a-z]{1,5}( [a-z]{1,5})?", fullmatch=True),
        "o": st.sampled_from(OPERATORS),
        "d": st.sampled_from(DIRECTIONS),
        "m": st.integers(0, 999).map(str),
        "p?": st.sampled_from(PERIODS),
    }
    operands = [inner for part in shape if part in ("s", "s*")]
    chosen = [words[part] for part in shape if part in words]
    return st.builds(Call, st.just(function), st.tuples(*operands), st.tuples(*chosen))


TREES = st.recursive(
    st.from_regex(r"[A-Z][a-z0-9]{2,5}", fullmatch=True)
    .filter(lambda word: word not in (*DIRECTIONS, *PERIODS))
    .map(Name),
    _calls,
    max_leaves=6,
)


def _written(expression: Expression) -> str:
    if isinstance(expression, Name):
        return expression.pseudonym
    operands, words = list(expression.operands), list(expression.words)
    parts = []
    for part in FUNCTIONS[expression.function]:
        if part in ("s", "s*"):
            parts.append(_written(operands.pop(0)))
        elif words:
            word = words.pop(0)
            parts.append(f'"{word}"' if part in ("r", "r?") else word)
    return f"{expression.function}({', '.join(parts)})"


@given(TREES)
def test_what_is_written_parses_back_to_the_same_tree(tree: Expression) -> None:
    text = _written(tree)
    if len(re.findall(r'"[^"]*"|\w+|[<>=!]+|[(),]', text)) <= 80:
        assert parse(text) == tree


@given(st.text(alphabet=st.sampled_from('ABcount(),"<>=!123 ^|sum'), max_size=30))
def test_any_text_parses_or_raises_the_one_error(text: str) -> None:
    try:
        parse(text)
    except ExpressionError:
        return


def test_each_relation_is_joined_by_those_of_the_same_words_and_values_are_left() -> None:
    further = {"^written by": ("^written_by",), "release year": ("release_year",)}
    found = with_relations(parse('argmax(reach(Ea1b2c, "^written by"), "release year")'), further)
    both = 'union(reach(Ea1b2c, "^written by"), reach(Ea1b2c, "^written_by"))'
    assert written(found) == f'argmax({both}, "release year")'
