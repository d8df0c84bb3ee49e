"""Chores of chat clients are known by their form, and answered without a word of the chat."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.questions import find_task


@given(st.text())
def test_any_text_is_a_question_a_chore_or_refused(text: str) -> None:
    with contextlib.suppress(ProxyError):
        task = find_task(text, text, "clinic")
        assert task is None or task.reply


@pytest.mark.parametrize("unit", ["\n", "user:\n", "<chat_history>", '{ "title', " " * 9 + "\n", "ai:\n"])
def test_a_long_text_is_read_in_little_time(unit: str) -> None:
    """A body may have eight million characters."""
    before = time.process_time()
    with contextlib.suppress(ProxyError):
        find_task(unit * (1_000_000 // len(unit)), "", "clinic")
    assert time.process_time() - before < 1
