"""Places, facts and candidates: sizes in buckets, one thing alone as itself, orders that tell nothing."""

from __future__ import annotations

import random

import pytest

from app.llm.embedded.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import StrategyInput
from app.strategies.retrieval import (
    CandidatePath,
    NodeSet,
    arrive,
    bucket,
    show_candidates,
    show_dialogue,
    show_evidence,
    show_things,
)
from kg_store.graph.traversal import concept_of, kind_of, steps_from
from kg_store.terms import NodeKind
from tests.support.asking import Asked, Bench


@pytest.fixture
def inquiry(asked: Asked, embedded: EmbeddedReasoner) -> StrategyInput:
    return asked.inquiry(embedded, "Who is Zofia Quarrel treated by?")


def place(asked: Asked, *names: str) -> NodeSet:
    mids = asked.mids(*names)
    word = asked.table.of_entity(mids[0]) if len(mids) == 1 else asked.table.of_group(mids)
    return NodeSet(word, mids, concept_of(asked.graph.blind, mids), kind_of(asked.graph.blind, mids))


def gone(asked: Asked, inquiry: StrategyInput, start: NodeSet, *labels: str) -> NodeSet:
    found = arrive(inquiry, CandidatePath(start, tuple(asked.step(label) for label in labels)))
    assert found is not None
    reached, fact = found
    assert (fact.start, fact.path, fact.end) == (start.pseudonym, labels, reached.pseudonym)
    assert fact.size == bucket(len(reached.mids))
    return reached


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "1"), (1, "1"), (2, "2-5"), (5, "2-5"), (6, "6-20"), (20, "6-20"), (21, "more"), (10**6, "more")],
)
def test_a_size_is_shown_as_a_bucket(count: int, shown: str) -> None:
    assert bucket(count) == shown


def test_one_thing_is_shown_as_itself_and_several_as_a_set(asked: Asked, inquiry: StrategyInput) -> None:
    doctor = gone(asked, inquiry, place(asked, "Zofia Quarrel"), "treated by")
    assert (doctor.pseudonym[0], doctor.kind, doctor.concept) == ("E", NodeKind.ENTITY, "doctor")
    assert doctor.pseudonym == asked.table.of_entity(asked.mids("Ottoline Brackwater")[0])
    both = gone(asked, inquiry, place(asked, "Aurelio Vantongeren"), "treated by")
    assert both.pseudonym[0] == "S"
    assert asked.names(both.pseudonym) == {"Ottoline Brackwater", "Ptolemy Ashgrove"}


def test_one_value_is_a_value_but_one_that_several_share_is_a_set(asked: Asked, inquiry: StrategyInput) -> None:
    assert gone(asked, inquiry, place(asked, "Zofia Quarrel"), "date of birth").pseudonym[0] == "V"
    shared = gone(asked, inquiry, place(asked, "Zofia Quarrel", "Aurelio Vantongeren"), "lives in")
    assert (shared.pseudonym[0], len(shared.mids)) == ("S", 1)


def test_mediators_are_walked_through(asked: Asked, inquiry: StrategyInput) -> None:
    wards = gone(asked, inquiry, place(asked, "Zofia Quarrel"), "has admission|admitted to")
    assert asked.names(wards.pseudonym) == {"Kestrel Wing", "Gyrfalcon Wing"}


def test_the_same_way_gives_the_same_pseudonym_and_a_way_to_nowhere_none(asked: Asked, inquiry: StrategyInput) -> None:
    start = place(asked, "Aurelio Vantongeren")
    assert gone(asked, inquiry, start, "treated by").pseudonym == gone(asked, inquiry, start, "treated by").pseudonym
    assert arrive(inquiry, CandidatePath(start, (asked.step("has admission|admitted to"),))) is None


def test_evidence_has_the_conversations_order_however_it_was_found(
    asked: Asked, inquiry: StrategyInput, bench: Bench, embedded: EmbeddedReasoner
) -> None:
    start = place(asked, "Zofia Quarrel")
    ways = [CandidatePath(start, (step,)) for step in steps_from(asked.graph.blind, start.mids)]
    facts = [found[1] for way in ways if (found := arrive(inquiry, way)) is not None]
    assert len(facts) > 5
    shown = show_evidence(inquiry, facts)
    for seed in range(5):
        assert show_evidence(inquiry, random.Random(seed).sample(facts, len(facts))) == shown
    orders = set()
    for _ in range(4):
        other = bench.asked()
        again = other.inquiry(embedded, "Who is Zofia Quarrel treated by?")
        orders.add(tuple(tuple(fact.path) for fact in show_evidence(again, facts)))
    assert len(orders) > 1


def test_candidates_are_numbered_in_the_conversations_order_and_carry_no_size(
    asked: Asked, inquiry: StrategyInput
) -> None:
    start = place(asked, "Zofia Quarrel")
    ways = [CandidatePath(start, (step,)) for step in steps_from(asked.graph.blind, start.mids)]
    candidates, by_number = show_candidates(inquiry, ways)
    assert [each.number for each in candidates] == list(range(1, len(ways) + 1))
    again, _ = show_candidates(inquiry, ways[::-1])
    assert again == candidates
    for each in candidates:
        assert each.path == [asked.graph.blind.schema.label_step(by_number[each.number].path[0])]
        assert not hasattr(each, "size")
    assert {("treated by", "doctor"), ("lives in", "city"), ("has admission|admitted to", "ward")} <= {
        (each.path[0], each.concept) for each in candidates
    }


def test_things_and_turns_are_shown_without_the_question(asked: Asked, embedded: EmbeddedReasoner) -> None:
    inquiry = asked.inquiry(embedded, "Who is Zofia Quarrel?", "It is so.", "And where does she live?")
    assert [(turn.role, "Zofia" in turn.text) for turn in show_dialogue(inquiry)] == [
        ("user", False), ("assistant", False),
    ]  # fmt: skip
    (thing,) = show_things(inquiry, [place(asked, "Zofia Quarrel")])
    assert (thing.concept, thing.size) == ("patient", "1")
