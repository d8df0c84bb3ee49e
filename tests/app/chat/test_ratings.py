"""Ratings over HTTP with the SDK: they teach, win over earlier ones, poison nobody, and leave no name anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from app.chat.case_admin import MAX_SAMPLES
from app.chat.conversations import ConversationStore
from app.chat.reply import LEANS_ON_APPROVED, LEANS_ON_RATING
from app.chat.search import SURE
from app.database.tables import cases
from app.memory.cases import MAX_CORRECTED_CONFIDENCE, CaseContent
from client_sdk.crypto.sealing import CannotOpenError, KeyPair, cases_context, open_capsule
from client_sdk.errors import UnknownConversationError
from client_sdk.protocol import CaseList
from tests.support.rated_graph import ASKED, PEOPLE, RELATIONS, SECRETS, TOWNS, case_list, chat, town, turtle
from tests.support.service import OPERATOR, Running, bearer, running

pytestmark = pytest.mark.model
LEARNT = "worksIn"
ROLES = """
[roles.home]
withhold_relations = ["http://towns.invalid/worksIn"]
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        house.load(name="towns", turtle=turtle())
        yield house


def key_of(house: Running, *grants: str) -> str:
    return house.services.store.access.create("default", "user", grants or ("towns",)).key


async def told(house: Running, key: str, person: int) -> list[str]:
    answer = await chat(house, key=key).ask(ASKED.format(PEOPLE[person]))
    return answer.names


async def taught(house: Running, key: str, person: int = 0) -> None:
    """The first answer is wrong, and is told what is right."""
    answer = await chat(house, key=key).ask(ASKED.format(PEOPLE[person]))
    assert (await answer.rate("wrong", [town(person, LEARNT)])).learnt


async def test_what_is_told_to_be_right_is_answered_from_then_on(house: Running) -> None:
    key = key_of(house)
    assert await told(house, key, 1) != [town(1, LEARNT)]
    await taught(house, key)
    assert await told(house, key, 1) == [town(1, LEARNT)]
    assert await told(house, key, 5) == [town(5, LEARNT)]
    assert [case["paths"] for case in await case_list(house)] == [["works in"]]


async def test_what_follows_a_correction_is_no_surer_than_it_and_says_so(house: Running) -> None:
    key = key_of(house)
    await taught(house, key)
    answer = await chat(house, key=key).ask(ASKED.format(PEOPLE[1]))
    assert answer.names == [town(1, LEARNT)]
    assert answer.confidence is not None
    assert answer.confidence <= MAX_CORRECTED_CONFIDENCE
    assert LEANS_ON_RATING in answer.notes


async def test_persons_who_share_a_key_change_nothing_for_one_another(house: Running) -> None:
    key, asked = key_of(house), ASKED.format(PEOPLE[1])
    before = await chat(house, key=key).ask(asked, person="ann")
    for at in (0, 2, 3):
        false = await chat(house, key=key).ask(ASKED.format(PEOPLE[at]), person="bo")
        await false.rate("wrong", [town(at, LEARNT)])
    hers = await chat(house, key=key).ask(asked, person="ann")
    nobodys = await chat(house, key=key).ask(asked)
    for after in (hers, nobodys):
        assert (after.names, after.confidence, after.notes) == (before.names, before.confidence, before.notes)
    assert (await chat(house, key=key).ask(asked, person="bo")).names == [town(1, LEARNT)]
    assert {case["raters"] for case in await case_list(house)} == {1}
    again = await chat(house, key=key).ask(ASKED.format(PEOPLE[4]), person="ann")
    await again.rate("wrong", [town(4, LEARNT)])
    assert {case["raters"] for case in await case_list(house)} == {2}


async def test_false_ratings_of_one_person_make_nobody_sure_of_what_is_wrong(house: Running) -> None:
    key, ways = key_of(house), list(RELATIONS)
    wordings = (ASKED, "Where was {} born?", "Where does {} live?", "Where does {} work?", "Which town has {}?")
    before = {text: await chat(house, key=key).ask(text.format(PEOPLE[1]), person="ann") for text in wordings}
    for at, text in enumerate(wordings * 4):
        answer = await chat(house, key=key).ask(text.format(PEOPLE[at % 8]), person="bo")
        false = next(town(at % 8, way) for way in ways if [town(at % 8, way)] != answer.names)
        await answer.rate("wrong", [false])
    for text in wordings:
        hers = await chat(house, key=key).ask(text.format(PEOPLE[1]), person="ann")
        his = await chat(house, key=key).ask(text.format(PEOPLE[1]), person="bo")
        assert (hers.names, hers.confidence) == (before[text].names, before[text].confidence)
        assert his.names == before[text].names or (his.confidence or 0.0) <= MAX_CORRECTED_CONFIDENCE


