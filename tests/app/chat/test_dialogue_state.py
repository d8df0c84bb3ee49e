"""Dialogues of several turns, row by row (`dialogues.toml`): the last turn leans on what was said before."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.chat.question_run import ChatOptions
from app.llm.embeddings.embedder import Embedder
from client_sdk.answers.answer import Answer
from tests.support.house import House, clinic_store, dialogue_house
from tests.support.stores import PREFIXES

DATA: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("dialogues.toml").read_text("utf-8"))
TURTLE: dict[str, str] = {graph["name"]: graph["turtle"] for graph in DATA["graph"]}
MIN_RIGHT, SURE = 10, 0.9
SHOWN = 3
"""The names that an answer shows of a list whose rest is asked for."""


@pytest.fixture(scope="module")
def house_of(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., House]]:
    """A dialogue with the graph of that name, which is loaded once."""
    with ExitStack() as stores:

        @cache
        def loaded(name: str) -> Any:
            turtle = PREFIXES + TURTLE[name]
            return stores.enter_context(clinic_store(tmp_path_factory.mktemp("dialogues"), embedder, turtle))

        def house(name: str, alike: bool = False, **options: int) -> House:
            likeness = (lambda _text, others: np.ones(len(others))) if alike else None
            house = dialogue_house(loaded(name), embedder, ChatOptions(likeness=likeness))
            house.options.update(options)
            house.__post_init__()
            return house

        yield house


def told(answers: list[Answer], wanted: list[str]) -> list[str]:
    """The last answer in the words of `wanted`."""
    last = answers[-1]
    if not last.answered:
        return ["?"]
    if wanted == ["evidence"]:
        return wanted if last.evidence or "worked out" in last.text else []
    if wanted[0] in ("yes", "no"):
        return re.findall(r"\b(?:yes|no)\b", last.text.lower())[:1]
    return sorted(set(last.names))


@pytest.mark.parametrize("kind", DATA["kind"], ids=lambda kind: kind["name"])
async def test_the_last_turn_is_read_with_those_before(house_of: Callable[..., House], kind: dict[str, Any]) -> None:
    is_list = kind["name"] == "the rest of a list"
    failed, surely = [], []
    for graph, turns, wanted in kind["rows"]:
        house = house_of(graph, **({"names": SHOWN} if is_list else {}))
        answers = [await house.ask(turn) for turn in turns]
        found = told(answers, wanted)
        if is_list:
            found = sorted({*found, *answers[-2].names})
        if found != sorted(wanted):
            failed.append((turns, found))
            surely += [turns] if answers[-1].answered and (answers[-1].confidence or 0) >= SURE else []
    assert len(kind["rows"]) == 12
    assert len(failed) <= 12 - MIN_RIGHT, failed
    assert not surely


@pytest.mark.parametrize(
    "turns",
    [
        ["Who supervises Yrsa Pell?", "Which yacht does he own?", "Where does she live?"],
        ["Which orchards grow Winter Bell?", "Which of them did Tam Reed paint?", "Where are they located?"],
        ["Tell me about Fox Rise", "Which sprayer cleaned Mill Terrace?", "and when?"],
    ],
)
async def test_a_turn_about_what_had_no_answer_is_not_answered_of_something_else(
    house_of: Callable[..., House], turns: list[str]
) -> None:
    house = house_of("orchard")
    assert [(await house.ask(turn)).answered for turn in turns] == [True, False, False]


async def test_thanks_between_two_turns_change_nothing(house_of: Callable[..., House]) -> None:
    house = house_of("orchard")
    for turn in ("Who tends Fox Rise?", "Thanks!", "What does she earn?"):
        answer = await house.ask(turn)
    assert answer.names == ["2600"]


async def test_all_things_of_a_name_are_meant_after_one_of_them_was(house_of: Callable[..., House]) -> None:
    house = house_of("orchard")
    for turn in ("Where does Tam Reed live?", "2", "both"):
        answer = await house.ask(turn)
    assert sorted(answer.names) == ["Mosswick", "Tilbrook"]


async def test_a_list_of_which_nothing_is_left_says_so(house_of: Callable[..., House]) -> None:
    house = house_of("harbour")
    await house.ask("Which captains are there?")
    assert (await house.ask("the rest")).text == "Those were all of them."
    assert (await house.ask("Which of them is the oldest?")).names == ["Jorun Thornby"]


@pytest.mark.parametrize(
    ("turns", "names"),
    [
        (["How many ships does Valeska Thornby captain?", "Which are they?"], ["Long Petrel", "Swift Tern"]),
        (["How many ships are longer than 50?", "which of them is the oldest?"], ["Long Petrel"]),
        (["How many ships does Valeska Thornby captain?", "which of those are longer than 50?"], ["Long Petrel"]),
        (["Is Swift Tern owned by Brindle Lines?", "and who owns Grey Gull?"], ["Ostrava Freight"]),
        (["When was Swift Tern built?", "And Long Petrel?", "which of those two is longer?"], ["Long Petrel"]),
    ],
)
async def test_what_was_counted_or_compared_can_be_spoken_of(
    house_of: Callable[..., House], turns: list[str], names: list[str]
) -> None:
    house = house_of("harbour")
    for turn in turns:
        answer = await house.ask(turn)
    assert sorted(answer.names) == names


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who captains Grey Gull?", "From Grey Gull"),
        ("How many ships does Valeska Thornby captain?", "From that the answer was worked out"),
        ("Is Swift Tern owned by Brindle Lines?", "From Swift Tern"),
    ],
)
async def test_a_doubt_is_answered_with_the_answer_again_and_its_reason(
    house_of: Callable[..., House], question: str, reason: str
) -> None:
    house = house_of("harbour")
    told = (await house.ask(question)).text
    again = (await house.ask("ok, are you sure?")).text
    assert again.startswith(told)
    assert reason in again
    assert (await house.ask("really?")).text == again


async def test_what_is_only_like_small_talk_is_searched_first(house_of: Callable[..., House]) -> None:
    """Every turn is like small talk here, and yet a question that the graph answers is answered."""
    house = house_of("harbour", alike=True)
    assert (await house.ask("who earns the most?")).names == ["Mira Oakes"]
    assert (await house.ask("what a splendid afternoon")).text.startswith("Hello. You can ask me about")
