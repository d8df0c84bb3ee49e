"""The kinds that expressions give, by the prompt and the schema."""

from __future__ import annotations

import pytest

from app.language.readings import NUMBER, TABLE, TRUTH, UNKNOWN, ResultKind
from app.reader.checks.draft_kinds import DraftKinds
from kg_store.algebra.expressions import parse
from tests.support.drafts import GRAPH, SHOWN
from tests.support.tasks import fact, thing


def of(*kinds: str) -> ResultKind:
    return ResultKind(frozenset(kinds))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Ss1aff", of("doctor", "nurse")),
        ("intersect(Ss1aff, Sd0cts)", of("doctor")),
        ("union(Sd0cts, Sward1)", of("doctor", "ward")),
        ('argmax(Sward1, "number of beds")', of("ward")),
        ('reach(Sd0cts, "works at")', of("clinic")),
        ('reach(Sd0cts, "adores")', UNKNOWN),
        ('max(Sward1, "number of beds")', ResultKind(value="number")),
        ("max(Sbeds1)", UNKNOWN),
        ("Ssm0ke", ResultKind(value="truth")),
        ("count(Ss1aff)", ResultKind(value=NUMBER)),
        ("none(Ss1aff)", ResultKind(value=TRUTH)),
        ('group(Sd0cts, "works at")', ResultKind(value=TABLE)),
        ("Sz9y8x", UNKNOWN),
    ],
)
def test_what_an_expression_gives(expression: str, expected: ResultKind) -> None:
    assert SHOWN.of(parse(expression)) == expected


def test_where_a_set_comes_from() -> None:
    assert SHOWN.lineage(["Sbeds1"]) == {"Sbeds1", "Sward1", "Ec1in1"}


def test_the_words_of_a_model_for_a_kind_tell_nothing() -> None:
    named = DraftKinds(GRAPH, [thing("Ec1in1", "clinic")], [fact("Ec1in1", "^works at", end="Ss1aff", to="physician")])
    assert named.of(parse("Ss1aff")) == of("doctor", "nurse")