async def test_another_question_leans_on_nothing(house: Running) -> None:
    key = key_of(house)
    before = [await chat(house, key=key).ask(text.format(PEOPLE[2])) for text in OTHERS]
    await taught(house, key)
    after = [await chat(house, key=key).ask(text.format(PEOPLE[2])) for text in OTHERS]
    assert [each.names for each in after] == [each.names for each in before]
    assert all(each.names for each in after)


OTHERS = ("Where was {} born?", "Who lives where {} lives?")


async def test_the_last_rating_of_an_answer_wins(house: Running) -> None:
    answer = await chat(house).ask(f"Where was {PEOPLE[0]} born?")
    await answer.rate("right")
    assert not (await answer.rate("wrong")).learnt
    assert await case_list(house) == []
    await answer.rate("wrong", [town(0, "livesIn")])
    assert [case["paths"] for case in await case_list(house)] == [["lives in"]]
    await answer.rate("right")
    assert [case["paths"] for case in await case_list(house)] == [["born in"]]


async def test_what_the_graph_does_not_hold_teaches_nothing(house: Running) -> None:
    answer = await chat(house).ask(ASKED.format(PEOPLE[0]))
    assert not (await answer.rate("wrong", ["Nowheresby"])).learnt
    assert await case_list(house) == []


async def approve(house: Running) -> None:
    ids = [case["id"] for case in await case_list(house)]
    reply = await house.http.post("/admin/graphs/towns/cases/approve", json={"ids": ids}, headers=OPERATOR)
    assert reply.json() == {"cases": len(ids)}


async def test_one_keys_ratings_move_nothing_for_another_until_an_owner_approves_them(house: Running) -> None:
    mine, theirs = key_of(house), key_of(house)
    before = await told(house, theirs, 1)
    for person in range(6):
        answer = await chat(house, key=mine).ask(ASKED.format(PEOPLE[person]))
        await answer.rate("wrong", [town(person, LEARNT)])
    assert await told(house, mine, 7) == [town(7, LEARNT)]
    assert await told(house, theirs, 1) == before
    await approve(house)
    assert await told(house, theirs, 1) == [town(1, LEARNT)] != before


async def test_only_an_admin_sees_approves_and_forgets_cases(house: Running) -> None:
    key = key_of(house)
    await taught(house, key)
    for method, path in (("GET", "cases"), ("POST", "cases/approve"), ("POST", "cases/forget")):
        body = {"json": {"key_id": "x"}} if method == "POST" else {}
        reply = await house.http.request(method, f"/admin/graphs/towns/{path}", headers=bearer(key), **body)
        assert reply.status_code == 403


async def test_a_path_that_a_role_does_not_see_gives_it_nothing(house: Running) -> None:
    house.load(name="towns", turtle=turtle(), policy=ROLES)
    house.load(name="less", turtle="\n".join(line for line in turtle().splitlines() if ":worksIn" not in line))
    mine, home = key_of(house), key_of(house, "towns#home")
    await taught(house, mine)
    await approve(house)
    assert await told(house, mine, 1) == [town(1, LEARNT)]
    with_case = await chat(house, key=home).ask(ASKED.format(PEOPLE[1]))
    as_if_never = await chat(house, key=key_of(house, "less"), graph="less").ask(ASKED.format(PEOPLE[1]))
    assert (with_case.names, with_case.path) == (as_if_never.names, as_if_never.path)
    assert with_case.confidence == as_if_never.confidence


async def test_a_role_can_not_learn_of_what_it_does_not_see(house: Running) -> None:
    house.load(name="towns", turtle=turtle(), policy=ROLES)
    answer = await chat(house, key=key_of(house, "towns#home")).ask(ASKED.format(PEOPLE[0]))
    await answer.rate("wrong", [town(0, LEARNT)])
    assert all("works in" not in str(case["paths"]) for case in await case_list(house))


