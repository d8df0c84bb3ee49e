"""Offers: an owner sees what a person offers and nothing else, settles it, and saves it as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.memory.stated_facts import FactOwner, Mention, StatedFact
from app.wiring.administration import offers_in
from client_sdk import AsyncChat, KeyPair, RefusedError
from client_sdk.crypto.sealing import memory_context, open_capsule
from client_sdk.protocol import OfferList
from client_sdk.restore import restore
from evaluation.checks.canaries import canaries_in
from tests.app.api.routes.test_memory import CANARIES, LIVES, LIVES_IN, PAIR, PREFERS, chat, keep, key_of
from tests.support.asking import PEOPLE
from tests.support.service import OPERATOR, Running, bearer, logging_to, running

OFFERS = "/admin/graphs/clinic/offers"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as house:
        house.load(turtle=PEOPLE)
        yield house


async def offered(house: Running) -> tuple[AsyncChat, str]:
    """A dialogue whose person told two sentences and offers LIVES, and the id of that."""
    key_id, key = key_of(house)
    keep(house, key_id)
    talk = chat(house, key)
    fact = next(each for each in await talk.memory.list() if each.text == LIVES)
    await talk.memory.offer(fact.id)
    return talk, fact.id


async def listed(house: Running, pair: KeyPair = PAIR) -> OfferList:
    reply = await house.http.get(OFFERS, params={"public_key": pair.public_text}, headers=OPERATOR)
    return OfferList.model_validate_json(reply.content)


async def test_an_owner_sees_what_is_offered_and_nothing_else(tmp_path: Path) -> None:
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path) as house:
            house.load(turtle=PEOPLE)
            assert (await listed(house)).offers == []
            _, fact_id = await offered(house)
            told = await listed(house)
            metrics = await house.http.get("/metrics", headers=OPERATOR)
            entry = [*house.services.store.access_record.entries("default")][-1]
            kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert told.capsule is not None
    names = open_capsule(told.capsule, PAIR, memory_context(told)).table
    (offer,) = told.offers
    assert (offer.id, restore(offer.text, names), offer.relation) == (fact_id, LIVES, "lives in")
    assert (restore(offer.subject, names), restore(offer.object, names)) == ("Zofia Quarrel", "Tarnmouth")
    assert (entry.event, entry.answer, entry.count) == ("read", told.id, 2)
    visible = told.model_dump_json().encode() + log.getvalue().encode() + metrics.content
    assert not canaries_in(visible + kept, CANARIES)


async def test_no_asker_lists_or_settles_offers(house: Running) -> None:
    talk, fact_id = await offered(house)
    _, other = key_of(house, "clinic", "inspect:clinic")
    for method, body in (("GET", None), ("POST", {"ids": [fact_id], "outcome": "taken"})):
        assert (await house.http.request(method, OFFERS, json=body, headers=bearer(other))).status_code == 403
    with pytest.raises(RefusedError):
        await chat(house, other).memory.offer(fact_id)
    with pytest.raises(RefusedError):
        await chat(house, other).memory.withdraw(fact_id)
    assert [each.offer for each in await talk.memory.list()] == ["", "offered"]


@pytest.mark.parametrize("outcome", ["taken", "refused"])
async def test_who_offered_sees_what_became_of_it_and_the_graph_stays(house: Running, outcome: str) -> None:
    talk, fact_id = await offered(house)
    unasked = next(each.id for each in await talk.memory.list() if each.text == PREFERS)
    before = (await house.http.get("/admin/graphs/clinic/versions", headers=OPERATOR)).json()
    body = {"ids": [fact_id, unasked], "outcome": outcome}
    assert (await house.http.post(OFFERS, json=body, headers=OPERATOR)).json() == {"facts": 1}
    assert [each.offer for each in await talk.memory.list()] == ["", outcome]
    assert (await listed(house)).offers == []
    await talk.memory.offer(fact_id)
    assert len((await listed(house)).offers) == (outcome == "refused")
    assert (await house.http.get("/admin/graphs/clinic/versions", headers=OPERATOR)).json() == before


async def test_what_is_withdrawn_or_forgotten_is_offered_no_more(house: Running) -> None:
    talk, fact_id = await offered(house)
    await talk.memory.withdraw(fact_id)
    assert (await listed(house)).offers == []
    await talk.memory.offer(fact_id)
    await talk.memory.forget(fact_id)
    assert (await listed(house)).offers == []


async def test_offers_are_saved_for_the_owners_files_and_no_cell_runs(house: Running) -> None:
    talk, _ = await offered(house)
    key_id, key = key_of(house)
    fact = StatedFact(("=1+1 is what ", " wants."), (Mention((), "-2", "text"),))
    house.services.store.facts.keep(FactOwner("default", "clinic", key_id), fact)
    (formula,) = await chat(house, key).memory.list()
    await chat(house, key).memory.offer(formula.id)
    rows = list(csv.reader(io.StringIO(offers_in(house.services.store).as_csv("default", "clinic"))))
    assert rows[0] == ["id", "day", "subject", "relation", "object", "sentence"]
    assert rows[1][2:] == ["", "", "", "'=1+1 is what -2 wants."]
    assert rows[2][2:] == ["Zofia Quarrel", LIVES_IN, "Tarnmouth", LIVES]
    assert PREFERS not in str(rows)
    assert len(await talk.memory.list()) == 2
