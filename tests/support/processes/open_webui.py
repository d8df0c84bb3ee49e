"""The released Open WebUI as a process, and a person at its page, played through its HTTP API."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.waiting import until_healthy

STARTS_WITHIN_S = 180.0
ANSWERS_WITHIN_S = 60.0
# The variable that names the program, which `make test-openwebui` installs in an environment of its own.
COMMAND = "AROG_TESTS_OPEN_WEBUI"
FEATURES = ("voice", "image_generation", "code_interpreter", "web_search")


@contextmanager
def open_webui_process(folder: Path, provider: str) -> Iterator[str]:
    """Start it with default settings and `provider` as its OpenAI API; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "DATA_DIR": str(folder / "data"),
        "WEBUI_SECRET_KEY": "of-this-test",
        "OPENAI_API_BASE_URL": provider,
        "OPENAI_API_KEY": "anything",
        # Keeps it from fetching its model for documents, which no test uses.
        "HF_HUB_OFFLINE": "1",
    }
    (folder / "data").mkdir()
    command = [os.environ[COMMAND], "serve", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "printed.txt").open("wb") as printed:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=printed, stderr=printed)
    try:
        until_healthy(f"http://127.0.0.1:{port}/health", process, folder / "printed.txt", STARTS_WITHIN_S)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


class Person:
    """The person who signed up first, with one browser."""

    def __init__(self, http: httpx2.Client) -> None:
        account = {"name": "Ada", "email": "ada@example.org", "password": "Correct-horse-9!"}
        self.http = http
        told = self.http.post("/api/v1/auths/signup", json={**account, "profile_image_url": "/user.png"})
        self.http.headers["Authorization"] = f"Bearer {told.raise_for_status().json()['token']}"

    def models(self) -> dict[str, dict[str, Any]]:
        return {model["id"]: model for model in self.http.get("/api/models").raise_for_status().json()["data"]}


@dataclass
class WebChat:
    """One chat of the page with one model; titles, tags and follow-ups are on, as by default."""

    person: Person
    model: str = "demo"
    id: str = ""
    _last: str | None = field(default=None, repr=False)

    def ask(self, text: str) -> dict[str, Any]:
        """Asks and return the answering message as the page shows it: with text, error and follow-ups."""
        answer = str(uuid.uuid4())
        asked = self._request(text, answer)
        told = self.person.http.post("/api/chat/completions", json=asked).raise_for_status().json()
        self.id, self._last = self.id or told["chat_id"], answer
        return self._when(lambda chat: chat["chat"]["history"]["messages"].get(answer, {}), _is_whole)

    def title_and_tags(self) -> tuple[str, list[str]]:
        """Waits for title and tags of the chat, which come after the first answer."""
        chat = self._when(lambda chat: chat, lambda chat: bool(chat["meta"].get("tags")))
        return chat["title"], chat["meta"]["tags"]

    def _request(self, text: str, answer: str) -> dict[str, Any]:
        first = self._last is None
        message = {
            "id": str(uuid.uuid4()), "parentId": self._last, "childrenIds": [], "role": "user", "content": text,
            "timestamp": int(time.time()), "models": [self.model],
        }  # fmt: skip
        chores = {"title_generation": True, "tags_generation": True} if first else {}
        return {
            "stream": True, "model": self.model, "params": {"model_controls": {}}, "tool_servers": [], "tool_ids": [],
            "features": dict.fromkeys(FEATURES, False), "variables": {"{{USER_NAME}}": "Ada"},
            "model_item": self.person.models()[self.model], "session_id": uuid.uuid4().hex[:20], "id": answer,
            "message_ids": [{"model_id": self.model, "message_id": answer, "modelIdx": 0}],
            "parent_id": self._last, "user_message": message, **({} if first else {"chat_id": self.id}),
            "background_tasks": {**chores, "follow_up_generation": True},
        }  # fmt: skip

    def _when(self, part: Any, is_there: Any) -> dict[str, Any]:
        until = time.monotonic() + ANSWERS_WITHIN_S
        while time.monotonic() < until:
            found: dict[str, Any] = part(self.person.http.get(f"/api/v1/chats/{self.id}").raise_for_status().json())
            if is_there(found):
                return found
            time.sleep(0.2)
        raise AssertionError(f"nothing came in {ANSWERS_WITHIN_S:.0f} s")


def _is_whole(message: dict[str, Any]) -> bool:
    return bool(message.get("error")) or (bool(message.get("done")) and "followUps" in message)
