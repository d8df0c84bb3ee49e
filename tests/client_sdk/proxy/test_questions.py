"""Whatever a client sends is a question or an error in words of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.protocols import (
    Reply,
    ResponseHistory,
    read_chat_completion,
    read_message_request,
    read_response_request,
)
from client_sdk.proxy.questions import Question

CANARY = "Quillowmere"
texts = st.sampled_from(["", CANARY, "user", "assistant", "system", "tool", "text", "clinic", "clinic:arog", "none"])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
parts = st.lists(st.fixed_dictionaries({"type": texts, "text": values}), max_size=2)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "user", "assistant", "system"]) | texts, "content": values | parts},
        optional={"tool_calls": values, "name": texts, "type": texts},
    )
    | values,
    max_size=4,
)
_FIELDS = "stream stream_options n tools text system instructions tool_choice stop response_format modalities user"
fields = [*_FIELDS.split(), CANARY]
bodies = st.fixed_dictionaries(
    {"model": st.just("clinic") | texts | values, "messages": messages | values, "input": messages | values},
    optional=dict.fromkeys(fields, values),
)
READERS: tuple[Callable[[bytes], tuple[Question, Reply]], ...] = (
    read_chat_completion,
    read_message_request,
    lambda body: read_response_request(body, ResponseHistory()),
)


def read(reader: Callable[[bytes], tuple[Question, Reply]], body: bytes) -> Question | ProxyError:
    try:
        return reader(body)[0]
    except ProxyError as refusal:
        return refusal


@pytest.mark.parametrize("reader", READERS)
@given(body=bodies | values)
def test_any_body_is_read_or_refused_without_being_quoted(
    reader: Callable[[bytes], tuple[Question, Reply]], body: Any
) -> None:
    told = read(reader, json.dumps(body).encode())
    if isinstance(told, ProxyError):
        assert told.status in (400, 404)
        assert CANARY not in json.dumps([told.openai_body, told.anthropic_body])
    else:
        assert told.text.strip()
        assert CANARY not in "".join(told.ignored) + repr(told)


@pytest.mark.parametrize("reader", READERS)
@given(body=st.binary(max_size=40))
def test_any_bytes_are_refused(reader: Callable[[bytes], tuple[Question, Reply]], body: bytes) -> None:
    told = read(reader, body)
    assert isinstance(told, ProxyError)
    assert told.status == 400
