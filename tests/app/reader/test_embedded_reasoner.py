"""The embedded reasoner: what it follows, what it answers in each form, and when it says that nothing fits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import (
    AnswerInput,
    AnswerReply,
    ChooseInput,
    ChooseReply,
    Cluster,
    NameInput,
    NameReply,
    StepInput,
    StepReply,
    StructureInput,
    StructureReply,
    Task,
    TaskKind,
    TaskModel,
)
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.prompts import ANSWER, CHOOSE, NAME, STRUCTURE
from app.strategies.sets.prompts import STEP
from kg_store.algebra.expressions import parse
from tests.support.tasks import fact, step, thing, way

TOPIC = thing("Eq7f2k", "patient")
SECOND = thing("Ez9y8x", "patient")
DOCTORS = thing("Sk3mmd", "doctor", "more")
WAYS = [
    way(1, "Eq7f2k", "treated by", to="doctor"),
    way(2, "Eq7f2k", "lives in", to="city"),
    way(3, "Eq7f2k", "date of birth", to="date"),
    way(4, "Eq7f2k", "treated by", "works at", to="clinic"),
]
TREATED = fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", of="patient")


@pytest.fixture(scope="module")
def reasoner(embedder: Embedder) -> EmbeddedReasoner:
    return EmbeddedReasoner(embedder)


async def ask(reasoner: EmbeddedReasoner, kind: TaskKind[Any], given: TaskModel) -> Any:
    task = Task(kind, given)
    return (await reasoner.reply_to(task, reasoner.egress_of(task))).value


async def stepped(reasoner: EmbeddedReasoner, given: StepInput) -> StepReply:
    """The reply to a step; whatever it answers can be parsed and executed."""
    reply = await ask(reasoner, STEP, given)
    assert isinstance(reply, StepReply)
    for expression in reply.answer:
        parse(expression)
    assert set(reply.choices) <= {candidate.number for candidate in given.candidates}
    assert (reply.action == "answer") == bool(reply.answer)
    assert (reply.action == "follow") == bool(reply.choices)
    return reply


def test_its_egress_is_the_input_alone(reasoner: EmbeddedReasoner) -> None:
    task = Task(STEP, step("who treats Eq7f2k", [TOPIC], WAYS))
    assert reasoner.statics_of(STEP) == ()
    assert json.loads(reasoner.egress_of(task).body) == task.input.model_dump()


async def test_it_follows_the_way_that_the_question_words(reasoner: EmbeddedReasoner) -> None:
    reply = await stepped(reasoner, step("Who is Eq7f2k treated by?", [TOPIC], WAYS))
    assert (reply.action, reply.choices[0]) == ("follow", 1)
    assert len(reply.choices) <= 3
    narrow = await stepped(reasoner, step("Who is Eq7f2k treated by?", [TOPIC], WAYS, width=1))
    assert narrow.choices == [1]


async def test_in_the_last_round_it_answers_with_what_it_has_or_not_at_all(reasoner: EmbeddedReasoner) -> None:
    question = "Where does the doctor of Eq7f2k work?"
    last = await stepped(reasoner, step(question, [TOPIC], (), [TREATED], last=True))
    assert last.action in ("answer", "not_in_graph")
    nothing = await stepped(reasoner, step(question, [TOPIC], (), (), last=True))
    assert nothing.action == "not_in_graph"


async def test_a_question_about_somebody_whom_the_graph_does_not_hold_is_not_answered_for_others(
    reasoner: EmbeddedReasoner,
) -> None:
    things = [thing("Vx81zp", "text"), DOCTORS]
    shown = step("Which doctors treat Vx81zp?", things, [way(1, "Sk3mmd", "^treated by", to="patient")])
    assert (await stepped(reasoner, shown)).action == "not_in_graph"


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("How many doctors is Eq7f2k treated by?", "count(Sa1b2c)"),
        ("Is Eq7f2k treated by doctors?", "exists(Sa1b2c)"),
        ("Who is Eq7f2k treated by?", "Sa1b2c"),
    ],
)
async def test_counts_and_truths_are_expressions(reasoner: EmbeddedReasoner, question: str, expression: str) -> None:
    reply = await stepped(reasoner, step(question, [TOPIC], (), [TREATED], last=True))
    assert reply.answer == [expression]


SALARY = way(5, "Sa1b2c", "monthly salary", to="number")
BORN = way(6, "Sa1b2c", "date of birth", to="date")


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What is the mean monthly salary of the doctors Eq7f2k is treated by?", 'average(Sa1b2c, "monthly salary")'),
        ("Which doctor Eq7f2k is treated by has the highest monthly salary?", 'argmax(Sa1b2c, "monthly salary")'),
        ("Who is the oldest doctor Eq7f2k is treated by?", 'argmin(Sa1b2c, "date of birth")'),
        ("Which doctors Eq7f2k is treated by have a monthly salary over Vx81zp?",
         'filter(Sa1b2c, "monthly salary", >, Vx81zp)'),
        ("When was the youngest doctor Eq7f2k is treated by born?", 'max(Sa1b2c, "date of birth")'),
    ],
)  # fmt: skip
async def test_values_are_worked_on_by_the_algebra(reasoner: EmbeddedReasoner, question: str, start: str) -> None:
    things = [TOPIC, thing("Vx81zp", "number")] if "Vx81zp" in question else [TOPIC]
    reply = await stepped(reasoner, step(question, things, [SALARY, BORN], [TREATED]))
    assert reply.answer == [start]


async def test_what_the_values_hang_on_is_walked_to_first(reasoner: EmbeddedReasoner) -> None:
    ways = [way(1, "Eq7f2k", "treated by", to="doctor"), way(2, "Eq7f2k", "treated by", "monthly salary", to="number")]
    question = "What is the average monthly salary of the doctors Eq7f2k is treated by?"
    assert (await stepped(reasoner, step(question, [TOPIC], ways))).choices == [1]


async def test_two_things_are_compared_by_a_value_of_both(reasoner: EmbeddedReasoner) -> None:
    ways = [way(number, name, "date of birth", to="date") for number, name in ((1, "Eq7f2k"), (2, "Ez9y8x"))]
    older = await stepped(reasoner, step("Who is older, Eq7f2k or Ez9y8x?", [TOPIC, SECOND], ways))
    assert older.answer == ['argmin(union(Eq7f2k, Ez9y8x), "date of birth")']
    younger = await stepped(reasoner, step("Who is younger, Eq7f2k or Ez9y8x?", [TOPIC, SECOND], ways))
    assert younger.answer == ['compare(Eq7f2k, Ez9y8x, "date of birth")']
    assert (await stepped(reasoner, step("Who is older, Eq7f2k or Ez9y8x?", [TOPIC, SECOND]))).action == "not_in_graph"


async def test_counts_per_group(reasoner: EmbeddedReasoner) -> None:
    patients = thing("Sp1q2r", "patient", "more")
    ways = [way(1, "Sp1q2r", "treated by", to="doctor"), way(2, "Sp1q2r", "lives in", to="city")]
    reply = await stepped(reasoner, step("How many patients does each doctor treat?", [patients, DOCTORS], ways))
    assert reply.answer == ['group(Sp1q2r, "treated by")']
    assert (await stepped(reasoner, step("How many patients per ward?", [patients]))).action == "not_in_graph"


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("How many doctors are there?", "count(Sk3mmd)"),
        ("Which doctors are there?", "Sk3mmd"),
        ("Please list all doctors", "Sk3mmd"),
    ],
)
async def test_a_kind_alone_is_counted_or_listed(reasoner: EmbeddedReasoner, question: str, expression: str) -> None:
    ways = [way(1, "Sk3mmd", "treats", to="patient")]
    assert (await stepped(reasoner, step(question, [DOCTORS], ways))).answer == [expression]


async def test_answers_to_yes_or_no_are_not_counted(reasoner: EmbeddedReasoner) -> None:
    ways = [way(1, "Eq7f2k", "lives in", to="city"), way(2, "Eq7f2k", "lives alone", to="yes or no")]
    assert 2 not in (await stepped(reasoner, step("How many cities does Eq7f2k live in?", [TOPIC], ways))).choices


async def test_a_thing_of_no_known_kind_may_be_what_is_asked_for(reasoner: EmbeddedReasoner) -> None:
    known = fact("Eq7f2k", "knows", end="Sa1b2c", to="thing, doctor", of="patient", size="6-20")
    counted = await stepped(reasoner, step("How many doctors does Eq7f2k know?", [TOPIC, DOCTORS], [], [known]))
    assert counted.answer == ["count(Sa1b2c)"]
    stranger = thing("Ez9y8x", "thing")
    met = await stepped(reasoner, step("Does Eq7f2k know Ez9y8x?", [TOPIC, stranger], [], [known]))
    assert met.answer == ["exists(intersect(Sa1b2c, Ez9y8x))"]


async def test_things_that_two_share_are_intersected(reasoner: EmbeddedReasoner) -> None:
    things = [TOPIC, SECOND]
    ways = [way(1, "Eq7f2k", "treated by", to="doctor"), way(2, "Ez9y8x", "treated by", to="doctor")]
    question = "Which doctors are both Eq7f2k and Ez9y8x treated by?"
    first = await stepped(reasoner, step(question, things, ways))
    assert sorted(first.choices) == [1, 2]
    facts = [TREATED, fact("Ez9y8x", "treated by", end="Sd3e4f", to="doctor", of="patient")]
    then = await stepped(reasoner, step(question, things, (), facts))
    assert [set(names) for names in [then.answer[0].removeprefix("intersect(").rstrip(")").split(", ")]] == [
        {"Sa1b2c", "Sd3e4f"}
    ]
    counted = await stepped(reasoner, step(f"How many{question[5:]}", things, (), facts))
    assert counted.answer[0].startswith("count(intersect(")
    open_end = await stepped(reasoner, step(question, things, ways, last=True))
    assert open_end.action == "not_in_graph"


async def test_whether_one_thing_leads_to_another(reasoner: EmbeddedReasoner) -> None:
    things = [TOPIC, thing("Ez9y8x", "doctor")]
    question = "Is Eq7f2k treated by Ez9y8x?"
    assert (await stepped(reasoner, step(question, things, WAYS[:3]))).choices == [1]
    reply = await stepped(reasoner, step(question, things, (), [TREATED]))
    assert reply.answer == ["exists(intersect(Sa1b2c, Ez9y8x))"]
    nowhere = await stepped(reasoner, step(question, [TOPIC, thing("Ez9y8x", "film")], WAYS[:3]))
    assert nowhere.action == "not_in_graph"


async def test_a_mixed_set_is_narrowed_to_the_kind_that_is_asked_for(reasoner: EmbeddedReasoner) -> None:
    mixed = fact("Eq7f2k", "knows", end="Sa1b2c", to="doctor, patient")
    reply = await stepped(reasoner, step("Which doctors does Eq7f2k know?", [TOPIC, DOCTORS], (), [mixed]))
    assert reply.answer == ["intersect(Sa1b2c, Sk3mmd)"]
    paid = step("What is the average monthly salary of the doctors Eq7f2k knows?", [TOPIC, DOCTORS], [SALARY], [mixed])
    assert (await stepped(reasoner, paid)).answer == ['average(intersect(Sa1b2c, Sk3mmd), "monthly salary")']


async def test_the_concept_path_of_an_earlier_round_is_kept(reasoner: EmbeddedReasoner) -> None:
    structure = await ask(
        reasoner, STRUCTURE, StructureInput(question="Who treats Eq7f2k?", dialogue=[], things=[TOPIC])
    )
    assert isinstance(structure, StructureReply)
    assert [(triple.head, triple.relation) for triple in structure.path] == [("Eq7f2k", "treats")]
    shown = step("Who treats Eq7f2k?", [TOPIC], WAYS).model_copy(update={"path": structure.path})
    assert (await stepped(reasoner, shown)).path == structure.path
    wordless = StructureInput(question="Who is it?", dialogue=[], things=[])
    assert (await ask(reasoner, STRUCTURE, wordless)).path == []


async def test_relations_are_chosen_best_first_within_the_width(reasoner: EmbeddedReasoner) -> None:
    given = ChooseInput(question="Who is Eq7f2k treated by?", path=[], candidates=WAYS, width=2)
    reply = await ask(reasoner, CHOOSE, given)
    assert isinstance(reply, ChooseReply)
    assert reply.choices[0] == 1
    assert len(reply.choices) == 2


async def test_clusters_get_concepts_by_their_relations(reasoner: EmbeddedReasoner) -> None:
    clusters = [
        Cluster(number=1, relations=["date of birth", "spouse", "children"]),
        Cluster(number=2, relations=["directed by", "starred actors", "release year"]),
        Cluster(number=3, relations=[]),
    ]
    reply = await ask(reasoner, NAME, NameInput(question="q", clusters=clusters))
    assert isinstance(reply, NameReply)
    assert [(each.number, each.concepts) for each in reply.concepts] == [
        (1, ["person"]),
        (2, ["film"]),
        (3, ["thing"]),
    ]


async def test_evidence_alone_is_sufficient_only_where_it_covers_the_question(reasoner: EmbeddedReasoner) -> None:
    def given(question: str) -> AnswerInput:
        return AnswerInput(
            question=question, dialogue=[], path=[], things=[TOPIC], evidence=[TREATED], last_round=False
        )

    enough = await ask(reasoner, ANSWER, given("Who is Eq7f2k treated by?"))
    assert isinstance(enough, AnswerReply)
    assert (enough.sufficient, enough.answer) == (True, ["Sa1b2c"])
    missing = await ask(reasoner, ANSWER, given("What is the monthly rent of the flat of Eq7f2k?"))
    assert (missing.sufficient, missing.answer) == (False, [])


async def test_what_goes_there_and_back_goes_on_without_its_topic(reasoner: EmbeddedReasoner) -> None:
    film = thing("Eq7f2k", "film")
    facts = [
        fact("Eq7f2k", "directed by", "^directed by", end="Sa1b2c", to="film", of="film"),
        fact("Sa1b2c", "has genre", end="Sd3e4f", to="genre", of="film"),
    ]
    question = "What genres are the films that share directors with Eq7f2k?"
    reply = await stepped(reasoner, step(question, [film], (), facts, last=True))
    assert reply.answer == ['reach(difference(Sa1b2c, Eq7f2k), "has genre")']
