"""The road of one question, traced: it begins and ends in the API, and what stands before a prompt stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.road import road_of_a_question, room_of

MAX_SERVICE_FILES = 40
"""Of the rooms in which a question is handed on, the kind of its turn, what a hub offers, the second reader and what
to ask next among them; behind their doors lie names, graphs and models."""

SERVICE = ("app/api", "app/accounts", "app/chat", "app/strategies", "app/egress")


@pytest.mark.model
async def test_the_road_of_a_question_is_as_short_as_it_was_made(tmp_path: Path) -> None:
    files = await road_of_a_question(tmp_path)
    assert files[0].startswith("app/api/")
    stages = ["reading", "search", "reply"]
    met = [files.index(f"app/chat/{stage}.py") for stage in stages]
    assert met == sorted(met)
    before = ["disclosure.py", "guard.py", "ledger/ledger.py"]
    sent = files.index("app/llm/endpoint/transport.py")
    assert all(files.index(f"app/egress/{part}") < sent for part in before)
    assert sum(room_of(file) in SERVICE for file in files) <= MAX_SERVICE_FILES
