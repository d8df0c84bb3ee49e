"""Told facts over HTTP with the SDK: kept, recalled, forgotten, given beside answers, and nobody else's."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.database.tables import stated_facts
from client_sdk import AsyncChat, KeyPair
from evaluation.checks.canaries import canaries_in
from tests.support.asking import PEOPLE, SECRETS
from tests.support.house import drafting
from tests.support.processes.model_server import serving
from tests.support.service import OPERATOR, Running, logging_to, running

pytestmark = pytest.mark.model
LIVES, WHERE = "Zofia Quarrel lives in Tarnmouth.", "Where does Zofia Quarrel live?"
ANSWER = "Zofia Quarrel lives in Zemgalburg."
TREATED = "Zofia Quarrel is treated by Ptolemy Ashgrove."
PREFERS = "Bertil Oxenhame prefers mornings."
ROLES = '[roles.office]\nwithhold_relations = ["http://clinic.test/li"]\n'
NAMES = ("Tarnmouth", *(secret for secret in SECRETS if len(secret) > 6 and secret.isalpha()))
"""Long enough not to stand in sealed bytes by chance."""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        house.load(turtle=PEOPLE)
        yield house


def key_of(house: Running, *grants: str) -> str:
    return house.services.store.access.create("default", "user", grants or ("clinic",)).key


def chat(house: Running, key: str) -> AsyncChat:
    return AsyncChat("http://service", key, "clinic", key=KeyPair.generate(), plain_http=True, http=house.http)


async def said(talk: AsyncChat, *turns: str, **more: str) -> str:
    """The text of the last answer, with any date as DAY."""
    texts = [(await talk.ask(turn, **more)).text for turn in turns]  # type: ignore[arg-type]
    return re.sub(r"\bon \d{1,2} [A-Z][a-z]+", "on DAY", texts[-1])


async def test_what_is_told_is_kept_and_asked_back_with_its_day(house: Running) -> None:
    key = key_of(house)
    talk = chat(house, key)
    assert await said(talk, f"Remember that {LIVES}") == f"I will remember: {LIVES}"
    assert await said(talk, f"remember: {PREFERS}") == f"I will remember it in your own words: {PREFERS}"
    about = f"You told me on DAY: {LIVES}"
    assert await said(talk, "What did I tell you about Zofia Quarrel?") == about
    assert await said(chat(house, key), "What did I tell you about Tarnmouth?") == about
    assert await said(chat(house, key), "What did I tell you?") == f"You told me on DAY: {PREFERS} {about}"
    assert await said(chat(house, key), "When did I say that?") == f"You told me on DAY: {PREFERS}"


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        (LIVES, WHERE, ANSWER),
        (TREATED, "Who is Zofia Quarrel treated by?", "Zofia Quarrel is treated by Ottoline Brackwater."),
        (
            "Ptolemy Ashgrove's monthly salary is 7000.",
            "What is the monthly salary of Ptolemy Ashgrove?",
            "Ptolemy Ashgrove's monthly salary is 6100.",
        ),
    ],
)
async def test_an_answer_that_differs_gives_both(house: Running, told: str, asked: str, answer: str) -> None:
    key = key_of(house)
    await said(chat(house, key), f"Remember that {told}")
    assert await said(chat(house, key), asked) == f"{answer} You told me on DAY: {told}"
    assert await said(chat(house, key), asked, "Where does Bertil Oxenhame live?") == (
        "Bertil Oxenhame lives in Umbrathal."
    )


async def test_an_answer_that_says_the_same_gives_one(house: Running) -> None:
    talk = chat(house, key_of(house))
    assert await said(talk, f"Remember that {ANSWER}") == f"I will remember: {ANSWER}"
    assert await said(talk, WHERE) == ANSWER


async def test_a_pronoun_tells_of_who_was_spoken_of_and_a_later_one_asks(house: Running) -> None:
    talk = chat(house, key_of(house))
    await said(talk, WHERE, "Remember that she lives in Tarnmouth")
    assert await said(talk, "Where does she live?") == f"{ANSWER} You told me on DAY: {LIVES}"


async def test_a_question_behind_told_facts_follows_the_question_before_them(house: Running) -> None:
    talk = chat(house, key_of(house))
    told = f"Remember that {TREATED}"
    assert await said(talk, WHERE, told, "and Bertil Oxenhame?") == "Bertil Oxenhame lives in Umbrathal."
    assert await said(talk, told, "What did I tell you about Zofia Quarrel?", "Where does she live?") == ANSWER
    assert await said(talk, "Remember that her doctor is Bertil Oxenhame", "Where does she live?") == ANSWER


async def test_what_was_told_is_forgotten(house: Running) -> None:
    talk = chat(house, key_of(house))
    await said(talk, f"Remember that {LIVES}", f"Remember that {TREATED}", f"Remember that {PREFERS}")
    assert await said(talk, "Forget that.") == f"I have forgotten 1 thing that you told me: {PREFERS}"
    assert await said(talk, "Forget what I told you about Zofia Quarrel") == (
        "I have forgotten 2 things that you told me."
    )
    assert await said(talk, "What did I tell you?") == "You have told me nothing."
    assert await said(talk, WHERE) == ANSWER
    with house.services.store.engine.connect() as connection:
        assert connection.execute(select(stated_facts)).all() == []


@pytest.mark.parametrize(
    "text",
    [
        LIVES,
        WHERE,
        "Thanks!",
        "Hello",
        "Remember Zofia Quarrel",
        "Remember to call Zofia Quarrel",
        "Remember who treats Zofia Quarrel?",
        "Do you remember where Zofia Quarrel lives?",
    ],
)
async def test_nothing_is_kept_of_what_states_nothing_or_is_not_to_be_remembered(house: Running, text: str) -> None:
    await said(chat(house, key_of(house)), text)
    with house.services.store.engine.connect() as connection:
        assert connection.execute(select(stated_facts)).all() == []


OFFER = f"Shall I remember: {LIVES[:-1]}? Say yes or no."


async def test_what_is_said_in_passing_is_kept_only_if_its_asker_agrees(house: Running) -> None:
    key = key_of(house)
    assert await said(chat(house, key), LIVES) == OFFER
    assert await said(chat(house, key), "What did I tell you?") == "You have told me nothing."
    assert await said(chat(house, key), LIVES, "No, thanks") == "All right, I keep nothing of it."
    assert await said(chat(house, key), LIVES, WHERE) == ANSWER
    assert await said(chat(house, key), "What did I tell you?") == "You have told me nothing."
    assert await said(chat(house, key), LIVES, "yes please") == f"I will remember: {LIVES}"
    assert await said(chat(house, key), "What did I tell you?") == f"You told me on DAY: {LIVES}"


async def test_what_is_said_of_a_name_that_two_things_have_is_kept_of_both(house: Running) -> None:
    house.load(turtle=PEOPLE + '\n:p9 a :Patient ; rdfs:label "Zofia Quarrel" .\n')
    key, told = key_of(house), "Zofia Quarrel has moved to the attic room."
    assert await said(chat(house, key), told) == f"Shall I remember: {told[:-1]}? Say yes or no."
    assert await said(chat(house, key), told, "yes please") == f"I will remember it in your own words: {told}"
    assert await said(chat(house, key), "What did I tell you about Zofia Quarrel?") == f"You told me on DAY: {told}"


async def test_a_yes_to_no_offer_keeps_nothing(house: Running) -> None:
    talk = chat(house, key_of(house))
    await said(talk, WHERE, "yes please")
    assert await said(talk, "What did I tell you?") == "You have told me nothing."


async def test_what_names_nothing_of_the_graph_is_kept_and_found_by_a_question_like_it(house: Running) -> None:
    key, told = key_of(house), "The staff meeting has moved to the small kitchen."
    assert await said(chat(house, key), f"Remember that {told}") == f"I will remember it in your own words: {told}"
    assert await said(chat(house, key), "Where is the staff meeting?") == f"You told me on DAY: {told}"
    assert await said(chat(house, key_of(house)), "Where is the staff meeting?") != f"You told me on DAY: {told}"


async def test_a_sentence_in_ones_own_words_is_found_by_a_question_like_it(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), f"Remember that {PREFERS}", f"Remember that {TREATED}")
    asked = "What time of day does Bertil Oxenhame prefer?"
    assert (await said(chat(house, key), asked)).endswith(f"You told me on DAY: {PREFERS}")
    assert await said(chat(house, key), "Where does Bertil Oxenhame live?") == "Bertil Oxenhame lives in Umbrathal."


async def test_a_turn_that_leans_on_a_told_one_tells_nothing_of_another(house: Running) -> None:
    talk = chat(house, key_of(house))
    await said(talk, f"Remember that {LIVES}", "and Bertil Oxenhame?")
    assert await said(talk, "What did I tell you?") == f"You told me on DAY: {LIVES}"


async def test_what_one_person_told_answers_no_other(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), f"Remember that {LIVES}", person="ann")
    for other, person in ((key, "bo"), (key, ""), (key_of(house), "ann")):
        talk = chat(house, other)
        assert await said(talk, "What did I tell you?", person=person) == "You have told me nothing."
        assert await said(talk, WHERE, person=person) == ANSWER
        await said(talk, "forget everything I told you", person=person)
    assert await said(chat(house, key), WHERE, person="ann") == f"{ANSWER} You told me on DAY: {LIVES}"


async def test_who_no_longer_sees_a_relation_is_not_told_what_they_said_of_it(house: Running) -> None:
    key = key_of(house, "clinic#office")
    house.load(turtle=PEOPLE, policy='show_relations = "all"\n[roles.office]\n')
    await said(chat(house, key), f"Remember that {LIVES}")
    assert await said(chat(house, key), "What did I tell you?") == f"You told me on DAY: {LIVES}"
    house.load(turtle=PEOPLE, policy=f'show_relations = "all"\n{ROLES}')
    assert await said(chat(house, key), "What did I tell you?") == "You have told me nothing."


async def test_a_graph_whose_policy_turns_memory_off_remembers_nothing_and_uses_nothing(house: Running) -> None:
    key = key_of(house)
    talk = chat(house, key)
    await said(talk, f"Remember that {LIVES}")
    house.load(turtle=PEOPLE, policy='show_relations = "all"\nmemory = false\n')
    off = "Nothing is remembered of this graph: its owner has turned that off."
    for turn in (f"Remember that {PREFERS}", "What did I tell you?", "What did we talk about today?"):
        assert await said(chat(house, key), turn) == off
    assert await said(chat(house, key), WHERE) == ANSWER
    assert "remember" not in await said(chat(house, key), PREFERS)
    # It stays its owner's, to be looked at and taken out.
    assert [each.text for each in await talk.memory.list()] == [LIVES]
    assert await talk.memory.forget_all() == 1


async def test_told_facts_go_with_their_graph(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), f"Remember that {LIVES}")
    assert (await house.http.delete("/admin/graphs/clinic", headers=OPERATOR)).status_code == 204
    house.load(turtle=PEOPLE)
    assert await said(chat(house, key), "What did I tell you?") == "You have told me nothing."


async def test_told_facts_go_with_the_person_whom_they_mention(house: Running) -> None:
    key = key_of(house)
    for told in (LIVES, PREFERS, "Bertil Oxenhame is a friend of Zofia Quarrel."):
        await said(chat(house, key), f"Remember that {told}")
    job = await house.http.post("/admin/graphs/clinic/forget", json={"name": "Zofia Quarrel"}, headers=OPERATOR)
    ended = await house.ended(str(job.json()["id"]), OPERATOR)
    assert ended["state"] == "done", ended
    assert await said(chat(house, key), "What did I tell you?") == f"You told me on DAY: {PREFERS}"


async def test_a_told_name_is_in_no_file_log_metric_or_visible_reply(tmp_path: Path) -> None:
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path, thinks=True) as house:
            house.load(turtle=PEOPLE)
            key = key_of(house)
            talk = chat(house, key)
            await said(talk, f"Remember that {LIVES}", WHERE, "What did I tell you?", "forget everything I told you")
            await said(talk, f"Remember that {LIVES}", f"Remember that {PREFERS}")
            await said(talk, f"By the way, {TREATED}", "yes please", "Zofia Quarrel moved to Tarnmouth.", "no")
            body = {"graph": "clinic", "messages": [{"role": "user", "content": "What did I tell you?"}]}
            headers = {"Authorization": f"Bearer {key}"}
            told = await house.http.post("/chat", json=body, headers=headers)
            metrics = await house.http.get("/metrics", headers=OPERATOR)
            kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        shown = told.content + metrics.content + log.getvalue().encode()
    assert "You told me on" in told.text
    assert not canaries_in(kept, NAMES)
    assert not canaries_in(shown, NAMES)
    assert "mornings" not in log.getvalue() + metrics.text


async def test_no_model_is_asked_about_what_is_told_or_sees_it_later(tmp_path: Path) -> None:
    with serving() as server:
        server.replies = drafting("{treated by}")
        changes = {"endpoint_url": server.url, "endpoint_model": "m", "profile": "open", "endpoint_use": "always"}
        async with running(tmp_path, thinks=True, reasoner="endpoint", **changes) as house:
            house.load(turtle=PEOPLE)
            talk = chat(house, key_of(house))
            told = await said(talk, f"Remember that {LIVES}", f"Remember that {TREATED}", "What did I tell you?")
            before = [each for each in server.received if b"question" in each.body]
            both = await said(talk, "Who is Zofia Quarrel treated by?")
            await said(talk, "And who is he treated by?", "Who is she treated by?")
            await said(talk, "Remember that the staff meeting has moved to the zinnia kitchen.")
            alike = await said(talk, "Where is the staff meeting?")
            await said(talk, "And who is he treated by?", "Who is she treated by?")
    sent = b"".join(each.body for each in server.received)
    assert told == f"You told me on DAY: {TREATED} You told me on DAY: {LIVES}"
    assert f"You told me on DAY: {TREATED}" in both
    assert before == []
    assert b"treated by" in sent
    assert not canaries_in(sent, (*SECRETS, *NAMES))
    assert "zinnia" in alike
    assert not any(words in sent for words in (b"emember", b"told me", b"tell you", b"zinnia"))
