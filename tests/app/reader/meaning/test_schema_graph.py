"""Questions over schemas of a practice, repairs, films, leases and places: what belongs together is read so."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep
from app.reader.meaning.schema_graph import SchemaGraph
from tests.support.tasks import thing


def test_the_kind_that_is_something_since_a_day_is_called_so() -> None:
    steps = [
        SchemaStep("pet owner", "client since", "client since", "date", "date"),
        SchemaStep("vet", "licensed since", "licensed since", "date", "date"),
        SchemaStep("vet", "member since", "member since", "date", "date"),
        SchemaStep("insurer", "member since", "member since", "date", "date"),
    ]
    kinds = [thing("So2o22", "pet owner", "more"), thing("Sv2v22", "vet", "more"), thing("Si2i22", "insurer", "more")]
    graph = SchemaGraph(steps, kinds)
    assert graph.kinds_said(("clients",)) == {"pet owner"}
    assert not graph.kinds_said(("members",))
    assert not graph.kinds_said(("licensed",))


FILMS = (
    SchemaStep("film", "direct cast member", "direct cast member", "human"),
    SchemaStep("film", "prop cast member|character role", "prop cast member|character role", "text", "text"),
    SchemaStep("film", "prop cast member|statement cast member", "prop cast member|statement cast member", "human"),
    SchemaStep("statement", "statement cast member", "statement cast member", "human"),
    SchemaStep("statement", "character role", "character role", "text", "text"),
)


def test_facts_that_are_written_twice_are_one_step_and_nobody_asks_of_the_nodes_they_are_written_as() -> None:
    kinds = tuple(thing(name, kind, "more") for name, kind in (("Sf1lm1", "film"), ("St1st1", "statement")))
    hops = SchemaGraph(FILMS, kinds, {}).hops
    assert [hop.label for hop in hops] == ["direct cast member", "prop cast member|character role"]


@pytest.mark.parametrize(("first", "second"), [("Ea1aaa", "Ez9zzz"), ("Ez9zzz", "Ea1aaa")])
def test_the_order_of_what_is_shared_does_not_depend_on_pseudonyms(first: str, second: str) -> None:
    graph = SchemaGraph(FILMS, (), {}, (thing(first, "film"), thing(second, "film")))
    texts = [f'reach({name}, "direct cast member")' for name in (second, first)]
    assert graph.shared(*texts, frozenset({"human"})) == f"intersect({texts[1]}, {texts[0]})"
