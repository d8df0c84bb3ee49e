"""Questions to try and to go on with: answered when they are asked, made without a trace, of nothing hidden."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.api.problems import error_body
from app.chat.next_questions import NextQuestions
from app.chat.service import ChatService
from app.chat.turns import TO_TRY, with_questions, without_questions
from app.egress.disclosure import Disclosure
from app.egress.ledger.ledger import InHouseLog
from app.wiring.services import Services, build
from client_sdk import KeyPair
from client_sdk.answers.answer import Answer
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatRequest, Message
from evaluation.bench.bench import CALLER as BENCH_CALLER
from evaluation.bench.bench import Bench
from tests.support.service import settings_in

WARDS = """
@prefix : <http://wards.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:w1 a :Ward ; rdfs:label "Heronquay" ; :beds 12 ; :isbn 9780000000001 ; :partOf :h1 .
:w2 a :Ward ; rdfs:label "Plovermoor" ; :beds 30 ; :isbn 9780000000002 ; :partOf :h1 .
:h1 a :Hospital ; rdfs:label "Curlewstead" .
:c1 a :City ; rdfs:label "Zemgalburg" . :c2 a :City ; rdfs:label "Umbrathal" .
:n1 a :Nurse ; rdfs:label "Ilse Quandtner" ; :assignedTo :w1 ; :livesIn :c1 ; :salary 3100 .
:n2 a :Nurse ; rdfs:label "Odo Brenkhuis" ; :assignedTo :w1 ; :livesIn :c2 ; :salary 3300 .
:n3 a :Nurse ; rdfs:label "Tove Sarmiento" ; :assignedTo :w2 ; :livesIn :c1 ; :salary 2900 .
"""
NAMES = (
    "Heronquay", "Plovermoor", "Curlewstead", "Zemgalburg", "Umbrathal", "Ilse", "Quandtner", "Brenkhuis", "Sarmiento",
    "3300", "9780000000002",
)  # fmt: skip
PEOPLE_ALONE = """
@prefix : <http://people.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 a :Person ; rdfs:label "Ilse Quandtner" ; :knows :p2 . :p2 a :Person ; rdfs:label "Odo Brenkhuis" .
"""
POLICY = """
names = ["http://www.w3.org/2000/01/rdf-schema#label"]
types = "concept"
show_relations = "all"
show_classes = "all"
[roles.desk]
withhold_relations = ["salary", "lives in"]
"""
OWNER, DESK = (
    Caller("default", name, "user", frozenset({grant})) for name, grant in (("k1", "*"), ("k2", "wards#desk"))
)
ASKED = "Which ward is Ilse Quandtner assigned to?"
pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder: Path = tmp_path_factory.mktemp("next")
    services = build(settings_in(folder), error_body)
    for name, turtle, policy in (("wards", WARDS, POLICY), ("people", PEOPLE_ALONE, None)):
        file = folder / f"{name}.ttl"
        file.write_text(turtle, "utf-8")
        services.graphs.load("default", name, [file], policy).run(lambda _step, _percent: None)
    yield services
    asyncio.run(services.close())


class Talk:
    """A dialogue as the SDK keeps it, with a service in this process; `sealed` are the replies as they travel."""

    def __init__(self, service: Services, caller: Caller = OWNER, **options: int) -> None:
        self._service, self._caller = service, caller
        self._dialogue = Dialogue("wards", KeyPair.generate(), "sets", options)
        self.sealed: list[ChatAnswer] = []

    async def ask(self, text: str) -> Answer:
        self.sealed.append(await self._service.chat.answer(self._caller, self._dialogue.request(text, None, {})))
        return self._dialogue.accept(text, self.sealed[-1])


async def test_what_is_suggested_is_about_what_was_told_and_is_answered_as_it_stands(service: Services) -> None:
    suggested = (await Talk(service).ask(ASKED)).suggestions
    assert "Which hospital is Heronquay part of?" in suggested
    assert "Which city does Ilse Quandtner live in?" in suggested
    for question in suggested:
        talk = Talk(service)
        await talk.ask(ASKED)
        assert (await talk.ask(question)).answered, question


async def test_nothing_is_suggested_twice_in_a_dialogue_that_follows_it(service: Services) -> None:
    talk = Talk(service)
    asked, answer = {ASKED}, await talk.ask(ASKED)
    while answer.suggestions:
        question = answer.suggestions[0]
        assert asked.isdisjoint(answer.suggestions)
        asked.add(question)
        answer = await talk.ask(question)
        assert answer.answered, question
        assert len(asked) < 20


async def test_names_of_suggestions_travel_in_the_capsule_alone(service: Services) -> None:
    talk = Talk(service)
    answer = await talk.ask(ASKED)
    assert any(name in " ".join(answer.suggestions) for name in NAMES)
    travels = talk.sealed[-1].model_dump(mode="json")
    assert travels["suggestions"]
    assert not [name for name in NAMES if name in json.dumps(travels, ensure_ascii=False)]


async def test_a_role_is_suggested_nothing_of_what_it_does_not_see(service: Services) -> None:
    owners = " ".join((await Talk(service).ask("Who is assigned to Plovermoor?")).suggestions)
    assert "live in" in owners
    answer = await Talk(service, DESK).ask("Who is assigned to Plovermoor?")
    assert answer.answered
    assert not [word for word in ("live", "salary") if word in " ".join(answer.suggestions)]


async def test_about_all_of_a_kind_the_greatest_is_asked_for(service: Services) -> None:
    talk = Talk(service)
    answer = await talk.ask("How many nurses are there?")
    assert answer.suggestions == ("Which nurse has the highest salary?",)
    assert (await talk.ask(answer.suggestions[0])).names == ["Odo Brenkhuis"]
    assert (await Talk(service, DESK).ask("How many nurses are there?")).suggestions == ()


async def test_about_several_they_are_asked_for_together(service: Services) -> None:
    talk = Talk(service)
    answer = await talk.ask("Which nurses are assigned to Heronquay?")
    assert "Which cities do they live in?" in answer.suggestions
    assert set((await talk.ask("Which cities do they live in?")).names) == {"Zemgalburg", "Umbrathal"}


async def test_trying_them_records_nothing_and_costs_nothing(service: Services) -> None:
    rows, costs = [], []
    for most in (0, 3):
        before = len(service.store.ledger.entries("default", limit=1000))
        answer = await Talk(service, suggestions=most).ask(ASKED)
        assert bool(answer.suggestions) == bool(most)
        rows.append(len(service.store.ledger.entries("default", limit=1000)) - before)
        costs.append(answer.usage.model_copy(update={"milliseconds": {}}))
    assert rows[0] == rows[1]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("asked", [ASKED, "Which nurses are assigned to Heronquay?", "How many nurses are there?"])
async def test_the_conversation_keeps_the_pseudonyms_of_what_is_shown_and_no_more(
    service: Services, asked: str
) -> None:
    schema = service.store.catalog.open("default", "wards").blind.schema
    issued = []
    for most in (0, 3):
        talk = Talk(service, suggestions=most)
        answer = await talk.ask(asked)
        kept = service.store.conversations.open("default", "k1", "wards", answer.conversation, schema)
        assert len(kept.answers) == len(kept.table.answers) == 1
        issued.append(len(kept.table.issued - set(kept.table.known(" ".join(talk.sealed[-1].suggestions)))))
    assert issued[1] <= issued[0]


@pytest.mark.parametrize("turn", ["hello", "Who is the great-aunt of Zorblax?", "thank you"])
async def test_refusals_and_small_talk_suggest_nothing_here(service: Services, turn: str) -> None:
    assert (await Talk(service).ask(turn)).suggestions == ()


async def test_without_a_key_they_are_asked_in_pseudonyms(service: Services) -> None:
    dialogue = Dialogue("wards", None, "sets", {})
    answer = dialogue.accept(ASKED, await service.chat.answer(OWNER, dialogue.request(ASKED, None, {})))
    assert answer.suggestions
    assert not [name for name in NAMES if name in " ".join(answer.suggestions)]
    for question in answer.suggestions:
        following = dialogue.fork()
        told = following.accept(question, await service.chat.answer(OWNER, following.request(question, None, {})))
        assert told.answered, question


@pytest.mark.parametrize(("k", "suggests"), [(1, True), (20, False)])
async def test_none_is_suggested_that_the_rule_of_disclosure_would_refuse(
    service: Services, k: int, suggests: bool
) -> None:
    chat = service.chat
    assert isinstance(chat, ChatService)
    options = replace(chat.options, disclosure=Disclosure(True, k, "refuse"))
    tried_by = NextQuestions(chat.with_options(options, InHouseLog()))
    asked = chat.with_options(replace(chat.options, suggest_next=tried_by.after))
    dialogue = Dialogue("wards", KeyPair.generate(), "sets", {})
    answer = dialogue.accept(ASKED, await asked.answer(OWNER, dialogue.request(ASKED, None, {})))
    assert answer.answered
    assert bool(answer.suggestions) == suggests


async def test_a_wording_is_tried_once_for_a_kind_and_then_suggested_of_its_things(
    service: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = service.store.catalog.open_as("default", "wards", None)
    opened.blind.schema.derived.clear()
    chat, tried = service.chat, list[object]()
    assert isinstance(chat, ChatService)
    concluded = ChatService.concluded

    async def counted(self: ChatService, *given: object) -> object:
        tried.append(given)
        return await concluded(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ChatService, "concluded", counted)
    counts = []
    for name in ("Ilse Quandtner", "Odo Brenkhuis", "Tove Sarmiento"):
        tried.clear()
        answer = await Talk(service).ask(f"Which ward is {name} assigned to?")
        counts.append(len(tried))
        assert answer.suggestions
    assert counts[0] > counts[2] == 1
    assert "Tove Sarmiento" in " ".join(answer.suggestions)
    for question in answer.suggestions:
        assert (await Talk(service).ask(question)).answered, question


async def test_an_endpoint_is_asked_for_none_of_them(tmp_path: Path) -> None:
    file = tmp_path / "wards.ttl"
    file.write_text(WARDS, "utf-8")
    async with Bench("scripted", changes={"disclosure": "tell"}) as bench:
        loaded = bench.load("wards", [file], None)
        sent = []
        for most in (0, 3):
            dialogue = Dialogue(loaded.graph, KeyPair.generate(), "sets", {"suggestions": most})
            before = bench.sent_so_far
            await bench.services.chat.answer(BENCH_CALLER, dialogue.request(ASKED, None, {}))
            sent.append(bench.sent_so_far - before)
        assert sent[0] == sent[1]
        before = bench.sent_so_far
        request = ChatRequest(graph=loaded.graph, messages=[Message(role="user", content="What can I ask?")])
        assert TO_TRY in (await bench.services.chat.answer(BENCH_CALLER, request)).message.content
        assert bench.sent_so_far == before


@pytest.mark.parametrize("most", [0, 1])
async def test_an_operator_says_how_many_at_most(tmp_path: Path, most: int) -> None:
    services = build(settings_in(tmp_path, suggestions=most), error_body)
    file = tmp_path / "wards.ttl"
    file.write_text(WARDS, "utf-8")
    services.graphs.load("default", "wards", [file], POLICY).run(lambda _step, _percent: None)
    assert len((await Talk(services).ask(ASKED)).suggestions) == most
    await services.close()


async def asked(service: Services, text: str, caller: Caller = OWNER, graph: str = "wards") -> ChatAnswer:
    messages = [Message(role="user", content=text)]
    return await service.chat.answer(caller, ChatRequest(graph=graph, messages=messages))


@pytest.mark.parametrize("graph", ["wards", "people"])
async def test_each_question_to_try_is_answered_as_it_stands(service: Services, graph: str) -> None:
    told = (await service.suggester.suggest(OWNER, graph)).questions
    before = len(service.store.ledger.entries("default", limit=1000))
    assert (await service.suggester.suggest(OWNER, graph)).questions == told  # made once for a version
    assert len(service.store.ledger.entries("default", limit=1000)) == before
    assert told
    assert "isbn" not in " ".join(told)
    for question in told:
        assert (await asked(service, question, graph=graph)).answered, question


async def test_greetings_and_refusals_end_with_questions_to_try_and_nothing_else_does(service: Services) -> None:
    told = (await service.suggester.suggest(OWNER, "wards")).questions
    for turn in ("hello", "What can I ask?", "Who is the great-aunt of Zorblax?"):
        reply = (await asked(service, turn)).message.content
        assert reply.endswith(f"{TO_TRY} {' '.join(told)}")
        assert not [name for name in NAMES if name in reply]
    for turn in ("thank you", "Which nurses are assigned to Heronquay?"):
        answer = await asked(service, turn)
        assert answer.answered
        assert TO_TRY not in answer.message.content


async def test_a_role_is_told_to_try_nothing_of_what_it_does_not_see(service: Services) -> None:
    owners = " ".join((await service.suggester.suggest(OWNER, "wards")).questions)
    reply = (await asked(service, "help", DESK)).message.content
    assert "salary" in owners
    assert TO_TRY in reply
    assert "salary" not in reply


def test_questions_to_try_are_taken_out_before_turns_travel_on() -> None:
    told = with_questions("I found nothing.", ["How many wards are there?"])
    kept = Message(role="user", content=f"why is it called {TO_TRY}?")
    assert without_questions([kept, Message(role="assistant", content=told)]) == [
        kept,
        Message(role="assistant", content="I found nothing."),
    ]
