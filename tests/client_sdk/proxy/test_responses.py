"""OpenAI's own package, as released, against the proxy's responses: whole and streamed, gone on from, refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from client_sdk.protocol import Usage
from tests.support.fake_service import PRIVATE_WORDS, FakeService
from tests.support.lazy_module import LazyModule

openai = LazyModule("openai")

pytestmark = pytest.mark.slow

SAID = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."


def test_an_answer_comes_with_its_names(service: FakeService, client: openai.OpenAI) -> None:
    service.usage = Usage(calls=2, prompt_tokens=30, completion_tokens=4)
    reply = client.responses.create(model="clinic", input="Who treats Anna Keller?", instructions="Be kind.")
    assert reply.output_text.startswith(SAID)
    assert (reply.status, reply.model, reply.output[0].type) == ("completed", "clinic", "message")
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.total_tokens) == (30, 4, 34)
    assert reply.model_extra is not None
    assert reply.model_extra["arog"] == {"answer": "answer-1", "answered": True, "grounded": True, "confidence": None}
    assert [turn["content"] for turn in service.seen[0]["messages"]] == ["Who treats Anna Keller?"]


def test_a_stream_is_the_same_in_pieces_and_its_events_are_openais(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model="clinic", input="Who?", stream=True))
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    assert set(kinds[4:-4]) == {"response.output_text.delta"}
    assert kinds[-4:] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == text
    assert text.startswith(SAID)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_response_is_gone_on_from_by_its_id(service: FakeService, client: openai.OpenAI, streaming: bool) -> None:
    if streaming:
        with client.responses.stream(model="clinic", input="a") as stream:
            first = stream.get_final_response()
    else:
        first = client.responses.create(model="clinic", input="a")
    second = client.responses.create(model="clinic", input="b", previous_response_id=first.id)
    client.responses.create(model="clinic", input="c", previous_response_id=second.id)
    assert second.previous_response_id == first.id
    assert [seen.get("conversation") for seen in service.seen] == [None, "conversation-1", "conversation-1"]
    assert [turn["content"] for turn in service.seen[2]["messages"]][::2] == ["a", "b", "c"]


def test_a_response_that_was_not_to_be_stored_is_not_known(service: FakeService, client: openai.OpenAI) -> None:
    first = client.responses.create(model="clinic", input="a", store=False)
    with pytest.raises(openai.BadRequestError) as raised:
        client.responses.create(model="clinic", input="b", previous_response_id=first.id)
    assert raised.value.code == "previous_response_not_found"


def test_a_history_is_sent_as_items(service: FakeService, client: openai.OpenAI) -> None:
    first = client.responses.create(model="clinic", input="a")
    items: Any = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        *(item.model_dump(exclude_none=True) for item in first.output),
        {"type": "message", "role": "user", "content": "b"},
    ]
    client.responses.create(model="clinic", input=items)
    assert service.seen[1]["conversation"] == "conversation-1"
    assert not any(word in json.dumps(service.seen, ensure_ascii=False) for word in PRIVATE_WORDS)


def test_what_asks_for_nothing_is_accepted(client: openai.OpenAI) -> None:
    tools: Any = [{"type": "function", "name": "f", "parameters": {}, "strict": False}, {"type": "web_search"}]
    reply = client.responses.with_raw_response.create(
        model="clinic", input="Who?", tools=tools, tool_choice="auto", temperature=0.1, max_output_tokens=5, user="u",
        reasoning={"effort": "low"}, include=["reasoning.encrypted_content"], metadata={"a": "b"}, truncation="auto",
        text={"format": {"type": "text"}}, parallel_tool_calls=True, extra_body={"odd_field": 1},
    )  # fmt: skip
    assert reply.parse().output_text.startswith(SAID)
    assert {"tools", "reasoning", "odd_field"} <= set(reply.headers["x-arog-ignored"].split(", "))
