"""Who had whose names restored: recorded, found, exported, alarmed, erased and kept from change, over HTTP."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from sqlalchemy import delete, select, update

from app.accounts.api_keys import BadGrantError
from app.egress.ledger.access import AccessEntry, syslog_lines
from app.egress.ledger.chain import ledger_access
from app.graphs.erasure.sealed_rows import sealed_columns
from app.wiring.administration import forgetter_of
from client_sdk import AsyncChat, KeyPair
from client_sdk.crypto.sealing import capsule_context, open_capsule
from client_sdk.errors import BadRequestError, RefusedError
from client_sdk.protocol import ChatAnswer
from kg_store.storage.reencryption import reseal
from tests.support.receiver import Receiver, receiving
from tests.support.service import CLINIC, OPERATOR, QUESTION, SECRET_NAMES, Running, bearer, logging_to, purge, running

REASON = "billing of case 4711"
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NURSE = "Marit Oskarsdottir"
DOCTOR, PATIENT = "Quenby Thistlewood", "Valdis Ozolkrasts"
ROLES = '[roles.reception]\nshow_relations = ["lives in"]\n'
PAIR = KeyPair.generate()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def chat_of(house: Running, key: str) -> AsyncChat:
    return AsyncChat("http://service", key, "clinic", key=PAIR, plain_http=True, http=house.http)


def user_key(house: Running, *grants: str) -> str:
    return house.services.store.access.create("default", "user", grants or ("clinic",)).key


async def who(house: Running, name: str) -> dict[str, object]:
    reply = await house.http.post("/admin/graphs/clinic/access", json={"name": name}, headers=OPERATOR)
    assert reply.status_code == 200
    told: dict[str, object] = reply.json()
    return told


async def exported(house: Running, **params: str) -> str:
    reply = await house.http.post("/admin/access/export", params=params, headers=OPERATOR)
    assert reply.status_code == 200
    return reply.text


async def is_whole(house: Running) -> bool:
    told = (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()
    assert told["rows"] > 0
    return bool(told["is_whole"])


def holds_name(text: str) -> bool:
    return any(secret.lower() in text.lower() for secret in (*SECRET_NAMES, NURSE))


def files_of(folder: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


async def test_who_read_whom_is_found_by_a_thing_and_exported_without_a_name(tmp_path: Path) -> None:
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path) as house:
            house.load()
            key = user_key(house)
            answer = await chat_of(house, key).ask(QUESTION, person=NURSE, reason=REASON)
            assert DOCTOR in answer.names
            await chat_of(house, key).ask("Who is Zemgalburg treated by?")
            of_doctor = await who(house, DOCTOR.lower())
            assert of_doctor == await who(house, "http://clinic.invalid/p2")
            (entry,) = of_doctor["entries"]  # type: ignore[misc]
            (thing,) = of_doctor["things"]  # type: ignore[misc]
            assert (entry["answer"], entry["event"], entry["reason"]) == (answer.id, "read", REASON)
            assert re.fullmatch(r"[0-9a-f]{32,64}", entry["person"])
            assert thing["id"] in entry["things"]
            assert len(entry["things"]) == 2  # The doctor, and the patient whom the question named.
            lines = [json.loads(line) for line in (await exported(house)).splitlines()]
            assert [line["count"] for line in lines if thing["id"] in line["things"]] == [1]
            syslog = await exported(house, syslog="true")
            assert all(re.match(r"<110>1 \S+Z - arog - read \[arog@32473 id=", line) for line in syslog.splitlines())
            later = (dt.datetime.now(dt.UTC) + dt.timedelta(days=1)).isoformat()
            assert await exported(house, since=later) == ""
            assert await is_whole(house)
            unknown = await house.http.post(
                "/admin/graphs/clinic/access", json={"name": "Nobody Known"}, headers=OPERATOR
            )
            assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_name")
            for path, body in (("/admin/graphs/clinic/access", {"name": DOCTOR}), ("/admin/access/export", {})):
                assert (await house.http.post(path, json=body, headers=bearer(key))).status_code == 403
            metrics = (await house.http.get("/metrics")).text
            left = json.dumps(lines) + syslog + metrics + unknown.text
    assert not holds_name(left + log.getvalue() + files_of(tmp_path / "data"))
    assert REASON not in log.getvalue() + metrics + files_of(tmp_path / "data")


async def test_an_answer_that_restores_no_name_is_recorded_with_what_was_asked_about(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        body = {"graph": "clinic", "messages": [{"role": "user", "content": QUESTION}], "options": {"reason": REASON}}
        answer = (await house.http.post("/chat", json=body, headers=bearer(user_key(house)))).json()
        assert (answer["answered"], answer["capsule"]) == (True, None)
        (entry,) = (await who(house, PATIENT))["entries"]  # type: ignore[misc]
        assert (entry["answer"], entry["count"], entry["reason"]) == (answer["id"], 0, REASON)
        assert (await who(house, DOCTOR))["entries"] == []


async def test_an_entry_is_not_changed_or_deleted_unseen(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        key = user_key(house)
        for _ in range(3):
            await chat_of(house, key).ask(QUESTION)
        with house.services.store.engine.begin() as connection:
            (number, *_) = connection.execute(
                select(ledger_access.c.number).order_by(ledger_access.c.number)
            ).scalars()
            connection.execute(update(ledger_access).where(ledger_access.c.number == number).values(caller="other"))
        told = (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()
        assert f"row {number} was changed" in told["findings"]
        with house.services.store.engine.begin() as connection:
            connection.execute(delete(ledger_access).where(ledger_access.c.number == number))
        told = (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()
        assert told["findings"] == [
            f"row {number} is missing",
            f"row {number + 1} can't be checked, since what stood before it is missing",
        ]


async def test_what_stays_in_clear_confirms_no_guess(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        key = user_key(house)
        for _ in range(2):
            await chat_of(house, key).ask(QUESTION, person=NURSE, reason=REASON)
        with house.services.store.engine.connect() as connection:
            rows = connection.execute(select(ledger_access.c.digest, ledger_access.c.size)).all()
        assert rows[0].size == rows[1].size
        assert rows[0].digest != rows[1].digest


async def test_without_a_record_no_name_goes_out(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        key = user_key(house)
        await chat_of(house, key).ask(QUESTION)
        with house.services.store.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE ledger_access")
        body = {"graph": "clinic", "messages": [{"role": "user", "content": QUESTION}], "public_key": PAIR.public_text}
        refused = await house.http.post("/chat", json=body, headers=bearer(key))
        assert (refused.status_code, refused.json()["code"]) == (500, "blocked")
        assert not holds_name(refused.text)


async def test_what_is_recorded_goes_with_a_person_with_its_days_and_with_the_graph(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        store = house.services.store
        key = user_key(house)
        await chat_of(house, key).ask(QUESTION, person=NURSE, reason=f"asked about {PATIENT}")
        (before,) = store.access_record.entries("default")
        job = await house.http.post("/admin/graphs/clinic/forget", json={"name": PATIENT}, headers=OPERATOR)
        assert (await house.ended(str(job.json()["id"]), OPERATOR))["state"] == "done"
        (entry,) = (await who(house, DOCTOR))["entries"]  # type: ignore[misc]
        assert (len(before.things), len(entry["things"])) == (2, 1)
        assert (entry["reason"], entry["person"]) == ("", before.person)
        assert await is_whole(house)

        aged = dt.datetime.now(dt.UTC) + dt.timedelta(days=91)
        store.upkeep.forget_access(aged - dt.timedelta(days=90))
        (old,) = store.access_record.entries("default")
        assert (old.caller, old.count, old.person, old.things) == (before.caller, before.count, "", ())
        assert await is_whole(house)

        await chat_of(house, key).ask("Who is Quenby Thistlewood treated by?", reason=REASON)
        assert (await house.http.delete("/admin/graphs/clinic", headers=OPERATOR)).status_code == 204
        assert not any(each.things or each.reason for each in store.access_record.entries("default"))
        assert await is_whole(house)


async def test_retention_takes_entries_of_the_days_that_the_setting_names(tmp_path: Path) -> None:
    async with running(tmp_path, names_read_days=1e-9) as house:
        house.load()
        await chat_of(house, user_key(house)).ask(QUESTION, reason=REASON)
        purge(house.services.store)  # The service may have done so by itself a moment before.
        (entry,) = house.services.store.access_record.entries("default")
        assert (entry.things, entry.reason, entry.count) == ((), "", 1)
        assert await is_whole(house)


async def test_it_is_read_after_the_master_key_was_rotated(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        await chat_of(house, user_key(house)).ask(QUESTION, reason=REASON)
        store = house.services.store
        ring = tmp_path / "keys" / "master.key"
        ring.write_text(store.master.rotated(ring.read_text()))
        store.master.refresh()
        for column in sealed_columns():
            list(reseal(store.engine, store.master, column))
        (entry,) = (await who(house, DOCTOR))["entries"]  # type: ignore[misc]
        assert entry["reason"] == REASON
        assert await is_whole(house)


def crowd() -> str:
    """The clinic with twelve more patients, each with a doctor of their own."""
    more = [
        f':x{each} rdfs:label "Zebulon {each} Marchbank" ; :treatedBy :y{each} .\n'
        f':y{each} rdfs:label "Ysolde {each} Pym" .'
        for each in "ABCDEFGHIJKL"
    ]
    return CLINIC + "\n".join(more)


async def test_a_crawl_is_slowed_by_the_hour_and_alarmed_once(tmp_path: Path, receiver: Receiver) -> None:
    settings = {"alarm_url": receiver.url, "alarm_secret": SecretStr(SECRET), "names_per_hour": 5}
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path, **settings) as house:
            house.load(turtle=crowd())
            key = user_key(house)
            refused: list[RefusedError] = []
            for each in "ABCDEFGHIJKL":
                try:
                    await chat_of(house, key).ask(f"Who is Zebulon {each} Marchbank treated by?")
                except RefusedError as error:
                    refused.append(error)
            assert len(refused) == 7
            assert (refused[0].code, "5 in one hour" in str(refused[0])) == ("budget_used_up", True)
            assert "AROG_NAMES_PER_HOUR" in str(refused[0].hint)
            receiver.wait_for(1)
            day = (await house.http.get("/admin/graphs/clinic/readers", headers=OPERATOR)).json()["days"]
            assert [(each["names"], each["last_hour"]) for each in day] == [(5, 5)]
            events = [each.event for each in house.services.store.access_record.entries("default")]
            assert (events.count("read"), events.count("alarm")) == (5, 1)
    ((headers, body),) = receiver.posts
    told = json.loads(body)
    assert {*told} == {"type", "tenant", "key_id", "graph", "count", "id", "at"}
    assert (told["type"], told["graph"], told["count"]) == ("alarm", "clinic", 5)
    plain = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = hmac.digest(bytes(range(32)), plain, "sha256")
    assert headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode()
    assert not re.search("zebulon|marchbank|ysolde", (log.getvalue() + str(receiver.posts)).lower())
    assert '"many_names_read"' in log.getvalue()


def plain(value: dict[str, Any]) -> object:
    """A value of OTLP's JSON, which says its type."""
    ((kind, told),) = value.items()
    if kind == "arrayValue":
        return [plain(each) for each in told["values"]]
    return int(told) if kind == "intValue" else told


