"""Words of questions that are read otherwise than they stand, over graphs of their own (`questions.toml`).

A graph that is `voted` over is read as one of many relations; one that is `of` another adds to what that one holds.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.chat.question_run import ChatOptions, QuestionReading
from app.chat.search import in_order
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import Reasoner
from app.privacy.anonymised import Anonymised
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from app.strategies import start
from client_sdk.restore import restore
from evaluation.checks.canaries import canaries_in
from kg_store.algebra import expressions
from kg_store.terms import as_mids
from tests.support.house import House, clinic_store, sets_house
from tests.support.service import ScriptedReasoner
from tests.support.stores import PREFIXES

GRAPHS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))["graph"]
BY_NAME: dict[str, dict[str, Any]] = {graph["name"]: graph for graph in GRAPHS}
TODAY = dt.date(2026, 11, 23)
HouseOf = Callable[..., House]


def each(field: str) -> list[Any]:
    return [pytest.param(graph["name"], one) for graph in GRAPHS for one in graph[field]]


@pytest.fixture(scope="module")
def store_of(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """The graph of that name in a store, loaded once."""
    with ExitStack() as stores:

        @cache
        def loaded(name: str) -> Any:
            graph = BY_NAME[name]
            turtle = PREFIXES + BY_NAME.get(graph.get("of"), {"turtle": ""})["turtle"] + graph["turtle"]
            return stores.enter_context(clinic_store(tmp_path_factory.mktemp("questions"), embedder, turtle))

        yield loaded


@pytest.fixture
def house_of(store_of: Callable[[str], Any], embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> HouseOf:
    """A dialogue with the graph of that name."""

    def house(name: str, reasoner: Reasoner | None = None) -> House:
        if BY_NAME[name].get("voted"):
            monkeypatch.setattr(start, "MAX_RELATIONS", 0)
        return sets_house(store_of(name), embedder, ChatOptions(today=lambda: TODAY), reasoner)

    return house


@pytest.mark.parametrize(("graph", "told"), each("answered"))
async def test_a_question_is_answered(house_of: HouseOf, graph: str, told: list[str]) -> None:
    answer = await house_of(graph).ask(told[0])
    assert set(answer.names or [answer.text.split(",")[0].lower()]) == set(told[1:]), answer.text


@pytest.mark.parametrize(("graph", "question"), each("unanswered"))
async def test_what_has_no_answer_gets_none(house_of: HouseOf, graph: str, question: str) -> None:
    answer = await house_of(graph).ask(question)
    assert (answer.answered, answer.names) == (False, [])


@pytest.mark.parametrize(("graph", "question"), each("asked"))
async def test_no_private_word_leaves(house_of: HouseOf, graph: str, question: str) -> None:
    house = house_of(graph)
    await house.ask(question)
    assert house.leaked(BY_NAME[graph]["private"]) == []


async def test_a_refusal_is_that_of_the_name_and_not_of_the_value(house_of: HouseOf) -> None:
    house = house_of("values and names")
    await house.ask("Which umbrella has Zemgalburg?")
    assert [each.concept for each in house.last.understood] == ["office"]


async def test_a_reading_of_more_parts_than_can_be_executed_ends_no_question(
    house_of: HouseOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "MAX_NODES", 5)
    answer = await house_of("no kinds").ask("Which films directed by Zofia Quarrel starred Bertil Oxenhame?")
    assert set(answer.names) <= {"Kestrel Wing"}


async def test_what_most_likely_paths_lead_to_comes_first_and_the_first_one_is_that(house_of: HouseOf) -> None:
    house = house_of("clubs")
    answer = await house.ask("Which clubs is Zofia Quarrel a member of?")
    assert answer.names[0] == "Gyrfalcon United"
    assert sorted(answer.names) == ["Gyrfalcon United", "Kestrel Eleven", "Umbrathal Rovers"]
    assert [entity.ordered for entity in answer.entities] == [True]
    assert answer.confidence is not None
    assert (await house.ask("What is the town of the first one?")).names == ["Thrombury"]


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("Which loans were loaned in the last six months?", ["2026-05-23", "2026-11-23"]),
        ("Which loans were loaned last year?", ["2025"]),
    ],
)
async def test_the_line_that_explains_the_answer_says_the_dates(
    house_of: HouseOf, question: str, dates: list[str]
) -> None:
    house = house_of("loans")
    await house.ask(question)
    explained = restore(" ".join(house.last.worked_out), house.capsule)
    assert all(date in explained for date in dates), explained


async def test_a_question_by_today_is_what_the_same_by_dates_is_for_a_model(house_of: HouseOf) -> None:
    house = house_of("loans")
    await house.ask("Which loans were loaned last year?")
    assert re.search(rb'"question":"Which loans were loaned in V\w{5}\?"', house.sent)


async def test_a_model_is_asked_a_question_about_a_time_as_it_stands(house_of: HouseOf) -> None:
    """With its time, and no date: what fits a time is looked up for the reasoner inside the service alone."""
    reasoner = ScriptedReasoner()
    await house_of("offices", reasoner).ask("Who was the director of Vexquilda Museum in 1998?")
    sent = b"".join(reasoner.sent)
    assert re.search(rb"Who was the director of E\w{5} in V\w{5}\?", sent)
    assert b"filter(" not in sent
    assert canaries_in(sent, BY_NAME["offices"]["private"]) == []


def test_a_model_never_sees_both_readings_of_a_question() -> None:
    plain, by_kinds = QuestionReading(), QuestionReading(by_kinds=True)
    assert in_order([plain, by_kinds], is_model=False) == [by_kinds, plain]
    assert in_order([plain, by_kinds], is_model=True) == [plain]


def test_a_model_gets_replaced_words_as_the_things_that_are_called_so() -> None:
    said = SafeDialogue((SafeTurn("user", SafeText("paid by Va1b2c")),), ())
    card = Topic("Ed3e4f", as_mids([1]), doubtful=True)
    read = QuestionReading(Anonymised(said, (), words={"Va1b2c": card}))
    (for_model,), (in_house,) = in_order([read], is_model=True), in_order([read], is_model=False)
    assert (for_model.read.dialogue.question, for_model.read.dialogue.topics) == ("paid by Ed3e4f", (card,))
    assert in_house == read
