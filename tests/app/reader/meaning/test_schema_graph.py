"""A source that writes each fact twice is read once; records of facts are joined by nobody but themselves."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep
from app.reader.meaning.reading import joins_records
from app.reader.meaning.schema_graph import SchemaGraph
from tests.support.tasks import thing

STEPS = (
    SchemaStep("film", "direct cast member", "direct cast member", "human"),
    SchemaStep("film", "prop cast member|character role", "prop cast member|character role", "text", "text"),
    SchemaStep("film", "prop cast member|statement cast member", "prop cast member|statement cast member", "human"),
    SchemaStep("statement", "statement cast member", "statement cast member", "human"),
    SchemaStep("statement", "character role", "character role", "text", "text"),
)


def test_facts_that_are_written_twice_are_one_step_and_nobody_asks_of_the_nodes_they_are_written_as() -> None:
    kinds = tuple(thing(name, kind, "more") for name, kind in (("Sf1lm1", "film"), ("St1st1", "statement")))
    hops = SchemaGraph(STEPS, kinds, {}).hops
    assert [hop.label for hop in hops] == ["direct cast member", "prop cast member|character role"]


@pytest.mark.parametrize(
    ("expression", "is_wrong"),
    [
        ('reach(filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2), "direct cast member")', True),
        ('reach(filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2), "direct genre")', False),
        ('filter(Sf1lm1, "prop cast member|character role", =, Vx1yz2)', False),
    ],
)
def test_the_cast_of_a_film_in_which_somebody_played_a_part_did_not_all_play_it(
    expression: str, is_wrong: bool
) -> None:
    assert joins_records(expression) == is_wrong


LEASES = (
    SchemaStep("lease", "tenant", "tenant", "person"),
    SchemaStep("person", "^tenant", "^tenant", "lease"),
    SchemaStep("lease", "of flat", "of flat", "flat"),
    SchemaStep("flat", "^of flat", "^of flat", "lease"),
    SchemaStep("lease", "end date", "end date", "date", "date"),
    SchemaStep("flat", "^of flat|tenant", "^of flat|tenant", "person"),
    SchemaStep("flat", "owned by", "owned by", "person"),
)


@pytest.mark.parametrize(
    ("labels", "may_be_over"),
    [
        (["^of flat", "tenant"], True),
        (["^of flat|tenant"], True),
        (["owned by"], False),
        (["^of flat", "end date"], False),
        ([], False),
    ],
)
def test_what_goes_through_things_that_end_may_be_over(labels: list[str], may_be_over: bool) -> None:
    assert SchemaGraph(LEASES, (), {}).may_be_over(labels) is may_be_over


@pytest.mark.parametrize(("first", "second"), [("Ea1aaa", "Ez9zzz"), ("Ez9zzz", "Ea1aaa")])
def test_the_order_of_what_is_shared_does_not_depend_on_pseudonyms(first: str, second: str) -> None:
    graph = SchemaGraph(STEPS, (), {}, (thing(first, "film"), thing(second, "film")))
    texts = [f'reach({name}, "direct cast member")' for name in (second, first)]
    assert graph.shared(*texts, frozenset({"human"})) == f"intersect({texts[1]}, {texts[0]})"
