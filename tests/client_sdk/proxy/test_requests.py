"""Whatever a client sends is a question or an error in words of ours."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.chat_completions import read_chat_completion
from client_sdk.proxy.questions import Question

CANARY = "Quillowmere"
texts = st.sampled_from(["", CANARY, "user", "assistant", "system", "tool", "text", "clinic", "clinic:arog", "none"])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "user", "assistant", "system"]) | texts, "content": values},
        optional={"tool_calls": values, "name": texts},
    )
    | values,
    max_size=4,
)
fields = [
    "stream",
    "stream_options",
    "n",
    "tools",
    "tool_choice",
    "stop",
    "response_format",
    "modalities",
    "user",
    CANARY,
]
bodies = st.fixed_dictionaries(
    {"model": st.just("clinic") | texts | values, "messages": messages | values},
    optional=dict.fromkeys(fields, values),
)


def read(body: bytes) -> Question | ProxyError:
    try:
        return read_chat_completion(body)[0]
    except ProxyError as refusal:
        return refusal


@given(bodies | values)
def test_any_body_is_read_or_refused_without_being_quoted(body: Any) -> None:
    told = read(json.dumps(body).encode())
    if isinstance(told, ProxyError):
        assert told.status in (400, 404)
        assert CANARY not in json.dumps(told.openai_body)
    else:
        assert told.text.strip()
        assert CANARY not in "".join(told.ignored) + repr(told)


@given(st.binary(max_size=40))
def test_any_bytes_are_refused(body: bytes) -> None:
    told = read(body)
    assert isinstance(told, ProxyError)
    assert told.status == 400
