"""POST /chat: an answer in pseudonyms, names for the caller's key alone, and every way to be refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from app.egress.guard import BlockedError
from app.llm.reasoner import ReasonerUnavailableError, ReplyUnusableError
from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule
from client_sdk.protocol import ChatAnswer, ErrorBody
from tests.support.service import OPERATOR, SECRET_NAMES, Running, question, running

pytestmark = pytest.mark.slow


def refused(reply: httpx2.Response, status: int, code: str) -> ErrorBody:
    body = ErrorBody.model_validate_json(reply.content)
    assert (reply.status_code, body.code) == (status, code)
    assert body.message.endswith(".")
    assert body.hint.endswith(".")
    assert body.id
    return body


async def test_the_answer_is_in_pseudonyms_and_the_capsule_opens_for_the_caller(service: Running) -> None:
    pair = KeyPair.generate()
    reply = await service.http.post(
        "/chat", json=question(public_key=pair.public_text), headers=service.key("default", "clinic")
    )
    answer = ChatAnswer.model_validate_json(reply.content)
    assert reply.status_code == 200
    assert answer.answered
    assert answer.grounded
    assert not any(name in reply.text for name in SECRET_NAMES)
    assert answer.capsule is not None
    content = open_capsule(answer.capsule, pair, capsule_context(answer))
    (found,) = answer.entities
    assert content.table[found.pseudonym].names == ["Quenby Thistlewood"]
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_a_dialogue_goes_on_in_its_conversation(service: Running) -> None:
    key = service.key("default", "*")
    first = ChatAnswer.model_validate_json((await service.http.post("/chat", json=question(), headers=key)).content)
    body = question(conversation=first.conversation)
    again = ChatAnswer.model_validate_json((await service.http.post("/chat", json=body, headers=key)).content)
    assert again.conversation == first.conversation
    assert first.capsule is again.capsule is None
    assert again.entities[0].pseudonym == first.entities[0].pseudonym
    assert again.id != first.id


async def test_nobody_is_answered_without_a_valid_key(service: Running) -> None:
    for shown in ("", "Bearer", "Bearer arog_" + "x" * 43, "Basic YTpi", "Bearer " + "x" * 5000):
        headers = {"Authorization": shown} if shown else {}
        for method, path, body in (
            ("POST", "/chat", json.dumps(question()).encode()),
            ("POST", "/chat", b"not json"),
            ("GET", "/graphs", None),
            ("GET", "/ledger", None),
            ("GET", "/admin/graphs", None),
            ("POST", "/admin/graphs/clinic", b"x"),
            ("DELETE", "/admin/graphs/clinic", None),
            ("POST", "/admin/keys", b"{}"),
        ):
            reply = await service.http.request(method, path, content=body, headers=headers)
            refused(reply, 401, "not_authenticated")
            assert reply.headers["www-authenticate"] == "Bearer"


async def test_a_graph_without_a_grant_looks_like_one_that_is_not_there(service: Running) -> None:
    key = service.key("default", "other")
    hidden = refused(await service.http.post("/chat", json=question(), headers=key), 404, "unknown_graph")
    body = {**question(), "graph": "other"}
    missing = refused(await service.http.post("/chat", json=body, headers=key), 404, "unknown_graph")
    assert (hidden.message, hidden.hint) == (missing.message, missing.hint)


async def test_a_tenant_has_no_part_in_anothers_graph(service: Running) -> None:
    service.load("south", "films")
    for tenant, graph in (("south", "clinic"), ("default", "films")):
        key = service.key(tenant, "*")
        refused(
            await service.http.post("/chat", json={**question(), "graph": graph}, headers=key), 404, "unknown_graph"
        )
        assert graph not in (await service.http.get("/graphs", headers=key)).json()["graphs"]


async def test_anothers_conversation_is_unknown(service: Running) -> None:
    mine = service.key("default", "clinic")
    conversation = (await service.http.post("/chat", json=question(), headers=mine)).json()["conversation"]
    body = question(conversation=conversation)
    service.load("south", "clinic")
    for stranger in (service.key("default", "clinic"), service.key("south", "clinic"), OPERATOR):
        foreign = refused(await service.http.post("/chat", json=body, headers=stranger), 404, "unknown_conversation")
        other = question(conversation="nothing")
        missing = refused(await service.http.post("/chat", json=other, headers=stranger), 404, "unknown_conversation")
        assert (foreign.message, foreign.hint) == (missing.message, missing.hint)


async def test_two_questions_at_once_in_one_conversation_the_later_is_told_to_ask_again(service: Running) -> None:
    key = service.key("default", "clinic")
    conversation = (await service.http.post("/chat", json=question(), headers=key)).json()["conversation"]
    service.reasoner.wait = asyncio.Event()
    body = question(conversation=conversation)
    both = [asyncio.create_task(service.http.post("/chat", json=body, headers=key)) for _ in range(2)]
    while len(service.reasoner.sent) < 3:
        await asyncio.sleep(0.005)
    service.reasoner.wait.set()
    replies = sorted(await asyncio.gather(*both), key=lambda reply: reply.status_code)
    assert replies[0].status_code == 200
    refused(replies[1], 409, "conversation_busy")


def asked(role: str = "user", content: str = "x", **more: object) -> bytes:
    body = {"graph": "clinic", "messages": [{"role": role, "content": content}], **more}
    return json.dumps(body).encode()


def turns(*messages: dict[str, str]) -> bytes:
    return json.dumps({"graph": "clinic", "messages": messages}).encode()


USERS, SERVICES = {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}
WRONG = {
    "no body": (b"", "The body"),
    "no JSON": (b"{", "not valid JSON"),
    "no object": (b"[]", "The body must be an object"),
    "no graph": (b'{"messages": [{"role": "user", "content": "x"}]}', "`graph` is missing"),
    "bad graph": (asked(graph="No Name"), "`graph` must match the pattern"),
    "no messages": (asked(messages=[]), "`messages` has fewer than 1 items"),
    "too many messages": (turns(*[USERS] * 101), "`messages` has more than 100 items"),
    "too long a message": (asked(content="x" * 8001), "`messages[0].content` has more than 8000 characters"),
    "a last message of the service": (turns(USERS, SERVICES), "The last of `messages` is not the user's"),
    "an empty message": (asked(content=""), "`messages[0].content` must not be empty"),
    "a truth value for a number": (asked(options={"width": True}), "`options.width` must be a whole number"),
    "a word for a truth value": (asked(stream="yes"), "`stream` must be true or false"),
    "a wrong role": (asked("system"), "`messages[0].role` must be one of 'user'"),
    "a bad option": (asked(options={"width": 900}), "`options.width` must be at most 20"),
    "a bad strategy": (asked(strategy="x"), "`strategy` must be one of"),
    "an unknown field": (asked(**{"Nora Lindqvist": 1}), "an unknown field"),
    "a lone surrogate": (asked(content="\ud800"), "no valid Unicode"),
    "bytes that are no text": (asked().replace(b"x", b"\xff"), "can't be read"),
}


async def test_a_bad_request_is_told_by_field_and_rule(service: Running) -> None:
    headers = {**service.key("default", "clinic"), "Content-Type": "application/json"}
    for name, (body, words) in WRONG.items():
        reply = await service.http.post("/chat", content=body, headers=headers)
        told = ErrorBody.model_validate_json(reply.content)
        assert (told.code, reply.status_code in (400, 422)) == ("bad_request", True), name
        assert words in told.message, name
        assert "Nora" not in reply.text, name


async def test_a_refused_request_is_not_quoted(service: Running) -> None:
    key = service.key("default", "clinic")
    canary = "Nora Lindqvist"
    for body in (
        {**question(), "options": {"width": canary}},
        {**question(), canary: canary},
        {**question(), "messages": [{"role": canary, "content": canary}]},
        {**question(), "messages": canary},
        {**question(), "conversation": canary * 10},
    ):
        reply = await service.http.post("/chat", json=body, headers=key)
        refused(reply, 422, "bad_request")
        assert canary not in reply.text


async def test_a_bad_public_key_is_refused_before_the_model_is_asked(service: Running) -> None:
    headers = service.key("default", "clinic")
    for key in ("x", "A" * 43, "!" * 43, "A" * 44):
        refused(
            await service.http.post("/chat", json=question(public_key=key), headers=headers), 422, "bad_public_key"
        )
    assert service.reasoner.sent == []


def raises(error: Exception) -> object:
    def fail() -> None:
        raise error

    return fail


async def test_a_failure_inside_is_told_by_code_and_id_alone(service: Running) -> None:
    dead = ReasonerUnavailableError("Nora Lindqvist")
    dead.reason = "connection refused"
    headers, told = service.key("default", "clinic"), []
    for error, status, code in (
        (ReasonerUnavailableError("Nora Lindqvist"), 502, "model_unavailable"),
        (ReplyUnusableError("Nora Lindqvist"), 502, "model_reply_unusable"),
        (BlockedError(1), 500, "blocked"),
        (ValueError("Nora Lindqvist"), 500, "internal"),
        (dead, 502, "model_unavailable"),
    ):
        service.reasoner.before = raises(error)  # type: ignore[assignment]
        reply = await service.http.post("/chat", json=question(), headers=headers)
        told.append(refused(reply, status, code))
        assert "Nora" not in reply.text
        assert told[-1].id == (error.id if isinstance(error, BlockedError) else reply.headers["x-request-id"])
    assert told[-1].message == "The model endpoint can't be reached: connection refused."


async def test_a_request_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, request_deadline_s=0.2) as service:
        service.load()
        service.reasoner.wait = asyncio.Event()
        reply = await service.http.post("/chat", json=question(), headers=service.key("default", "clinic"))
        refused(reply, 504, "deadline")


async def test_a_key_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with running(tmp_path, requests_per_minute=2) as service:
        service.load()
        one, other = service.key("default", "clinic"), service.key("default", "clinic")
        for _ in range(2):
            assert (await service.http.post("/chat", json=question(), headers=one)).status_code == 200
        reply = await service.http.post("/chat", json=question(), headers=one)
        refused(reply, 429, "rate_limited")
        assert 1 <= int(reply.headers["retry-after"]) <= 60
        assert (await service.http.post("/chat", json=question(), headers=other)).status_code == 200


async def test_a_body_over_the_limit_is_refused_by_its_length_and_by_its_bytes(tmp_path: Path) -> None:
    async with running(tmp_path, max_body_bytes=2_000) as service:
        headers = {**service.key("default", "clinic"), "Content-Type": "application/json"}
        claimed = await service.http.post("/chat", content=b" " * 2_001, headers=headers)
        refused(claimed, 413, "too_large")

        async def chunks():  # type: ignore[no-untyped-def]
            for _ in range(50):
                yield b" " * 100

        streamed = await service.http.post("/chat", content=chunks(), headers=headers)
        assert "AROG_MAX_BODY_BYTES" in refused(streamed, 413, "too_large").hint


async def test_other_addresses_and_methods_are_told_alike(service: Running) -> None:
    for path, status, code in (
        ("/nothing/Nora", 404, "not_found"),
        ("/chat", 405, "bad_method"),
        ("/docs", 404, "not_found"),
    ):
        reply = await service.http.get(path)
        refused(reply, status, code)
        assert "Nora" not in reply.text


async def test_graphs_lists_what_the_key_may_ask(service: Running) -> None:
    service.load(name="films")
    for grants, names in ((("clinic",), ["clinic"]), (("*",), ["clinic", "films"]), ((), []), (("nothing",), [])):
        reply = await service.http.get("/graphs", headers=service.key("default", *grants))
        assert reply.json() == {"graphs": names, "inspectable": [], "strategies": ["auto", "sets", "arog"]}


async def test_the_ledger_shows_a_key_its_own_entries_and_an_admin_all(service: Running) -> None:
    one, other = service.key("default", "clinic"), service.key("default", "clinic")
    answer = (await service.http.post("/chat", json=question(), headers=one)).json()["id"]
    await service.http.post("/chat", json=question(), headers=other)
    (entry,) = (await service.http.get("/ledger", headers=one)).json()["entries"]
    assert (entry["answer"], entry["step"], entry["verdict"]) == (answer, "step", "clear")
    assert entry["payload"].encode() == service.reasoner.sent[0]
    assert not any(name in entry["payload"] for name in SECRET_NAMES)
    assert len((await service.http.get("/ledger", headers=OPERATOR)).json()["entries"]) == 2
    foreign = await service.http.get("/ledger", params={"answer": answer}, headers=other)
    assert foreign.json()["entries"] == []
    assert (await service.http.get("/ledger", headers=service.key("south", role="admin"))).json()["entries"] == []
