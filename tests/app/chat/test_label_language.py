"""Answers name things in the language of the question, where they have labels in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.accounts.api_keys import Caller
from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.wiring.store import ServiceContext, open_store
from client_sdk.answers.answer import Answer
from client_sdk.dialogue import Dialogue
from kg_store.sources.policy import Policy
from tests.support.house import KEY, sets_chat
from tests.support.service import settings_in

PLACES = """
@prefix : <http://places.test/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:c1 a :City ; rdfs:label "Zarnsbridge"@en, "Zarnsbr\u00fcck"@de ; skos:altLabel "Zarni"@de ; :locatedIn :r1 .
:c2 a :City ; rdfs:label "Zelmhaven"@en, "Zelmhafen"@de-AT ; :locatedIn :r1 .
:c3 a :City ; rdfs:label "Zosterfurt"@en, "Zosterfurt"@de ; :locatedIn :r2 .
:r1 a :Region ; rdfs:label "Upper Quarrel"@en, "Oberquarrel"@de .
:r2 a :Region ; rdfs:label "Lower Quarrel" .
"""


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    folder = tmp_path_factory.mktemp("places")
    (folder / "places.ttl").write_text(PLACES, "utf-8")
    opened = open_store(settings_in(folder))
    policy = Policy.from_toml('show_relations = "all"')
    opened.catalog.load("default", "places", [folder / "places.ttl"], policy, ConceptNamer(embedder).name)
    yield opened
    opened.close()


async def ask(store: ServiceContext, embedder: Embedder, question: str, language: str | None = None) -> Answer:
    chat = sets_chat(store, embedder)
    dialogue = Dialogue("places", KEY, "sets", {"language": language} if language else {})
    caller = Caller("default", "k1", "user", frozenset({"places"}))
    return dialogue.accept(question, await chat.answer(caller, dialogue.request(question, None, {})))


@pytest.mark.parametrize(
    ("question", "language", "name"),
    [
        ("In which region is Zarnsbr\u00fcck located?", None, "Oberquarrel"),
        ("In which region is Zarnsbridge located?", None, "Upper Quarrel"),
        ("In which region is Zarnsbridge located?", "de-CH", "Oberquarrel"),
        ("In which region is Zarnsbr\u00fcck located?", "en", "Upper Quarrel"),
        ("In which region is Zosterfurt located?", "de", "Lower Quarrel"),
    ],
)
async def test_an_answer_names_things_in_the_language_of_the_question(
    store: ServiceContext, embedder: Embedder, question: str, language: str | None, name: str
) -> None:
    assert (await ask(store, embedder, question, language)).names == [name]


async def test_what_was_typed_is_what_is_answered_and_nothing_of_it_is_sent(
    store: ServiceContext, embedder: Embedder
) -> None:
    answer = await ask(store, embedder, "Which cities are located in Oberquarrel?")
    assert sorted(answer.names) == ["Zarnsbr\u00fcck", "Zelmhafen"]
    assert "Oberquarrel" in answer.text
    sent = b"".join(entry.payload or b"" for entry in store.ledger.entries("default", answer_id=answer.id))
    assert sent
    assert b"uarrel" not in sent
    assert b"language" not in sent
