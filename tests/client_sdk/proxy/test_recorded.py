"""Requests of real programs: Open WebUI 0.12.4's as sent (of 28 tools two), LibreChat's as its source has them.

`tests/door/test_open_webui.py` runs the released Open WebUI itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from client_sdk import KeyPair
from client_sdk.proxy.sessions import Upstream
from tests.support.fake_service import API_KEY, FakeService
from tests.support.processes.proxy import proxy_thread

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "recorded"
REQUESTS = [
    (path.stem, row["name"], row["wants"], row["body"])
    for path in sorted(FOLDER.glob("*.jsonl"))
    for row in map(json.loads, path.read_text("utf-8").splitlines())
]
KEY = KeyPair.generate()
NAMES = ("Valeska", "Dornbusch", "Emeka", "Osakwani", "Rosalind", "Rose", "Ros")


@pytest.fixture
def base_url(service: FakeService) -> Iterator[str]:
    with proxy_thread(Upstream(service.url, API_KEY, KEY)) as url:
        yield url


def content_of(reply: httpx2.Response) -> tuple[str, dict[str, Any]]:
    """The text of a reply, streamed or not, and what it says of itself."""
    if not reply.headers["content-type"].startswith("text/event-stream"):
        whole = reply.json()
        return whole["choices"][0]["message"]["content"], whole["arog"]
    lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"])
    return text, next(chunk["arog"] for chunk in chunks if "arog" in chunk)


@pytest.mark.parametrize(
    ("wants", "body"), [row[2:] for row in REQUESTS], ids=[f"{client}: {name}" for client, name, _, _ in REQUESTS]
)
def test_a_recorded_request_gets_what_it_wants(
    service: FakeService, base_url: str, wants: str, body: dict[str, Any]
) -> None:
    reply = httpx2.post(f"{base_url}/chat/completions", json=body)
    if wants in ("not_a_question", "unsupported_parameter"):
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, wants)
        assert service.seen == []
        return
    assert reply.status_code == 200, reply.text
    text, about = content_of(reply)
    if wants == "answer":
        assert text.startswith("Anna Keller is treated by")
        assert "stop" not in service.seen[-1]
        assert "Be kind" not in json.dumps(service.seen)
    else:
        assert about == {"background": wants}
        assert service.seen == []
        assert not [name for name in NAMES if name in reply.text]


def test_every_kind_of_chore_of_these_programs_is_among_them() -> None:
    assert {wants for *_, wants, _ in REQUESTS} >= {
        "answer", "title", "tags", "follow_ups", "queries", "autocomplete", "image_prompt", "emoji", "summary",
        "not_a_question", "unsupported_parameter",
    }  # fmt: skip
