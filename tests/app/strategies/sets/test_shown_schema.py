"""A model that can write answers is shown the schema, whole or as far as it is near, and one call answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.egress.disclosure import Profile
from app.egress.guarded_reasoner import PseudonymSubstitution
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.closed_schemas import labels_in, words_offered
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.tasks import SchemaStep, Task
from app.strategies.base import RetrievalResult
from app.strategies.sets.prompts import STEP_IN_GRAPH
from app.strategies.sets.strategy import SetsStrategy
from app.strategies.shown_schema import nearest_part
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.algebra.expressions import ExpressionResult
from kg_store.terms import NodeKind
from tests.support.asking import Bench, plan_along, secrets_in
from tests.support.processes.model_server import Canned, Request, reply
from tests.support.talk import Talk
from tests.support.tasks import step, thing

QUESTION = "Which wards was Zofia Quarrel admitted to?"


async def found_for(talk: Talk, question: str = QUESTION, profile: Profile = Profile.KIND) -> RetrievalResult:
    return await SetsStrategy(talk.embedder).find(talk.asked.inquiry(talk.model, question, profile=profile))


def nothing(_request: Request) -> Canned:
    return reply({"action": "not_in_graph"})


def shown_in(talk: Talk) -> list[dict[str, Any]]:
    """Returns the input of each prompt as it was sent."""
    return [json.loads(request.block) for request in talk.server.received]


@pytest.mark.parametrize(
    ("question", "path", "walked"),
    [
        (QUESTION, ["has admission|admitted to"], 'reach({}, "has admission|admitted to")'),
        ("Whose doctor does Zofia Quarrel's spouse see?", ["married to", "treated by", "^treated by"],
         'reach(reach(reach({}, "married to"), "treated by"), "^treated by")'),
    ],
)  # fmt: skip
async def test_one_call_answers_by_the_graph(
    bench: Bench, embedder: Embedder, question: str, path: list[str], walked: str
) -> None:
    with ScriptedEndpoint() as scripted:
        scripted.expect(plan_along(path), question)
        endpoint = ModelEndpoint(scripted.url, "scripted", deadline_s=20)
        model = PromptedReasoner(endpoint, embedder)
        asked = bench.asked(model)
        inquiry = asked.inquiry(model, question, profile=Profile.KIND)
        finding = await SetsStrategy(embedder).find(inquiry)
        await endpoint.close()
    assert finding.draft is not None
    assert finding.draft.expressions == (walked.format(inquiry.dialogue.topics[0].pseudonym),)
    assert (finding.rounds, len(scripted.received), scripted.contract_breaks) == (1, 1, [])
    assert secrets_in(scripted.received[0].head + scripted.received[0].body) == []


async def test_a_prompt_shows_every_kind_with_its_relations_and_no_candidate(talk: Talk) -> None:
    talk.server.replies = nothing
    finding = await found_for(talk)
    (given,) = shown_in(talk)
    assert "treated by: doctor" in given["graph"]["patient"]
    assert "^treated by: patient" in given["graph"]["doctor"]
    assert "candidates" not in given
    assert set(given["graph"]) <= {line.partition(": ")[2] for line in given["things"]}
    assert (finding.draft, finding.rounds) == (None, 1)


@pytest.mark.parametrize("profile", [Profile.OPEN, Profile.STRICT])
async def test_other_profiles_show_candidates(talk: Talk, profile: Profile) -> None:
    talk.server.replies = nothing
    await found_for(talk, profile=profile)
    assert shown_in(talk)[0]["candidates"]
    assert all("graph" not in given for given in shown_in(talk))


async def test_the_schema_says_the_same_whatever_thing_is_named(talk: Talk) -> None:
    """Aurelio Vantongeren was never admitted, Zofia Quarrel was."""
    talk.server.replies = nothing
    await found_for(talk)
    await found_for(talk, "Which wards was Aurelio Vantongeren admitted to?")
    first, second = shown_in(talk)
    assert first["graph"] == second["graph"]


async def test_of_a_larger_schema_the_part_near_the_question_is_shown(talk: Talk) -> None:
    """It is the same whether the person named was admitted or not."""
    talk.server.replies = nothing
    for name in ("Zofia Quarrel", "Aurelio Vantongeren"):
        question = f"Which wards was {name} admitted to?"
        await SetsStrategy(talk.embedder, max_shown=8).find(
            talk.asked.inquiry(talk.model, question, profile=Profile.KIND)
        )
    first, *_, second = [given for given in shown_in(talk) if "graph" in given]
    assert first["graph"] == second["graph"]
    assert sum(map(len, first["graph"].values())) <= 8
    assert any(line.startswith("has admission") for line in first["graph"]["patient"])
    kinds = {line.partition(": ")[2] for line in first["things"] if line[0] == "S"}
    assert kinds <= set(first["graph"])


async def test_what_is_not_in_that_part_is_looked_for_among_all(talk: Talk) -> None:
    talk.server.replies = nothing
    inquiry = talk.asked.inquiry(talk.model, QUESTION, profile=Profile.KIND)
    await SetsStrategy(talk.embedder, max_shown=4).find(inquiry)
    assert [("graph" in given, "candidates" in given) for given in shown_in(talk)][:2] == [
        (True, False),
        (False, True),
    ]


def test_what_leads_to_a_step_comes_before_it() -> None:
    town, owner, owners, pets = (
        SchemaStep(kind, label, label, concept)
        for kind, label, concept in (
            ("person", "lives in", "town"),
            ("pet", "belongs to", "person"),
            ("person", "^belongs to", "pet, horse"),
            ("vet", "treats", "pet"),
        )
    )
    assert nearest_part([town, pets, owners, owner], {"pet"}, 4) == [owner, town, pets, owners]
    assert nearest_part([town, owner], {"pet"}, 1) == []


def test_masks_have_the_conversations_words_in_it() -> None:
    given = step("Who treats Eq7f2k?", [thing("Eq7f2k", "patient")], (), []).model_copy(
        update={"graph": {"patient": ["Rk3m2a: doctor"], "Rc4d5e": ["^Rk3m2a: patient"]}}
    )
    sent = PseudonymSubstitution({"Rk3m2a": "Rz9y8x", "Rc4d5e": "Rx7w6v"}).substitute_in(Task(STEP_IN_GRAPH, given))
    shown = sent.input.model_dump()["graph"]
    assert shown == {"patient": ["Rz9y8x: doctor"], "Rx7w6v": ["^Rz9y8x: patient"]}
    assert labels_in(shown) == ["Rz9y8x", "^Rz9y8x"]
    assert {"Eq7f2k", "Rz9y8x", "^Rz9y8x"} <= set(words_offered(sent.input))  # type: ignore[arg-type]


async def test_a_relation_that_a_model_leaves_open_is_found_in_the_graph(talk: Talk) -> None:
    def doctors_of_topic(request: Request) -> Canned:
        things = json.loads(request.block)["things"]
        doctors = next(line[:6] for line in things if line[0] == "S" and line.endswith(": doctor"))
        return reply({"action": "answer", "answer": [f"having({doctors}, {things[0][:6]})"]})

    def result_of(expression: str) -> ExpressionResult | None:
        return ExpressionResult("set", (1,)) if '"^treated by", =' in expression else None

    talk.server.replies = doctors_of_topic
    inquiry = talk.asked.inquiry(talk.model, "Which doctor has Zofia Quarrel?", profile=Profile.KIND)
    finding = await SetsStrategy(talk.embedder).find(replace(inquiry, result_of=result_of))
    assert finding.draft is not None
    assert '"^treated by", =' in finding.draft.expressions[0]


async def test_nameless_nodes_that_a_relation_passes_can_be_counted(talk: Talk) -> None:
    def admissions(request: Request) -> Canned:
        topic = json.loads(request.block)["things"][0][:6]
        return reply({"answer": ["count", "reach", topic, "has admission"]})

    talk.server.replies = admissions
    finding = await found_for(talk, "How many admissions has Zofia Quarrel?")
    assert finding.draft is not None
    (expression,) = finding.draft.expressions
    assert expression.startswith("count(reach(")
    assert expression.endswith(', "has admission"))')


async def test_nameless_nodes_are_kinds_with_relations_and_a_stand_in_for_all_of_them(talk: Talk) -> None:
    talk.server.replies = nothing
    await found_for(talk)
    (given,) = shown_in(talk)
    assert "has admission: has admission" in given["graph"]["patient"]
    assert {"admitted to: ward", "^has admission: patient"} <= set(given["graph"]["has admission"])
    assert not any("|" in line for lines in given["graph"].values() for line in lines)
    assert [line[0] for line in given["things"] if line.endswith(": has admission")] == ["S"]


async def test_a_single_nameless_node_is_told_by_what_it_has(talk: Talk) -> None:
    talk.server.replies = lambda request: reply(
        {"answer": ["argmax", "reach", json.loads(request.block)["things"][0][:6], "has admission", "admitted on"]}
    )
    inquiry = talk.asked.inquiry(talk.model, "What was Zofia Quarrel's last admission?", profile=Profile.KIND)
    schema = inquiry.graph.schema
    unnamed = [each.id for each in schema.signatures if each.kind is NodeKind.MEDIATOR]
    one = ExpressionResult("set", (int(inquiry.graph.members(unnamed)[0]),))
    finding = await SetsStrategy(talk.embedder).find(replace(inquiry, result_of=lambda _expression: one))
    assert finding.draft is not None
    assert "admitted to: {" in finding.draft.text
    assert any(each.endswith(', "admitted to")') for each in finding.draft.expressions)


async def test_steps_over_nameless_nodes_that_a_model_wrote_in_two_are_one(talk: Talk) -> None:
    """In one step nobody is led back to themselves."""

    def wards(request: Request) -> Canned:
        topic = json.loads(request.block)["things"][0][:6]
        return reply({"answer": ["reach", "reach", topic, "has admission", "admitted to"]})

    talk.server.replies = wards
    finding = await found_for(talk)
    assert finding.draft is not None
    assert finding.draft.expressions[0].endswith(', "has admission|admitted to")')
