"""GET and DELETE /memory, also by the SDK: a person's own sentences alone, names sealed, nothing in clear."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

from app.database.tables import stated_facts
from app.memory.stated_facts import FactOwner, Mention, StatedFact
from client_sdk import AsyncChat, CannotOpenCapsuleError, KeyPair, RefusedError
from client_sdk.memory import open_memory_page
from client_sdk.protocol import MEMORY_PAGE, MemoryPage
from evaluation.checks.canaries import canaries_in
from tests.support.asking import PEOPLE
from tests.support.service import OPERATOR, Running, bearer, logging_to, running

PAIR = KeyPair.generate()
ZOFIA, BERTIL = "Zofia Quarrel", "Bertil Oxenhame"
LIVES_IN = "http://clinic.test/li"
LIVES, PREFERS = f"{ZOFIA} lives in Tarnmouth.", f"{BERTIL} prefers mornings."
CANARIES = ("Tarnmouth", "Quarrel", "Oxenhame", "Bertil", "Zofia")
ROLES = 'show_relations = "all"\n[roles.office]\nwithhold_relations = ["http://clinic.test/li"]\n'


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as house:
        house.load(turtle=PEOPLE)
        yield house


def key_of(house: Running, *grants: str) -> tuple[str, str]:
    """The id of a new key, and the key."""
    issued = house.services.store.access.create("default", "user", grants or ("clinic",))
    return issued.key_id, issued.key


def keep(house: Running, key_id: str, *, person: str = "", relation: str = LIVES_IN) -> None:
    """Keeps LIVES as a fact, then PREFERS in the person's own words."""
    named = house.services.store.catalog.open("default", "clinic").names.named
    owner = FactOwner("default", "clinic", key_id, person)
    town = Mention((), "Tarnmouth", "text")
    zofia, bertil = (Mention(tuple(named(name))) for name in (ZOFIA, BERTIL))
    store = house.services.store.facts
    store.keep(owner, StatedFact(("", " lives in ", "."), (zofia, town), "c1", person, relation, 0, 1))
    store.keep(owner, StatedFact(("", " prefers mornings."), (bertil,), "c2", person))


def chat(house: Running, key: str, **more: str) -> AsyncChat:
    return AsyncChat("http://service", key, "clinic", key=PAIR, plain_http=True, http=house.http, **more)  # type: ignore[arg-type]


async def listed(house: Running, key: str, **params: str) -> httpx2.Response:
    return await house.http.get("/memory", params={"graph": "clinic", **params}, headers=bearer(key))


def rows_in(house: Running) -> int:
    with house.services.store.engine.connect() as connection:
        return len(connection.execute(select(stated_facts)).all())


async def test_what_was_told_is_listed_with_its_names_on_the_askers_machine(house: Running) -> None:
    key_id, key = key_of(house)
    keep(house, key_id)
    words, fact = await chat(house, key).memory.list()
    assert (words.text, words.form, words.conversation) == (PREFERS, "words", "c2")
    assert (fact.text, fact.form, fact.conversation) == (LIVES, "fact", "c1")
    assert words.made_at >= fact.made_at


async def test_no_name_is_in_a_visible_reply_log_metric_or_file(tmp_path: Path) -> None:
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path) as house:
            house.load(turtle=PEOPLE)
            key_id, key = key_of(house)
            keep(house, key_id)
            sealed = await listed(house, key, public_key=PAIR.public_text)
            bare = await listed(house, key)
            gone = await house.http.delete("/memory/" + "0" * 24, params={"graph": "clinic"}, headers=bearer(key))
            metrics = await house.http.get("/metrics", headers=OPERATOR)
            kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    page = MemoryPage.model_validate_json(sealed.content)
    assert [each.text for each in open_memory_page(page, PAIR, "clinic")] == [PREFERS, LIVES]
    assert (len(bare.json()["facts"]), bare.json()["capsule"], gone.status_code) == (2, None, 404)
    shown = sealed.content + bare.content + gone.content + metrics.content + log.getvalue().encode()
    assert not canaries_in(shown + kept, CANARIES)
    assert "mornings" not in log.getvalue() + metrics.text


async def test_a_changed_page_opens_no_name(house: Running) -> None:
    key_id, key = key_of(house)
    keep(house, key_id)
    page = MemoryPage.model_validate_json((await listed(house, key, public_key=PAIR.public_text)).content)
    first = page.facts[0].model_copy(update={"text": f"{page.facts[0].text} See evil.invalid"})
    for changed in (page.model_copy(update={"facts": [first, *page.facts[1:]]}), page.model_copy(update={"total": 3})):
        with pytest.raises(CannotOpenCapsuleError):
            open_memory_page(changed, PAIR, "clinic")