async def test_another_key_can_not_rate_and_is_told_what_it_is_told_of_no_conversation(house: Running) -> None:
    answer = await chat(house).ask(ASKED.format(PEOPLE[0]))
    with pytest.raises(UnknownConversationError):
        await chat(house).rate(answer, "right")
    body = {"conversation": answer.conversation, "answer": answer.id, "rating": "right"}
    theirs = await house.http.post("/ratings", json=body, headers=bearer(key_of(house)))
    nobodys = await house.http.post("/ratings", json={**body, "conversation": "c"}, headers=bearer(key_of(house)))
    assert theirs.status_code == nobodys.status_code == 404
    assert {**theirs.json(), "id": ""} == {**nobodys.json(), "id": ""}


async def test_forgotten_cases_give_nothing(house: Running) -> None:
    key = key_of(house)
    before = await told(house, key, 1)
    await taught(house, key)
    ids = [case["id"] for case in await case_list(house)]
    gone = await house.http.post("/admin/graphs/towns/cases/forget", json={"ids": ids}, headers=OPERATOR)
    assert gone.json() == {"cases": 1}
    assert await told(house, key, 1) == before
    again = await house.http.post("/admin/graphs/towns/cases/forget", json={"ids": ids}, headers=OPERATOR)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_case")


async def test_they_go_with_their_graph(house: Running) -> None:
    await taught(house, key_of(house))
    assert (await house.http.delete("/admin/graphs/towns", headers=OPERATOR)).status_code == 204
    house.load(name="towns", turtle=turtle())
    assert await case_list(house) == []
    with house.services.store.engine.connect() as connection:
        assert connection.execute(select(cases)).all() == []


async def test_the_report_counts_what_leaned_and_how_it_was_rated(house: Running) -> None:
    key = key_of(house)
    await taught(house, key)
    leaning = [await chat(house, key=key).ask(ASKED.format(PEOPLE[at])) for at in (1, 2, 3)]
    await leaning[0].rate("right")
    await leaning[1].rate("right")
    await leaning[1].rate("wrong")
    listed = (await house.http.get("/admin/graphs/towns/cases", headers=OPERATOR)).json()
    report = listed["report"]
    assert (report["leaned"], report["rated_right"], report["rated_wrong"]) == (3, 1, 1)
    assert listed["cases"][0]["used"] == 3


async def test_no_name_is_in_a_row_a_reply_or_what_the_reasoner_gets(house: Running, tmp_path: Path) -> None:
    key = key_of(house)
    await taught(house, key)
    answer = await chat(house, key=key).ask(ASKED.format(PEOPLE[1]))
    body = {"conversation": answer.conversation, "answer": answer.id, "rating": "wrong", "correct": [PEOPLE[3]]}
    rated = await house.http.post("/ratings", json=body, headers=bearer(key))
    refused = await house.http.post("/ratings", json={**body, "rating": PEOPLE[3]}, headers=bearer(key))
    unknown = await house.http.post("/ratings", json={**body, "answer": PEOPLE[3]}, headers=bearer(key))
    listed = await house.http.get("/admin/graphs/towns/cases", headers=OPERATOR)
    metrics = await house.http.get("/metrics", headers=OPERATOR)
    said = b"".join(each.content for each in (rated, refused, unknown, listed, metrics))
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in SECRETS:
        assert secret.encode() not in said
        assert secret.encode() not in kept
    assert b"works in" not in kept
    assert isinstance(house.services.store.conversations, ConversationStore)


