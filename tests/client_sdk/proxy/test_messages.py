"""Anthropic's own package, as released, against the proxy: messages whole and streamed, errors, models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from client_sdk.protocol import Usage
from tests.support.fake_service import PRIVATE_WORDS, FakeService
from tests.support.lazy_module import LazyModule

anthropic = LazyModule("anthropic")

pytestmark = pytest.mark.slow

SAID = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."


@pytest.fixture
def url(base_url: str) -> str:
    return base_url.removesuffix("/v1")


@pytest.fixture
def client(url: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=url, api_key="anything", max_retries=0) as client:
        yield client


def ask(client: anthropic.Anthropic, *messages: dict[str, Any], **more: Any) -> anthropic.types.Message:
    asked = {"model": "clinic", "max_tokens": 1000, "messages": list(messages), **more}
    reply = client.messages.create(**asked)
    assert isinstance(reply, anthropic.types.Message)
    return reply


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_an_answer_comes_with_its_names(service: FakeService, client: anthropic.Anthropic) -> None:
    service.usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4)
    reply = ask(client, user("Who treats Anna Keller?"), system="Be kind.", stop_sequences=["x"])
    (block,) = reply.content
    assert block.type == "text"
    assert block.text.startswith(SAID)
    assert (reply.role, reply.model, reply.stop_reason, reply.stop_sequence) == (
        "assistant",
        "clinic",
        "end_turn",
        None,
    )
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (30, 4)
    assert reply.model_extra == {
        "arog": {"answer": "answer-1", "answered": True, "grounded": True, "confidence": None}
    }
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["Who treats Anna Keller?"]


def test_a_stream_is_the_same_in_pieces_and_its_events_are_anthropics(
    service: FakeService, client: anthropic.Anthropic, url: str
) -> None:
    service.usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4)
    body = {"model": "clinic", "max_tokens": 1000, "messages": [user("Who?")], "stream": True}
    raw = httpx2.post(f"{url}/v1/messages", json=body)
    kinds = [line.removeprefix("event: ") for line in raw.text.splitlines() if line.startswith("event: ")]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert set(kinds[2:-3]) == {"content_block_delta"}
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    with client.messages.stream(model="clinic", max_tokens=1000, messages=[user("Who?")]) as stream:  # type: ignore[list-item]
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text.startswith(SAID)
    assert (final.stop_reason, final.usage.input_tokens, final.usage.output_tokens) == ("end_turn", 30, 4)


def test_a_follow_up_goes_on_in_its_conversation(service: FakeService, client: anthropic.Anthropic) -> None:
    first = ask(client, user("a"))
    thought = {"type": "thinking", "thinking": "Anna?", "signature": "s"}
    before = {"role": "assistant", "content": [thought, *(block.model_dump() for block in first.content)]}
    ask(client, user("a"), before, user([{"type": "text", "text": "And?", "cache_control": {"type": "ephemeral"}}]))
    assert [seen.get("conversation") for seen in service.seen] == [None, "conversation-1"]
    assert not any(word in json.dumps(service.seen, ensure_ascii=False) for word in PRIVATE_WORDS)


@pytest.mark.parametrize("choice", [{}, {"tool_choice": {"type": "auto"}}, {"tool_choice": {"type": "none"}}])
def test_tools_that_may_be_called_are_not(client: anthropic.Anthropic, choice: dict[str, Any]) -> None:
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    thinking = {"type": "enabled", "budget_tokens": 1024}
    reply = client.messages.with_raw_response.create(
        model="clinic", max_tokens=9, messages=[user("Who?")], tools=tools, thinking=thinking, **choice
    )  # type: ignore[call-overload]
    assert reply.parse().content[0].text.startswith(SAID)
    assert {"tools", "thinking"} <= set(reply.headers["x-arog-ignored"].split(", "))


def test_models_are_listed_and_found(client: anthropic.Anthropic) -> None:
    assert [each.id for each in client.models.list()] == ["clinic", "clinic:arog", "demo", "demo:arog"]
    assert client.models.retrieve("demo:arog").display_name == "demo:arog"
    with pytest.raises(anthropic.NotFoundError) as raised:
        client.models.retrieve("other")
    assert raised.value.response.json()["type"] == "error"


def test_tokens_are_not_counted_before_and_it_says_so(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="not counted before"):
        client.messages.count_tokens(model="clinic", messages=[user("Who?")])  # type: ignore[list-item]