async def test_every_entry_goes_to_a_collector_in_the_form_of_otlp(tmp_path: Path, receiver: Receiver) -> None:
    async with running(tmp_path, access_otlp_url=receiver.url) as house:
        house.load()
        key = user_key(house)
        for reason in ("case 4711", ""):
            assert DOCTOR in (await chat_of(house, key).ask(QUESTION, reason=reason)).names
        receiver.wait_for(1)
        kept = [*house.services.store.access_record.entries("default")]
        exported = await house.http.post("/admin/access/export?otlp=true", headers=OPERATOR)
    posts = [json.loads(body) for _headers, body in receiver.posts]
    assert {headers["content-type"] for headers, _body in receiver.posts} == {"application/json"}
    assert len(posts) in (1, 2)  # What waits goes in one post.
    files = [json.loads(line) for line in exported.text.splitlines()]
    records = []
    for request in (*posts, *files):
        ((resource,),) = request.values()
        assert {*request} == {"resourceLogs"}
        assert {*resource} == {"resource", "scopeLogs"}
        assert resource["resource"] == {"attributes": [{"key": "service.name", "value": {"stringValue": "arog"}}]}
        (scope,) = resource["scopeLogs"]
        assert scope["scope"] == {"name": "arog.access"}
        records += scope["logRecords"]
    assert records[:2] == records[2:]
    for record, entry in zip(records, kept, strict=False):
        assert (record["severityNumber"], record["severityText"]) == (9, "INFO")
        assert (record["body"], record["eventName"]) == ({"stringValue": "read"}, "arog.access.read")
        at = dt.datetime.fromtimestamp(int(record["timeUnixNano"]) / 1e9, dt.UTC)
        assert abs(at - entry.at) < dt.timedelta(milliseconds=1)
        told = {each["key"]: plain(each["value"]) for each in record["attributes"]}
        assert told.pop("arog.reason", "") == entry.reason
        assert told == {
            "arog.id": entry.id,
            "arog.tenant": "default",
            "arog.graph": "clinic",
            "arog.key_id": entry.caller,
            "arog.answer": entry.answer,
            "arog.count": entry.count,
            "arog.things": [*entry.things],
        }
    assert not re.search("quenby|valdis", str(receiver.posts).lower())


