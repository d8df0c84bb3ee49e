"""Words of questions that are read otherwise than they stand, over graphs of their own (`questions.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.llm.embeddings.embedder import Embedder
from kg_store.algebra import expressions
from tests.support.house import House, clinic_store, sets_house
from tests.support.stores import PREFIXES

GRAPHS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))["graph"]
HouseOf = Callable[[str], House]


def each(field: str) -> list[Any]:
    return [pytest.param(graph["name"], one) for graph in GRAPHS for one in graph[field]]


@pytest.fixture(scope="module")
def house_of(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HouseOf]:
    """A dialogue with the graph of that name, each loaded once."""
    turtles = {graph["name"]: PREFIXES + graph["turtle"] for graph in GRAPHS}
    with ExitStack() as stores:

        @cache
        def store_of(name: str) -> Any:
            folder = tmp_path_factory.mktemp("questions")
            return stores.enter_context(clinic_store(folder, embedder, turtles[name]))

        yield lambda name: sets_house(store_of(name), embedder)


@pytest.mark.parametrize(("graph", "told"), each("answered"))
async def test_a_question_is_answered(house_of: HouseOf, graph: str, told: list[str]) -> None:
    answer = await house_of(graph).ask(told[0])
    assert set(answer.names or [answer.text.split(",")[0].lower()]) == set(told[1:]), answer.text


@pytest.mark.parametrize(("graph", "question"), each("unanswered"))
async def test_what_has_no_answer_gets_none(house_of: HouseOf, graph: str, question: str) -> None:
    assert not (await house_of(graph).ask(question)).answered


@pytest.mark.parametrize(("graph", "question"), each("asked"))
async def test_no_private_word_leaves(house_of: HouseOf, graph: str, question: str) -> None:
    private = next(each["private"] for each in GRAPHS if each["name"] == graph)
    house = house_of(graph)
    await house.ask(question)
    assert house.leaked(private) == []


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