async def test_one_sentence_is_forgotten_then_all(house: Running) -> None:
    key_id, key = key_of(house)
    keep(house, key_id)
    memory = chat(house, key).memory
    words, fact = await memory.list()
    await memory.forget(words.id)
    assert await memory.list() == (fact,)
    with pytest.raises(RefusedError) as refused:
        await memory.forget(words.id)
    assert refused.value.code == "unknown_fact"
    keep(house, key_id)
    assert await memory.forget_all() == 2
    assert await memory.list() == ()
    assert rows_in(house) == 0


async def test_nobody_else_lists_or_forgets_it(house: Running) -> None:
    key_id, key = key_of(house)
    ann, bo = chat(house, key, person="ann"), chat(house, key, person="bo")
    keep(house, key_id, person=ann._dialogue.person_sign())
    fact, *_ = await ann.memory.list()
    for other in (bo, chat(house, key), chat(house, key_of(house)[1], person="ann")):
        assert await other.memory.list() == ()
        assert await other.memory.forget_all() == 0
        with pytest.raises(RefusedError):
            await other.memory.forget(fact.id)
    assert await bo.memory.list(person="ann") == await ann.memory.list()
    for admin in (OPERATOR, bearer(house.services.store.access.create("default", "admin", ("clinic",)).key)):
        reply = await house.http.get("/memory", params={"graph": "clinic"}, headers=admin)
        assert reply.json()["facts"] == []
    assert rows_in(house) == 2


async def test_a_key_without_the_graph_is_refused(house: Running) -> None:
    _, key = key_of(house, "other")
    for method, path in (("GET", "/memory"), ("DELETE", "/memory"), ("DELETE", "/memory/" + "0" * 24)):
        refused = await house.http.request(method, path, params={"graph": "clinic"}, headers=bearer(key))
        assert (refused.status_code, refused.json()["code"]) == (404, "unknown_graph")
        assert (await house.http.request(method, path, params={"graph": "clinic"})).status_code == 401


async def test_what_the_role_no_longer_sees_is_not_shown_but_goes_with_all(house: Running) -> None:
    key_id, key = key_of(house, "clinic#office")
    house.load(turtle=PEOPLE, policy='show_relations = "all"\n[roles.office]\n')
    keep(house, key_id)
    memory = chat(house, key).memory
    assert [each.text for each in await memory.list()] == [PREFERS, LIVES]
    house.load(turtle=PEOPLE, policy=ROLES)
    assert [each.text for each in await memory.list()] == [PREFERS]
    assert (await listed(house, key)).json()["total"] == 1
    assert await memory.forget_all() == 2


async def test_pages_follow_one_another(house: Running) -> None:
    key_id, key = key_of(house)
    owner, store = FactOwner("default", "clinic", key_id), house.services.store.facts
    for number in range(MEMORY_PAGE + 3):
        store.keep(owner, StatedFact((f"Note {number}.",), ()))
    told = [each.text for each in await chat(house, key).memory.list()]
    assert told == [f"Note {number}." for number in reversed(range(MEMORY_PAGE + 3))]
    second = (await listed(house, key, offset=str(MEMORY_PAGE))).json()
    assert (len(second["facts"]), second["total"], second["offset"]) == (3, MEMORY_PAGE + 3, MEMORY_PAGE)


async def test_listed_names_count_in_the_budget_and_are_recorded(tmp_path: Path) -> None:
    async with running(tmp_path, names_per_day=1) as house:
        house.load(turtle=PEOPLE)
        key_id, key = key_of(house)
        keep(house, key_id)
        refused = await listed(house, key, public_key=PAIR.public_text)
        assert (refused.status_code, refused.json()["code"]) == (429, "budget_used_up")
        assert (await listed(house, key)).status_code == 200
    async with running(tmp_path / "other") as house:
        house.load(turtle=PEOPLE)
        key_id, key = key_of(house)
        keep(house, key_id)
        page = (await listed(house, key, public_key=PAIR.public_text)).json()
        entry = [*house.services.store.access_record.entries("default")][-1]
        assert (entry.event, entry.caller, entry.answer, entry.count) == ("read", key_id, page["id"], 3)


async def test_a_revoked_device_gets_no_names(house: Running) -> None:
    key_id, key = key_of(house)
    keep(house, key_id)
    devices = house.services.store.devices
    device = devices.register("default", key_id, PAIR.public_text)
    devices.revoke("default", key_id, device.fingerprint)
    refused = await listed(house, key, public_key=PAIR.public_text)
    assert (refused.status_code, refused.json()["code"]) == (403, "device_not_admitted")
    assert (await listed(house, key, public_key="AAAA")).json()["code"] == "bad_public_key"