async def test_a_collector_that_is_out_holds_nobody_up_and_is_told_in_the_log(tmp_path: Path) -> None:
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path, access_otlp_url="http://127.0.0.1:9/v1/logs") as house:
            house.load()
            assert DOCTOR in (await chat_of(house, user_key(house)).ask(QUESTION)).names
    assert '"access_not_exported"' in log.getvalue()


async def test_half_of_a_days_names_is_an_alarm_and_an_owner_who_does_not_listen_holds_nobody_up(
    tmp_path: Path,
) -> None:
    settings = {"alarm_url": "http://127.0.0.1:9/", "alarm_secret": SecretStr(SECRET), "names_per_day": 2}
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path, **settings) as house:
            house.load()
            assert DOCTOR in (await chat_of(house, user_key(house)).ask(QUESTION)).names
            events = [each.event for each in house.services.store.access_record.entries("default")]
            assert events == ["read", "alarm"]
    assert '"alarm_not_sent"' in log.getvalue()


async def ask_as(house: Running, key: str, text: str, conversation: str | None = None) -> tuple[ChatAnswer, str]:
    """The answer to one question, and all names that its capsule holds as text."""
    body = {"graph": "clinic", "messages": [{"role": "user", "content": text}], "public_key": PAIR.public_text}
    body |= {"conversation": conversation} if conversation else {}
    reply = await house.http.post("/chat", json=body, headers=bearer(key))
    assert reply.status_code == 200, reply.text
    answer = ChatAnswer.model_validate_json(reply.content)
    assert answer.capsule is not None
    return answer, open_capsule(answer.capsule, PAIR, capsule_context(answer)).model_dump_json()


