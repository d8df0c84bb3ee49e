"""Guessing values: the ways work where pseudonyms or lines follow the values, and tell nothing of what is sent."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from app.llm.tasks import Evidence
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.exchanges import Exchange, exchange_all
from evaluation.attacks.targets import OPENLY, AttackTarget
from evaluation.attacks.value_guesses import (
    Observation,
    by_dictionary,
    by_generalised_forms,
    by_orders_and_sizes,
    in_base_36,
    seen_in,
)
from evaluation.attacks.values import (
    ObservedRelation,
    asked_of,
    controls,
    conversations,
    guessed,
    made_up_graph,
    made_up_policy,
)
from evaluation.bench.bench import Bench
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.terms import ValueKind, as_mids
from tests.evaluation.attacks.made import step

pytestmark = pytest.mark.model

TEXTS = {mid: str(1_000 + 37 * mid) for mid in range(1, 41)}
SPREAD = Counter(dict.fromkeys(TEXTS, 2) | {7: 5})
RANKS = {mid: mid for mid in TEXTS}


def sights(count: int = 160) -> list[Observation]:
    """Values with words, places and lengths that were drawn without looking at them."""
    draw = random.Random(5)
    found = []
    for number in range(count):
        truth = draw.choices(list(SPREAD), list(SPREAD.values()))[0]
        word = "V" + in_base_36(draw.randrange(36**4, 36**5))
        found.append(
            Observation(
                number // 4, word, draw.random(), draw.random(), 90, draw.uniform(-9, 9), 0, frozenset(), truth
            )
        )
    return found


def right(guesses: list[int], seen: list[Observation]) -> float:
    return sum(guess == each.truth for guess, each in zip(guesses, seen, strict=True)) / len(seen)


def test_what_follows_nothing_gives_nothing_away() -> None:
    seen = sights()
    prior = SPREAD[7] / SPREAD.total()
    assert right(by_dictionary(seen, SPREAD, TEXTS), seen) <= prior + 0.05
    assert right(by_generalised_forms(seen, SPREAD, TEXTS), seen) <= prior + 0.05
    assert right(by_orders_and_sizes(seen, SPREAD, RANKS), seen) <= prior + 0.05


@pytest.mark.parametrize("digest", ["md5", "sha256", "blake2b"])
def test_a_digest_is_looked_up(digest: str) -> None:
    seen = [
        replace(each, word="V" + hashlib.new(digest, TEXTS[each.truth].encode()).hexdigest()[:5]) for each in sights()
    ]
    assert right(by_dictionary(seen, SPREAD, TEXTS), seen) > 0.95


def test_words_in_the_order_of_values_are_read() -> None:
    numbered = [replace(each, word=f"V{in_base_36(each.truth).zfill(5)}") for each in sights()]
    assert right(by_orders_and_sizes(numbered, SPREAD, RANKS), numbered) > 0.8
    downwards = [replace(each, word=f"V{in_base_36(900 - each.truth).zfill(5)}") for each in sights()]
    assert right(by_orders_and_sizes(downwards, SPREAD, RANKS), downwards) > 0.8


def test_lengths_and_places_that_follow_values_are_read() -> None:
    for name in ("place", "body"):
        leaky = [replace(each, **{name: each.truth / 40}) for each in sights()]
        assert right(by_orders_and_sizes(leaky, SPREAD, RANKS), leaky) > 0.8, name


def test_a_year_that_is_shown_narrows_the_guess() -> None:
    texts = {mid: f"{1950 + mid}-03-17" for mid in range(1, 41)}
    seen = [replace(each, tokens=frozenset({"E1", str(1950 + each.truth)})) for each in sights()]
    assert right(by_generalised_forms(seen, SPREAD, texts), seen) == 1.0


def test_values_are_read_off_requests_as_they_were_sent() -> None:
    rows = [
        Evidence(start="Eaaaa1", path=["salary"], end=word, end_concept="number")
        for word in ("Vbbbb2", "Scccc3", "Sdddd4")
    ]
    other = Evidence(start="Eaaaa1", path=["born"], end="Veeee5", end_concept="date")
    question = Question.model_validate({"id": "1", "question": "?", "answers": []})
    truth = {"Vbbbb2": as_mids([11]), "Scccc3": as_mids([12]), "Sdddd4": as_mids([11, 12])}
    bodies = (step(), step(evidence=[*rows, other]))
    seen = seen_in([Exchange(question, (bodies, bodies), (True, True), truth)], "salary")
    assert [(each.word, each.truth, each.place, each.appeared) for each in seen] == [
        ("Vbbbb2", 11, 0.0, 0.0), ("Scccc3", 12, 0.5, 1.0),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ObservedRelation], list[bytes], list[Exchange]]:
    """A few conversations about each kind of value of the made-up graph, and every byte that was sent for them."""
    file = tmp_path_factory.mktemp("values") / "made-up.ttl"
    file.write_text(made_up_graph(), "utf-8")
    return asyncio.run(_record(file))


async def _record(file: Path) -> tuple[list[ObservedRelation], list[bytes], list[Exchange]]:
    endpoint, read, every = ScriptedEndpoint(), [], []
    async with Bench("scripted", scripted=endpoint, changes=OPENLY) as bench:
        target = AttackTarget(bench, bench.load("made-up", [file], made_up_policy()), (), KeyPair.generate(), endpoint)
        for asked in asked_of(bench.graph(target.loaded), seed=1):
            exchanges = await exchange_all(target, conversations(asked, 12, seed=1))
            every += exchanges
            read.append(ObservedRelation(asked, seen_in(exchanges, asked.relation.label)))
        return read, [received.body for received in endpoint.received], every


def test_no_value_is_sent_whatever_is_asked_about_it(
    recorded: tuple[list[ObservedRelation], list[bytes], list[Exchange]],
) -> None:
    """Compared, sorted, filtered and counted by the server: also where the policy allows a generalised form."""
    read, sent, exchanges = recorded
    assert {each.asked.relation.value_kind for each in read} == {ValueKind.NUMBER, ValueKind.DATE, ValueKind.TEXT}
    assert sum(all(exchange.answered) for exchange in exchanges) > 0.8 * len(exchanges)
    texts = {text for each in read for text in each.asked.texts.values()}
    # A pseudonym may hold any digits by chance.
    told = " ".join(re.findall(r"\b(?![EVSR][a-z0-9]{5}\b)[\w.-]+", b"\n".join(sent).decode()))
    assert [text for text in texts if text in told] == []


def test_every_way_is_tried_on_what_was_sent_and_controls_succeed(
    recorded: tuple[list[ObservedRelation], list[bytes], list[Exchange]],
) -> None:
    read = recorded[0]
    assert all(len(each.seen) >= 50 for each in read)
    lines = guessed(read, "made up")
    assert [line.rate <= line.blind + 0.05 for line in lines] == [True] * 3
    assert [line.rate > 3 * line.blind for line in controls(read)] == [True] * 4
