"""Every graph has questions to try; each is answered as it stands, and tells nobody of what is hidden from them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.api.problems import error_body
from app.chat.turns import TO_TRY, with_questions, without_questions
from app.wiring.services import Services, build
from client_sdk.protocol import ChatAnswer, ChatRequest, Message
from evaluation.bench.bench import CALLER as BENCH_CALLER
from evaluation.bench.bench import Bench
from tests.support.service import settings_in

WARDS = """
@prefix : <http://wards.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:w1 a :Ward ; rdfs:label "Heronquay" ; :beds 12 ; :isbn 9780000000001 .
:w2 a :Ward ; rdfs:label "Plovermoor" ; :beds 30 ; :isbn 9780000000002 .
:n1 a :Nurse ; rdfs:label "Ilse Quandtner" ; :assignedTo :w1 ; :salary 3100 .
:n2 a :Nurse ; rdfs:label "Odo Brenkhuis" ; :assignedTo :w1 ; :salary 3300 .
:n3 a :Nurse ; rdfs:label "Tove Sarmiento" ; :assignedTo :w2 ; :salary 2900 .
"""
NAMES = ("Heronquay", "Plovermoor", "Quandtner", "Brenkhuis", "Sarmiento", "3300", "9780000000002")
POLICY = """
names = ["http://www.w3.org/2000/01/rdf-schema#label"]
types = "concept"
show_relations = "all"
show_classes = "all"
[roles.desk]
withhold_relations = ["salary"]
"""
PEOPLE_ALONE = """
@prefix : <http://people.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 a :Person ; rdfs:label "Ilse Quandtner" ; :knows :p2 . :p2 a :Person ; rdfs:label "Odo Brenkhuis" .
"""
OWNER, DESK = (
    Caller("default", name, "user", frozenset({grant})) for name, grant in (("k1", "*"), ("k2", "wards#desk"))
)
pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder: Path = tmp_path_factory.mktemp("suggestions")
    services = build(settings_in(folder), error_body)
    for name, turtle, policy in (("wards", WARDS, POLICY), ("people", PEOPLE_ALONE, None)):
        file = folder / f"{name}.ttl"
        file.write_text(turtle, "utf-8")
        services.graphs.load("default", name, [file], policy).run(lambda _step, _percent: None)
    yield services
    asyncio.run(services.close())


async def asked(service: Services, text: str, caller: Caller = OWNER, graph: str = "wards") -> ChatAnswer:
    messages = [Message(role="user", content=text)]
    return await service.chat.answer(caller, ChatRequest(graph=graph, messages=messages))


@pytest.mark.parametrize("graph", ["wards", "people"])
async def test_each_suggestion_is_answered_as_it_stands(service: Services, graph: str) -> None:
    told = (await service.suggester.suggest(OWNER, graph)).questions
    assert told
    for question in told:
        assert (await asked(service, question, graph=graph)).answered, question


@pytest.mark.parametrize("turn", ["hello", "What can I ask?", "Who is the great-aunt of Zorblax?"])
async def test_greetings_and_refusals_end_with_the_suggestions(service: Services, turn: str) -> None:
    told = (await service.suggester.suggest(OWNER, "wards")).questions
    reply = (await asked(service, turn)).message.content
    assert reply.endswith(f"{TO_TRY} {' '.join(told)}")
    assert not [name for name in NAMES if name in reply]


@pytest.mark.parametrize("turn", ["thank you", "Which nurses are assigned to Heronquay?"])
async def test_thanks_and_answers_end_without(service: Services, turn: str) -> None:
    reply = await asked(service, turn)
    assert reply.answered
    assert TO_TRY not in reply.message.content


async def test_a_role_is_told_nothing_of_what_it_does_not_see(service: Services) -> None:
    owners = " ".join((await service.suggester.suggest(OWNER, "wards")).questions)
    reply = (await asked(service, "help", DESK)).message.content
    assert "salary" in owners
    assert TO_TRY in reply
    assert "salary" not in reply


async def test_they_are_made_once_for_a_version_and_never_of_codes(service: Services) -> None:
    before = len(service.store.ledger.entries("default"))
    first = await service.suggester.suggest(OWNER, "wards")
    again = await service.suggester.suggest(OWNER, "wards")
    assert first == again
    assert len(service.store.ledger.entries("default")) == before
    assert "isbn" not in " ".join(first.questions)


async def test_an_endpoint_is_asked_for_none_of_them(tmp_path: Path) -> None:
    file = tmp_path / "wards.ttl"
    file.write_text(WARDS, "utf-8")
    async with Bench("scripted") as bench:
        loaded = bench.load("wards", [file], None)
        request = ChatRequest(graph=loaded.graph, messages=[Message(role="user", content="What can I ask?")])
        before = bench.sent_so_far
        reply = await bench.services.chat.answer(BENCH_CALLER, request)
        assert TO_TRY in reply.message.content
        assert bench.sent_so_far == before


def test_suggestions_are_taken_out_before_turns_travel_on() -> None:
    told = with_questions("I found nothing.", ["How many wards are there?"])
    kept = Message(role="user", content=f"why is it called {TO_TRY}?")
    assert without_questions([kept, Message(role="assistant", content=told)]) == [
        kept,
        Message(role="assistant", content="I found nothing."),
    ]
    assert with_questions("I found nothing.", []) == "I found nothing."