@pytest.fixture
async def typed(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        house.load(name="towns", turtle=turtle(typed=True))
        yield house


async def test_a_correction_of_a_sure_answer_counts_for_nobody_before_an_owner_approves_it(typed: Running) -> None:
    key, asked = key_of(typed), "Where was {} born?"
    before = await chat(typed, key=key).ask(asked.format(PEOPLE[1]))
    false = await chat(typed, key=key).ask(asked.format(PEOPLE[0]))
    assert (false.confidence or 0.0) >= SURE
    rated = await false.rate("wrong", [town(0, LEARNT)])
    assert (rated.learnt, rated.held) == (True, True)
    after = await chat(typed, key=key).ask(asked.format(PEOPLE[1]))
    assert (after.names, after.confidence, after.notes) == (before.names, before.confidence, before.notes)
    (case,) = await case_list(typed)
    assert (case["asked"], case["before"], case["paths"]) == ("Where was born", ["born in"], ["works in"])
    assert case["held"]
    await typed.http.post("/admin/graphs/towns/cases/approve", json={"ids": [case["id"]]}, headers=OPERATOR)
    approved = await chat(typed, key=key_of(typed)).ask(asked.format(PEOPLE[1]))
    assert (approved.names, approved.notes) == ([town(1, LEARNT)], (LEANS_ON_APPROVED,))


async def test_a_refused_question_is_answered_in_the_same_words_once_it_is_told_where_to_look(typed: Running) -> None:
    key = key_of(typed)
    refused = await chat(typed, key=key).ask(ASKED.format(PEOPLE[0]))
    assert not refused.answered
    assert (await refused.rate("wrong", [town(0, LEARNT)])).learnt
    assert await told(typed, key, 1) == [town(1, LEARNT)]


@pytest.mark.parametrize(
    "text", ["How many towns is {} tied to?", "Which town is {} not tied to?", "Which town is tied to {} and {}?"]
)
async def test_another_form_of_question_is_not_settled(typed: Running, text: str) -> None:
    key = key_of(typed)
    refused = await chat(typed, key=key).ask(ASKED.format(PEOPLE[0]))
    await refused.rate("wrong", [town(0, LEARNT)])
    assert not (await chat(typed, key=key).ask(text.format(PEOPLE[1], PEOPLE[2]))).answered


async def test_a_relation_that_goes_with_a_person_takes_its_cases_along(house: Running) -> None:
    alone = turtle() + "\n:p0 :guardianOf :t3 ."
    house.load(name="towns", turtle=alone)
    key = key_of(house)
    answer = await chat(house, key=key).ask(ASKED.format(PEOPLE[0]))
    assert (await answer.rate("wrong", [TOWNS[3]])).learnt
    await taught(house, key)
    assert sorted(str(case["paths"]) for case in await case_list(house)) == ["['guardian of']", "['works in']"]
    job = await house.http.post("/admin/graphs/towns/forget", json={"name": PEOPLE[0]}, headers=OPERATOR)
    ended = await house.ended(str(job.json()["id"]), OPERATOR)
    assert ended["state"] == "done", ended
    assert [case["paths"] for case in await case_list(house)] == [["works in"]]


async def test_a_case_whose_words_hold_a_name_goes_with_the_person(house: Running) -> None:
    store = house.services.store
    for number, asked in enumerate((f"Where is {PEOPLE[0]}", "Where is she")):
        content = CaseContent("m", np.ones(4, np.float32), (("lives in",),), asked=asked)
        store.cases.keep("default", "towns", "k", f"answer {number}", content)
    job = await house.http.post("/admin/graphs/towns/forget", json={"name": PEOPLE[0]}, headers=OPERATOR)
    assert (await house.ended(str(job.json()["id"]), OPERATOR))["state"] == "done"
    assert [case["asked"] for case in await case_list(house)] == ["Where is she"]


async def test_a_person_is_no_name(house: Running) -> None:
    body = {
        "graph": "towns",
        "messages": [{"role": "user", "content": "Hello"}],
        "options": {"person": "ann@x.invalid"},
    }
    told = await house.http.post("/chat", json=body, headers=bearer(key_of(house)))
    assert told.status_code == 422
    assert "ann@" not in told.text


async def test_ratings_of_one_conversation_and_its_questions_may_come_at_once(house: Running) -> None:
    talk = chat(house)
    answer = await talk.ask(ASKED.format(PEOPLE[0]))
    rated, _asked, again = await asyncio.gather(
        answer.rate("wrong"), talk.ask(ASKED.format(PEOPLE[1])), answer.rate("wrong", [town(0, LEARNT)])
    )
    assert rated.rating == again.rating == "wrong"


async def test_an_owner_sees_sample_answers_of_a_case_and_nobody_else_their_names(house: Running) -> None:
    await taught(house, key_of(house))
    pair = KeyPair.generate()
    reply = await house.http.get(
        "/admin/graphs/towns/cases", params={"public_key": pair.public_text}, headers=OPERATOR
    )
    listed = CaseList.model_validate_json(reply.content)
    assert not any(secret in reply.text for secret in SECRETS)
    assert listed.capsule is not None
    names = open_capsule(listed.capsule, pair, cases_context(listed)).table
    samples = listed.cases[0].samples
    assert len(samples) == MAX_SAMPLES
    for sample in samples:
        at = PEOPLE.index(names[sample.thing].names[0])
        assert names[sample.now].names == [town(at, LEARNT)]
        assert names[sample.before].names != [town(at, LEARNT)]
    with pytest.raises(CannotOpenError):
        open_capsule(listed.capsule, pair, cases_context(listed.model_copy(update={"cases": []})))
