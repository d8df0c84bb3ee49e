"""Ends of questions: refusals quote common words alone, a model's sentence says its facts, and how it was found."""

from __future__ import annotations

import pytest

from app.chat.question_run import ChatOptions
from app.chat.turns import KNOWN
from app.chat.understanding import MAX_RELATIONS, in_words
from app.llm.embeddings.embedder import Embedder
from app.wiring.store import ServiceContext
from evaluation.checks.canaries import canaries_in
from kg_store.algebra.expressions import FUNCTIONS, parse
from tests.support.house import House, sets_house


@pytest.fixture
def helping(store: ServiceContext, embedder: Embedder) -> House:
    return sets_house(store, embedder, ChatOptions(likeness=embedder.similarity))


@pytest.mark.parametrize(
    "question", ["top brackwede", "Show the top Brackwede", "What is the brackwede of Murglewort?"]
)
async def test_a_word_that_may_be_a_name_is_not_quoted(helping: House, question: str) -> None:
    answer = await helping.ask(question)
    assert not answer.answered
    assert canaries_in(answer.text.encode(), ["Brackwede", "Murglewort"]) == []


async def test_a_common_word_that_nothing_stands_for_is_quoted(helping: House) -> None:
    assert "“umbrella”" in (await helping.ask("Which umbrella has Zofia Quarrel?")).text


async def test_what_was_understood_and_the_relations_nearest_to_the_rest_are_told(helping: House) -> None:
    answer = await helping.ask("Which abode has Zofia Quarrel?")
    assert answer.text.startswith("I could not tell what “abode” means here, so I give no answer. ")
    assert "I do know Zofia Quarrel, a patient. Of a patient I can tell: lives in, " in answer.text
    assert len(answer.text.partition("I can tell: ")[2].split(", ")) == MAX_RELATIONS
    assert "Zofia" not in helping.last.message.content


async def test_a_name_that_the_graph_does_not_hold_is_not_known(helping: House) -> None:
    assert KNOWN not in (await helping.ask("Which abode has Grolmaxia Tressop?")).text
    assert KNOWN not in (await helping.ask("Which abode is it?")).text


async def test_things_of_a_kind_are_told_the_same_whatever_they_have_themselves(helping: House) -> None:
    texts = [
        (await helping.ask(f"Which umbrella has {name}?")).text for name in ("Zofia Quarrel", "Aurelio Vantongeren")
    ]
    assert texts[0].partition(". Of a ")[2] == texts[1].partition(". Of a ")[2] != ""


async def test_what_was_told_to_help_does_not_travel_on(helping: House) -> None:
    await helping.ask("Which abode has Zofia Quarrel?")
    await helping.ask("Where does she live?")
    sent = b"".join(entry.payload or b"" for entry in helping.ledger.entries("default", answer_id=helping.last.id))
    assert b"I could not tell" in sent
    assert KNOWN.encode() not in sent


WORDS = {
    "Sa": "4 patients",
    "Sb": "19 patients",
    "K": "all 90 patients",
    "V": "Vx81zp",
    "E": "Eq7f2k",
    "Sm": "19 things",
}


def test_every_function_has_words() -> None:
    shapes = {"s": "Sa", "s*": "Sb", "r": '"age"', "r?": '"age"', "o": "<", "d": "ascending", "m": "3", "p?": "year"}
    shapes |= {"b": '"age"', "b?": "Sb"}
    for function, shape in FUNCTIONS.items():
        call = parse(f"{function}({', '.join(shapes[each] for each in shape)})")
        assert in_words(call, lambda word: WORDS[word], lambda _word: False), function
