"""Ends of questions: refusals quote common words alone, a model's sentence says its facts, and how it was found."""

from __future__ import annotations

import pytest

from app.chat.concluding import NOT_IN_GRAPH, adds_nothing
from app.chat.question_run import ChatOptions
from app.chat.turns import KNOWN
from app.chat.understanding import MAX_RELATIONS, in_words
from app.llm.embeddings.embedder import Embedder
from app.strategies.base import FoundFact
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


async def test_the_month_of_a_date_is_no_word_that_nothing_stands_for(helping: House) -> None:
    answer = await helping.ask("Which umbrella had Zofia Quarrel in august 1931?")
    assert "“umbrella”" in answer.text
    assert "august" not in answer.text


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
    texts = [(await helping.ask(f"Which abode has {name}?")).text for name in ("Zofia Quarrel", "Aurelio Vantongeren")]
    assert texts[0].partition(". Of a ")[2] == texts[1].partition(". Of a ")[2] != ""


async def test_what_was_told_to_help_does_not_travel_on(helping: House) -> None:
    await helping.ask("Which abode has Zofia Quarrel?")
    await helping.ask("Where does she live?")
    sent = b"".join(entry.payload or b"" for entry in helping.ledger.entries("default", answer_id=helping.last.id))
    assert b"I could not tell" in sent
    assert KNOWN.encode() not in sent


async def test_a_search_that_was_carried_out_in_whole_says_that_there_is_nothing(helping: House) -> None:
    answer = await helping.ask("Which patients live in Umbrathal and are treated by Ottoline Brackwater?")
    assert (answer.answered, answer.text) == (False, NOT_IN_GRAPH)


FACT = FoundFact("Eq7f2k", "film", ("directed by",), "Ex81zp", "person", "1")


@pytest.mark.parametrize(
    "text",
    [
        "Ex81zp directed Eq7f2k.",
        "Eq7f2k is a film that Ex81zp directed.",
        "The film Eq7f2k was directed by the person Ex81zp.",
    ],
)
def test_words_of_the_facts_and_of_grammar_may_stay(text: str) -> None:
    assert adds_nothing(text, [FACT])


@pytest.mark.parametrize(
    "text",
    [
        "Ex81zp never directed Eq7f2k.",
        "Ex81zp may have directed Eq7f2k.",
        "Ex81zp directed Eq7f2k alone.",
        "Ex81zp, who is ill, directed Eq7f2k.",
        "Ex81zp didn't direct Eq7f2k.",
        "Ex81zp directed Eq7f2k in 1961.",
        "Ex81zp directed Eq7f2k and Ew00ab.",
    ],
)
def test_any_other_word_is_too_much(text: str) -> None:
    assert not adds_nothing(text, [FACT])


WORDS = {
    "Sa": "4 patients",
    "Sb": "19 patients",
    "K": "all 90 patients",
    "V": "Vx81zp",
    "E": "Eq7f2k",
    "Sm": "19 things",
}


@pytest.mark.parametrize(
    ("expression", "phrase"),
    [
        ("count(Sa)", "4 patients, counted"),
        ("count(intersect(Sa, K))", "4 patients, counted"),
        ("count(intersect(Sa, Sb))", "those that are among 4 patients and among 19 patients, counted"),
        ('filter(K, "opened on", <, V)', 'of all 90 patients those whose "opened on" is before Vx81zp'),
        ('counted(K, "^ward", >=, 2, Sa)', 'of all 90 patients those with at least 2 "ward" among 4 patients'),
        ('group(K, "insured by")', 'all 90 patients, counted for each "insured by"'),
        ('average(Sa, "^has|age")', 'the average of "has / age" of 4 patients'),
        ('limit(sort(Sa, "age", descending), 3)', 'the first 3 of 4 patients by "age", greatest first'),
        (
            'reach(filter(filter(Sa, "opened on", <=, V), "age", >=, 60), "lives in")',
            '"lives in" of those of 4 patients whose "opened on" is not after Vx81zp and whose "age" is at least 60',
        ),
        ('reach(E, "lives in")', '"lives in" of Eq7f2k'),
        ('reach(Sa, "^treated by|^ward")', 'those whose "treated by / ward" is 4 patients'),
        ('exists(filter(E, "opened on", <, V))', 'whether "opened on" of Eq7f2k is before Vx81zp'),
        ('having(K, "smoker")', 'those of all 90 patients that have "smoker"'),
        ('sums(K, "insured by", "cost")', 'the sum of "cost" of all 90 patients for each "insured by"'),
        ('group(K, "born on", year)', 'all 90 patients, counted for each "born on", by year'),
        ('most(K, "^ward", "beds")', 'of all 90 patients those with the most "beds" of all their "ward"'),
        ('minus(reach(E, "age"), V)', '"age" of Eq7f2k, less Vx81zp'),
        ('most(K, "^treated by")', 'of all 90 patients those with the most "treated by"'),
    ],
)
def test_an_expression_is_told_as_a_phrase(expression: str, phrase: str) -> None:
    assert in_words(parse(expression), lambda word: WORDS[word], lambda word: word in ("V", "opened on")) == phrase


def test_every_function_has_words() -> None:
    shapes = {"s": "Sa", "s*": "Sb", "r": '"age"', "r?": '"age"', "o": "<", "d": "ascending", "m": "3", "p?": "year"}
    shapes["b?"] = "Sb"
    for function, shape in FUNCTIONS.items():
        call = parse(f"{function}({', '.join(shapes[each] for each in shape)})")
        assert in_words(call, lambda word: WORDS[word], lambda _word: False), function
