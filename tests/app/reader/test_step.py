"""Steps over a graph that says what its things are: kinds bind, each word is explained, clauses are combined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.llm.tasks import Candidate, Evidence, SchemaStep, StepInput, StepReply, Thing
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.read_meaning import meanings
from app.reader.scoring.path_scoring import PathScorer
from app.reader.step import take_step
from kg_store.algebra.expressions import parse
from tests.support.tasks import fact, step, thing, way

CLINIC, CITY, GOUT = thing("Eq7f2k", "clinic"), thing("Ez9y8x", "city"), thing("Eg0u7t", "disease")
DOCTORS, PATIENTS = thing("Sk3mmd", "doctor", "more"), thing("Sp4t1n", "patient", "more")
WARDS = thing("Sw4rd5", "ward", "more")
RELATIONS = [
    ("doctor", "works at", "clinic"),
    ("nurse", "works at", "clinic"),
    ("doctor", "supervised by", "doctor"),
    ("doctor", "lives in", "city"),
    ("patient", "lives in", "city"),
    ("patient", "has diagnosis", "disease"),
    ("patient", "insured by", "insurer"),
    ("patient", "parents", "patient"),
    ("clinic", "located in", "city"),
    ("ward", "part of", "clinic"),
]
VALUES = [
    ("patient", "date of birth", "date"),
    ("ward", "number of beds", "number"),
    ("clinic", "salary of the head nurse", "number"),
]


def schema() -> Iterator[SchemaStep]:
    """Each step once for each kind that has it, with all kinds that it leads to."""
    steps = [*RELATIONS, *((end, f"^{label}", kind) for kind, label, end in RELATIONS)]
    for kind, label in dict.fromkeys(each[:2] for each in steps):
        ends = sorted(end for of, on, end in steps if (of, on) == (kind, label))
        yield SchemaStep(kind, label, label, ", ".join(ends))
    yield from (SchemaStep(kind, label, label, value, value) for kind, label, value in VALUES)


STEPS = tuple(schema())
NAMES = {"doctor": "Sk3mmd", "patient": "Sp4t1n", "ward": "Sw4rd5", "clinic": "Sc1n1c", "city": "Sc1t1y"}
OTHERS = {"nurse": "Sn1r2s", "disease": "Sd1s2s", "insurer": "Si1n2s"}
KINDS = tuple(thing(name, kind, "more") for kind, name in (NAMES | OTHERS).items())


def stepped(
    scorer: PathScorer,
    question: str,
    things: list[Thing],
    evidence: list[Evidence] | None = None,
    ways: list[Candidate] | None = None,
) -> StepReply:
    leaving = {kind: tuple(step.label for step in STEPS if step.kind == kind) for kind in NAMES | OTHERS}
    given = StepInput(
        question=question, things=things, evidence=evidence or [], candidates=ways or [], steps=STEPS, kinds=KINDS,
        own={each.name: leaving[each.concept] for each in things if each.name[0] == "E"},
    )  # fmt: skip
    reply = take_step(scorer, given).value
    for expression in reply.answer:
        parse(expression)
    return reply


def test_negation_takes_away_from_everything_of_the_kind(scorer: PathScorer) -> None:
    worked = fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor", of="clinic")
    reply = stepped(scorer, "Which doctors do not work at Eq7f2k?", [CLINIC, DOCTORS], [worked])
    assert reply.answer == ["difference(Sk3mmd, Sa1b2c)"]


def test_clauses_are_followed_before_they_are_combined(scorer: PathScorer) -> None:
    ways = [way(1, "Eg0u7t", "^has diagnosis", to="patient"), way(2, "Ez9y8x", "^lives in", to="patient")]
    reply = stepped(scorer, "Which patients with Eg0u7t live in Ez9y8x?", [GOUT, CITY, PATIENTS], ways=ways)
    assert (reply.action, sorted(reply.choices)) == ("follow", [1, 2])


def test_an_answer_is_of_the_kind_that_is_asked_for(scorer: PathScorer) -> None:
    facts = [
        fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor, nurse", of="clinic"),
        fact("Eq7f2k", "located in", end="Ec1t2y", to="city", of="clinic"),
    ]
    reply = stepped(scorer, "Which doctors work at Eq7f2k?", [CLINIC, DOCTORS], facts)
    assert reply.answer == ["intersect(Sa1b2c, Sk3mmd)"]


def test_a_number_is_nobody(scorer: PathScorer) -> None:
    paid = fact("Eq7f2k", "salary of the head nurse", end="Vp4yed", to="number", of="clinic")
    assert stepped(scorer, "Who is the head nurse of Eq7f2k?", [CLINIC], [paid]).answer == []


def test_who_does_it_is_not_whom_it_is_done_to(scorer: PathScorer) -> None:
    done = fact("Ed0c7r", "^supervised by", end="Sa1b2c", to="doctor", of="doctor")
    reply = stepped(scorer, "Who supervises Ed0c7r?", [thing("Ed0c7r", "doctor")], [done])
    assert reply.answer == ['reach(Ed0c7r, "supervised by")']


def test_most_counts_what_is_named(scorer: PathScorer) -> None:
    reply = stepped(scorer, "Who insures the most patients?", [PATIENTS])
    assert reply.answer == ['most(reach(Sp4t1n, "insured by"), "^insured by")']


def test_the_most_common_is_what_a_relation_leads_to_most(scorer: PathScorer) -> None:
    reply = stepped(scorer, "What is the most common diagnosis?", [])
    assert reply.answer == ['most(reach(Sp4t1n, "has diagnosis"), "^has diagnosis")']


@pytest.mark.parametrize(("is_one", "counted"), [(False, ["^of", "^works at"]), (True, ["^works at"])])
def test_nobody_counts_what_each_has_one_of(scorer: PathScorer, is_one: bool, counted: list[str]) -> None:
    led = SchemaStep("clinic", "^of", "^of", "doctor", is_one=is_one)
    steps = (led, SchemaStep("clinic", "^works at", "^works at", "doctor"))
    given = StepInput(
        question="Which clinic has the most doctors?", things=[], evidence=[], candidates=[], steps=steps, kinds=KINDS
    )
    found = {
        LABEL.findall(each.expression)[0]
        for each in next(meanings(scorer, given)).ranked
        if "most(" in each.expression
    }
    assert sorted(found) == counted


def test_counts_of_two_things_are_compared(scorer: PathScorer) -> None:
    other = thing("Ex8y9z", "clinic")
    reply = stepped(scorer, "Does Eq7f2k have more wards than Ex8y9z?", [CLINIC, other, WARDS])
    wards = [f'reach({name}, "^part of")' for name in ("Eq7f2k", "Ex8y9z")]
    assert reply.answer == [f"outnumbers({', '.join(wards)})"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many doctors work at Eq7f2k, and who?", ["count({})", "{}"]),
        ("How many doctors work at Eq7f2k and which ones?", ["count({})", "{}"]),
        ("Which doctors work at Eq7f2k, and how many?", ["{}", "count({})"]),
        ("Which doctors work at Eq7f2k and how many are there?", ["{}", "count({})"]),
        ("Which doctors work at Eq7f2k?", ["{}"]),
    ],
)
def test_members_and_their_number_are_asked_for_in_one(scorer: PathScorer, question: str, answer: list[str]) -> None:
    worked = fact("Eq7f2k", "^works at", end="Sa1b2c", to="doctor", of="clinic")
    reply = stepped(scorer, question, [CLINIC, DOCTORS], [worked])
    assert reply.answer == [each.format("intersect(Sa1b2c, Sk3mmd)") for each in answer]


def test_of_those_that_have_the_most_it_is_told_how_many_they_have(scorer: PathScorer) -> None:
    reply = stepped(scorer, "Who insures the most patients, and how many?", [PATIENTS])
    insures = 'most(reach(Sp4t1n, "insured by"), "^insured by")'
    assert reply.answer == [insures, f'count(reach({insures}, "^insured by"))']


def test_a_graph_that_does_not_say_what_its_things_are_is_read_loosely(scorer: PathScorer) -> None:
    partner = fact("Eq7f2k", "spouse", end="Es1p2o", to="person", of="person")
    given = step("Who is the other half of Eq7f2k?", [thing("Eq7f2k", "person")], evidence=[partner])
    assert take_step(scorer, given).value.answer == ["Es1p2o"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("All children of Eq7f2k except Ez9y8x", ["difference(Sc1h2d, Ez9y8x)"]),
        ("How many children does Eq7f2k have besides Ez9y8x?", ["count(difference(Sc1h2d, Ez9y8x))"]),
        ("Which persons are not children of Eq7f2k?", []),
        ("Is Ez9y8x older than Eq7f2k except Ea1b2c?", []),
    ],
)
def test_there_what_is_named_is_left_out_and_nothing_is_negated(
    scorer: PathScorer, question: str, answer: list[str]
) -> None:
    had = fact("Eq7f2k", "children", end="Sc1h2d", to="person", of="person")
    people = [thing(name, "person") for name in ("Eq7f2k", "Ez9y8x", "Ea1b2c") if name in question]
    reply = take_step(scorer, step(question, people, evidence=[had])).value
    assert reply.answer == answer
    assert reply.action == ("answer" if answer else "not_in_graph")
