"""Steps over a graph that says what its things are: kinds bind, each word is explained, clauses are composed."""

from __future__ import annotations

import pytest

from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embedded.step import take_step
from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import Candidate, Evidence, StepInput, StepReply, Thing
from kg_store.algebra.expressions import parse
from tests.support.tasks import fact, thing, way

CLINIC, CITY, GOUT = thing("Eq7f2k", "clinic"), thing("Ez9y8x", "city"), thing("Eg0u7t", "disease")
DOCTORS, PATIENTS = thing("Sk3mmd", "doctor", "more"), thing("Sp4t1n", "patient", "more")
WARDS = thing("Sw4rd5", "ward", "more")


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


def stepped(
    scorer: PathScorer,
    question: str,
    things: list[Thing],
    evidence: list[Evidence] | None = None,
    ways: list[Candidate] | None = None,
) -> StepReply:
    given = StepInput(question=question, things=things, evidence=evidence or [], candidates=ways or [], declared=True)
    reply = take_step(scorer, given)
    for expression in reply.answer:
        parse(expression)
    return reply


def test_negation_takes_away_from_everything_of_the_kind(scorer: PathScorer) -> None:
    worked = fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor", of="clinic")
    reply = stepped(scorer, "Which doctors do not work at Eq7f2k?", [CLINIC, DOCTORS], [worked])
    assert reply.answer == ["difference(Sk3mmd, Sa1b2c)"]


def test_clauses_are_sets_of_their_own(scorer: PathScorer) -> None:
    ill = fact("Eg0u7t", "^has diagnosis", end="Si1l2l", to="patient", of="disease")
    living = fact("Ez9y8x", "^lives in", end="Sl1v2e", to="patient", of="city")
    reply = stepped(scorer, "Which patients with Eg0u7t live in Ez9y8x?", [GOUT, CITY, PATIENTS], [ill, living])
    assert reply.answer == ["intersect(Si1l2l, Sl1v2e)"]


def test_clauses_are_followed_before_they_are_combined(scorer: PathScorer) -> None:
    ways = [way(1, "Eg0u7t", "^has diagnosis", to="patient"), way(2, "Ez9y8x", "^lives in", to="patient")]
    reply = stepped(scorer, "Which patients with Eg0u7t live in Ez9y8x?", [GOUT, CITY, PATIENTS], ways=ways)
    assert (reply.action, sorted(reply.choices)) == ("follow", [1, 2])


def test_all_holds_where_nobody_is_left(scorer: PathScorer) -> None:
    worked = fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor", of="clinic")
    living = fact("Ez9y8x", "^lives in", end="Sl1v2e", to="doctor", of="city")
    reply = stepped(scorer, "Do all doctors at Eq7f2k live in Ez9y8x?", [CLINIC, CITY, DOCTORS], [worked, living])
    assert reply.answer == ["none(difference(Sa1b2c, Sl1v2e))"]


def test_an_answer_is_of_the_kind_that_is_asked_for(scorer: PathScorer) -> None:
    facts = [
        fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor, nurse", of="clinic"),
        fact("Eq7f2k", "located in", end="Ec1t2y", to="city", of="clinic"),
    ]
    reply = stepped(scorer, "Which doctors work at Eq7f2k?", [CLINIC, DOCTORS], facts)
    assert reply.answer == ["intersect(Sa1b2c, Sk3mmd)"]


def test_a_word_that_no_path_explains_is_told(scorer: PathScorer) -> None:
    located = fact("Eq7f2k", "located in", end="Ec1t2y", to="city", of="clinic")
    reply = stepped(scorer, "What is the horoscope of Eq7f2k?", [CLINIC], [located])
    assert (reply.action, reply.answer) == ("not_in_graph", [])


def test_a_number_is_nobody(scorer: PathScorer) -> None:
    paid = fact("Eq7f2k", "salary of the head nurse", end="Vp4yed", to="number", of="clinic")
    assert stepped(scorer, "Who is the head nurse of Eq7f2k?", [CLINIC], [paid]).answer == []


def test_who_does_it_is_not_whom_it_is_done_to(scorer: PathScorer) -> None:
    done = fact("Ed0c7r", "^supervised by", end="Sa1b2c", to="doctor", of="doctor")
    reply = stepped(scorer, "Who supervises Ed0c7r?", [thing("Ed0c7r", "doctor")], [done])
    assert (reply.action, reply.answer) == ("not_in_graph", [])


def test_most_counts_what_is_named(scorer: PathScorer) -> None:
    ways = [way(1, "Sp4t1n", "insured by", to="insurer"), way(2, "Sp4t1n", "date of birth", to="date")]
    reply = stepped(scorer, "Who insures the most patients?", [PATIENTS], ways=ways)
    assert reply.answer == ['most(reach(Sp4t1n, "insured by"), "^insured by")']


def test_others_are_compared_with_the_one_that_is_named(scorer: PathScorer) -> None:
    ways = [way(1, "Ew4rd5", "number of beds", to="number"), way(2, "Ew4rd5", "part of", to="clinic")]
    reply = stepped(scorer, "Which wards have fewer beds than Ew4rd5?", [thing("Ew4rd5", "ward"), WARDS], ways=ways)
    assert reply.answer == ['filter(Sw4rd5, "number of beds", <, reach(Ew4rd5, "number of beds"))']


def test_counts_of_two_things_are_compared(scorer: PathScorer) -> None:
    other = thing("Ex8y9z", "clinic")
    ways = [way(1, "Eq7f2k", "^part of", to="ward"), way(2, "Ex8y9z", "^part of", to="ward")]
    reply = stepped(scorer, "Does Eq7f2k have more wards than Ex8y9z?", [CLINIC, other, WARDS], ways=ways)
    assert reply.answer == ['exists(difference(Eq7f2k, fewest(union(Eq7f2k, Ex8y9z), "^part of")))']


def test_the_greatest_of_one_thing_is_no_answer(scorer: PathScorer) -> None:
    parent = thing("Ep4r3n", "patient")
    born = way(1, "Ep4r3n", "date of birth", to="date")
    reply = stepped(scorer, "Who is the youngest child of Ep4r3n?", [parent], ways=[born])
    assert (reply.action, reply.answer) == ("not_in_graph", [])


def test_a_graph_that_does_not_say_what_its_things_are_is_read_loosely(scorer: PathScorer) -> None:
    partner = fact("Eq7f2k", "spouse", end="Es1p2o", to="person", of="person")
    given = StepInput(
        question="Who is the other half of Eq7f2k?",
        things=[thing("Eq7f2k", "person")],
        evidence=[partner],
        candidates=[],
    )
    assert take_step(scorer, given).answer == ["Es1p2o"]
