"""A turn that asks two questions is answered as if they came one after the other, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.api.problems import error_body
from app.reader.english import EnglishReader
from app.reader.meaning.question.one_question import two_questions
from app.wiring.services import Services, build
from client_sdk import KeyPair
from client_sdk.answers.answer import Answer
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, Bench
from tests.support.service import settings_in

SHOPS = """
@prefix : <http://shops.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:s1 a :Shop ; rdfs:label "Quillmoor" ; :phone "0131 1" ; :desks 4 ; :locatedIn :t1 .
:s2 a :Shop ; rdfs:label "Brantwick" ; :phone "0131 2" ; :desks 9 ; :locatedIn :t2 .
:s1 :fork :f1 ; :battery :c1 . :s2 :fork :f1 ; :battery :c2 . :f1 a :Fork ; rdfs:label "Halvert" .
:c1 a :Battery ; rdfs:label "Ombrell" . :c2 a :Battery ; rdfs:label "Tessaly" .
:t1 a :Town ; rdfs:label "Zemgalburg" . :t2 a :Town ; rdfs:label "Umbrathal" .
:p1 a :Person ; rdfs:label "Ilse Quandtner" ; :worksAt :s1 ; :livesIn :t2 ; :salary 3100 .
:p2 a :Person ; rdfs:label "Odo Brenkhuis" ; :worksAt :s2 ; :livesIn :t1 ; :salary 3300 .
:p3 a :Person ; rdfs:label "Tove Sarmiento" ; :worksAt :s2 ; :livesIn :t1 ; :salary 2900 .
"""


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("What are the phone and the city of X?", ("What are the phone of X?", "What are the city of X?")),
        ("Give me X's phone and city", ("Give me X's phone", "Give me X's city")),
        ("Where does X live and when was she born?", ("Where does X live?", "when was she born?")),
        ("When was X born, when did she die?", ("When was X born?", "when did she die?")),
        ("Where and when was X born?", ("Where was X born?", "when was X born?")),
        ("Who and how many live in X?", None),
        ("Where is X, in which town?", None),
        ("Who treats X and Y?", None),
        ("Which doctors treat X and live in Y?", None),
        ("What are the names of X and Y?", None),
        ("Hi. Where does X live?", None),
        ("Where does X live?", None),
    ],
)
def test_a_sentence_is_parted_where_a_second_question_begins(text: str, questions: tuple[str, str] | None) -> None:
    assert two_questions(text) == questions


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder: Path = tmp_path_factory.mktemp("two")
    services = build(settings_in(folder, suggestions=0), error_body)
    file = folder / "shops.ttl"
    file.write_text(SHOPS, "utf-8")
    services.graphs.load("default", "shops", [file], None).run(lambda _step, _done: None)
    yield services
    asyncio.run(services.close())


async def ask(service: Services, text: str) -> Answer:
    dialogue = Dialogue("shops", KeyPair.generate(), "auto", {})
    owner = Caller("default", "k1", "user", frozenset({"*"}))
    return dialogue.accept(text, await service.chat.answer(owner, dialogue.request(text, None, {})))


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("What are the phone and the desks of Quillmoor?", ("0131 1", "4")),
        ("What are Quillmoor's phone and town?", ("0131 1", "Zemgalburg")),
        ("Where does Odo Brenkhuis live, and what is his salary?", ("Zemgalburg", "3300")),
        ("Who works at Quillmoor, and what is her salary?", ("Ilse Quandtner", "3100")),
        ("How many people are there, and how many work at Brantwick?", ("3", "2")),
    ],
)
async def test_both_are_answered_with_their_names_and_facts(
    service: Services, text: str, told: tuple[str, str]
) -> None:
    answer = await ask(service, text)
    assert answer.answered
    assert answer.grounded
    assert all(each in answer.text for each in told), answer.text
    assert len(answer.entities) == 2
    assert answer.confidence is not None


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        "Where does Odo Brenkhuis live, and which whales has he seen?",
        "What kind of fork does Quillmoor have and which battery does it use?",  # not those of all with the fork
        "Which shop has the most desks and which has the fewest?",  # the second, alone, is about the first's answer
    ],
)
async def test_half_an_answer_is_none(service: Services, text: str) -> None:
    answer = await ask(service, text)
    assert not answer.answered
    assert not answer.entities


@pytest.mark.model
async def test_with_an_endpoint_no_turn_is_parted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parted: list[str] = []
    monkeypatch.setattr(EnglishReader, "two_questions", lambda _self, text: parted.append(text))
    file = tmp_path / "shops.ttl"
    file.write_text(SHOPS, "utf-8")
    text = "Where does Odo Brenkhuis live, and what is his salary?"
    for reasoner, is_asked in (("scripted", False), ("embedded", True)):
        async with Bench(reasoner, changes={"disclosure": "tell"}) as bench:
            loaded = bench.load("shops", [file], None)
            dialogue = Dialogue(loaded.graph, KeyPair.generate(), "sets", {"suggestions": 0})
            await bench.services.chat.answer(CALLER, dialogue.request(text, None, {}))
        assert (text in parted) == is_asked


def test_a_long_turn_is_not_parted() -> None:
    assert two_questions(f"What are the {'very ' * 100}phone and the city of X?") is None
