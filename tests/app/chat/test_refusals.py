"""Refusals quote common words of a question alone: what may be a name stands in no plain reply."""

from __future__ import annotations

import pytest

from app.chat.concluding import NOT_IN_GRAPH
from app.chat.question_run import ChatOptions
from app.chat.turns import KNOWN
from app.chat.understanding import MAX_RELATIONS
from app.llm.embeddings.embedder import Embedder
from app.wiring.store import ServiceContext
from evaluation.checks.canaries import canaries_in
from tests.support.house import House, sets_house


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    return sets_house(store, embedder, ChatOptions(likeness=embedder.similarity))


@pytest.mark.parametrize(
    "question", ["top brackwede", "Show the top Brackwede", "What is the brackwede of Murglewort?"]
)
async def test_a_word_that_may_be_a_name_is_not_quoted(house: House, question: str) -> None:
    answer = await house.ask(question)
    assert not answer.answered
    assert canaries_in(answer.text.encode(), ["Brackwede", "Murglewort"]) == []


async def test_a_common_word_that_nothing_stands_for_is_quoted(house: House) -> None:
    assert "“umbrella”" in (await house.ask("Which umbrella has Zofia Quarrel?")).text


async def test_the_month_of_a_date_is_no_word_that_nothing_stands_for(house: House) -> None:
    answer = await house.ask("Which umbrella had Zofia Quarrel in august 1931?")
    assert "“umbrella”" in answer.text
    assert "august" not in answer.text


async def test_what_was_understood_and_the_relations_nearest_to_the_rest_are_told(house: House) -> None:
    answer = await house.ask("Which abode has Zofia Quarrel?")
    assert answer.text.startswith("I could not tell what “abode” means here, so I give no answer. ")
    assert "I do know Zofia Quarrel, a patient. Of a patient I can tell: lives in, " in answer.text
    assert len(answer.text.partition("I can tell: ")[2].split(", ")) == MAX_RELATIONS
    assert "Zofia" not in house.last.message.content


async def test_a_name_that_the_graph_does_not_hold_is_not_known(house: House) -> None:
    assert KNOWN not in (await house.ask("Which abode has Grolmaxia Tressop?")).text
    assert KNOWN not in (await house.ask("Which abode is it?")).text


async def test_things_of_a_kind_are_told_the_same_whatever_they_have_themselves(house: House) -> None:
    texts = [(await house.ask(f"Which abode has {name}?")).text for name in ("Zofia Quarrel", "Aurelio Vantongeren")]
    assert texts[0].partition(". Of a ")[2] == texts[1].partition(". Of a ")[2] != ""


async def test_what_was_told_to_help_does_not_travel_on(house: House) -> None:
    await house.ask("Which abode has Zofia Quarrel?")
    await house.ask("Where does she live?")
    sent = b"".join(entry.payload or b"" for entry in house.ledger.entries("default", answer_id=house.last.id))
    assert b"I could not tell" in sent
    assert KNOWN.encode() not in sent


async def test_a_search_that_was_carried_out_in_whole_says_that_there_is_nothing(house: House) -> None:
    answer = await house.ask("Which patients live in Umbrathal and are treated by Ottoline Brackwater?")
    assert (answer.answered, answer.text) == (False, NOT_IN_GRAPH)