async def test_broken_glass_lifts_a_role_for_a_reason_and_closes_again(tmp_path: Path, receiver: Receiver) -> None:
    settings = {"alarm_url": receiver.url, "alarm_secret": SecretStr(SECRET)}
    with logging_to(io.StringIO()) as log:
        async with running(tmp_path, **settings) as house:
            house.load(policy=ROLES)
            key = user_key(house, "clinic#reception", "break-glass:clinic")
            _, names = await ask_as(house, key, QUESTION)
            assert DOCTOR not in names
            chat = chat_of(house, key)
            with pytest.raises(BadRequestError):
                await chat.break_glass("why not")
            told = await chat.break_glass(f"emergency with {PATIENT}, case 4711", 30)
            assert dt.timedelta(minutes=29) < told.until - dt.datetime.now(dt.UTC) <= dt.timedelta(minutes=30)
            lifted, names = await ask_as(house, key, QUESTION)
            assert DOCTOR in names
            receiver.wait_for(1)
            glass, read = [*house.services.store.access_record.entries("default")][-2:]
            assert (glass.event, glass.count, "case 4711" in glass.reason) == ("break_glass", 30, True)
            assert (read.event, read.answer) == ("read_lifted", lifted.id)

            # The time is over.
            with house.services.store.engine.begin() as connection:
                for row in connection.execute(select(ledger_access).where(ledger_access.c.event == "break_glass")):
                    this = update(ledger_access).where(ledger_access.c.id == row.id)
                    connection.execute(this.values(at=row.at - dt.timedelta(minutes=31)))
            for text in (QUESTION, "why?", "And where do they live?"):
                _, names = await ask_as(house, key, text, lifted.conversation)
                assert DOCTOR not in names
            ledger = (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()
            assert not ledger["is_whole"]  # The test changed a row, and that shows.
    assert not holds_name(log.getvalue() + str(receiver.posts) + files_of(tmp_path / "data"))
    assert json.loads(receiver.posts[0][1])["type"] == "break_glass"


async def test_glass_is_broken_by_those_alone_who_may(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load(policy=ROLES)
        create = house.services.store.access.create
        for grants in (
            ("break-glass:clinic",),
            ("clinic", "break-glass:clinic"),
            ("a#reception", "break-glass:clinic"),
        ):
            with pytest.raises(BadGrantError):
                create("default", "user", grants)
        body = {"reason": "emergency, case 4711"}

        async def broken(graph: str, key: str, **more: object) -> httpx2.Response:
            return await house.http.post(f"/graphs/{graph}/break-glass", json=body | more, headers=bearer(key))

        plain, other = user_key(house, "clinic#reception"), user_key(house, "clinic#reception", "break-glass:clinic")
        refused = await broken("clinic", plain)
        assert (refused.status_code, "break-glass:GRAPH" in refused.json()["hint"]) == (403, True)
        assert (await broken("other", other)).status_code == 404
        assert (await broken("clinic", other, minutes=241)).status_code == 422
        assert (await broken("clinic", other, minutes=1)).status_code == 200
        assert DOCTOR not in (await ask_as(house, plain, QUESTION))[1]
        assert DOCTOR in (await ask_as(house, other, QUESTION))[1]


def test_a_syslog_message_is_escaped_and_never_too_long() -> None:
    things = tuple(f"{number:016x}" for number in range(120))
    entry = AccessEntry("t", "k" * 17, "g", "read_lifted", 120, reason='a "case"\n]\\ x', things=things)
    lines = list(syslog_lines(entry))
    assert len(lines) == 3
    assert all(line.startswith("<108>1 ") and "\n" not in line and len(line.encode()) < 2_048 for line in lines)
    assert r'reason="a \"case\" \]\\ x"' in lines[0]
    assert [
        thing for line in lines for thing in re.findall(r"[0-9a-f]{16}(?=[,\"])", line.split('things="')[1])
    ] == list(things)


async def test_an_eraser_without_entries_signs_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load()
        forgetter_of(house.services.store).list_erasures("default", "clinic")
        assert house.services.store.upkeep.erase_access("default", "clinic", lambda _content: None) == 0
        assert house.services.store.upkeep.tenants() == []
