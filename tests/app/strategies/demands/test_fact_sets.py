"""The sets of facts that demands foresee and touch, as DCRAG defines them in section 3.3."""

from __future__ import annotations

from app.strategies.demands.fact_sets import Demand, Demands, fact_sets, selected
from kg_store.graph.public_facts import PublicFacts

FACTS = PublicFacts.of([("a", "r", "b"), ("b", "r", "a"), ("a", "r", "c"), ("d", "r", "b"), ("c", "r", "d")])
A, B, C, D = (FACTS.terms_of(each)[0] for each in "abcd")


def sets_of(queries: tuple[int, ...], topics: tuple[int, ...]) -> tuple[list[int], list[int]]:
    found = fact_sets(FACTS, Demands(explicit=Demand(queries), extended=Demand(topics)))
    return found.foreseen.tolist(), found.unforeseen.tolist()


def test_a_fact_between_a_query_and_a_topic_is_foreseen_in_either_direction() -> None:
    assert sets_of((A,), (B,)) == ([0, 1], [2, 3])


def test_a_fact_at_one_of_them_is_unforeseen() -> None:
    assert sets_of((A,), ()) == ([], [0, 1, 2])


def test_a_term_may_be_a_query_and_a_topic() -> None:
    assert sets_of((A, C), (A, C)) == ([2], [0, 1, 4])


def test_queries_and_topics_join_their_two_kinds() -> None:
    demands = Demands(Demand((A,)), Demand((B,)), Demand((C,)), Demand((D, A)))
    assert demands.queries == {A, B}
    assert demands.topics == {C, D, A}


def test_the_unforeseen_fill_up_what_the_foreseen_leave() -> None:
    assert selected([3, 1], [1, 2, 5, 7], most=4) == (3, 1, 2, 5)
