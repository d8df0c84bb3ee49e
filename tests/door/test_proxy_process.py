"""The openai package, unchanged, against `arog proxy` and `arog serve` as processes, on the demo graph."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.lazy_module import LazyModule
from tests.support.processes.demo_service import DemoService
from tests.support.processes.proxy import ROOT, ProxyProcess, proxy_process

anthropic = LazyModule("anthropic")
openai = LazyModule("openai")

pytestmark = pytest.mark.process

DOCTOR = "Which doctor is Valeska Dornbusch treated by?"
NAMES = ("Valeska", "Dornbusch", "Emeka", "Osakwani", "Alder Clinic", "Lindqvist", "Rosalind", "Gallenbach")


@pytest.fixture
def client(proxy: ProxyProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=proxy.url, api_key="anything", max_retries=0) as client:
        yield client


class Talk:
    """A client that sends all of its history each time, as OpenAI's clients do."""

    def __init__(self, client: openai.OpenAI, model: str = "demo") -> None:
        self.client, self.model = client, model
        self.history: list[Any] = []

    def ask(self, text: str, *, stream: bool = False) -> str:
        self.history.append({"role": "user", "content": text})
        if stream:
            with self.client.chat.completions.create(model=self.model, messages=self.history, stream=True) as chunks:
                said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        else:
            reply = self.client.chat.completions.create(model=self.model, messages=self.history)
            said = reply.choices[0].message.content or ""
        self.history.append({"role": "assistant", "content": said})
        return said


def test_a_dialogue_leans_on_its_earlier_turns_streamed_or_not(client: openai.OpenAI) -> None:
    talk = Talk(client)
    assert "Emeka Osakwani" in talk.ask(DOCTOR, stream=True)
    assert "Alder Clinic" in talk.ask("And where does he work?")
    assert "Kaveh Khorvand" in talk.ask("Which other patients has he?", stream=True)


def test_a_name_that_several_have_is_chosen_in_the_chat(client: openai.OpenAI) -> None:
    talk = Talk(client)
    told = talk.ask("Where does Marta Lindqvist live?")
    first, second = (line for line in told.splitlines() if line.startswith(("1. ", "2. ")))
    assert first.startswith("1. Marta Lindqvist (date of birth: ")
    assert first[3:] != second[3:]
    chosen = talk.ask("The second one.")
    assert "lives in" in chosen
    assert "Which one do you mean?" not in chosen


def test_a_dialogue_goes_on_after_the_proxy_was_started_anew(
    demo: DemoService, client: openai.OpenAI, tmp_path: Path
) -> None:
    talk = Talk(client)
    talk.ask(DOCTOR)
    with (
        proxy_process(tmp_path, demo.url, demo.api_key) as other,
        openai.OpenAI(base_url=other.url, api_key="x", max_retries=0) as later,
    ):
        talk.client = later
        assert "Alder Clinic" in talk.ask("And where does he work?")


@pytest.mark.parametrize("stream", [False, True])
def test_a_dialogue_by_responses_goes_on_from_their_ids(client: openai.OpenAI, stream: bool) -> None:
    first = client.responses.create(model="demo", input=DOCTOR)
    assert "Emeka Osakwani" in first.output_text
    asked: Any = {"model": "demo", "input": "And where does he work?", "previous_response_id": first.id}
    if stream:
        with client.responses.stream(**asked) as events:
            assert "Alder Clinic" in events.get_final_response().output_text
    else:
        assert "Alder Clinic" in client.responses.create(**asked).output_text


@pytest.mark.parametrize("stream", [False, True])
def test_a_dialogue_by_anthropics_messages_leans_on_its_earlier_turns(proxy: ProxyProcess, stream: bool) -> None:
    turns: Any = [{"role": "user", "content": DOCTOR}]
    asked: Any = {"model": "demo", "max_tokens": 1000, "messages": turns}
    with anthropic.Anthropic(base_url=proxy.url.removesuffix("/v1"), api_key="x", max_retries=0) as client:
        first = client.messages.create(**asked)
        assert "Emeka Osakwani" in first.content[0].text
        turns += [{"role": "assistant", "content": first.content}]
        turns += [{"role": "user", "content": "And where does he work?"}]
        if stream:
            with client.messages.stream(**asked) as events:
                assert "Alder Clinic" in events.get_final_text()
        else:
            assert "Alder Clinic" in client.messages.create(**asked).content[0].text


def test_nothing_of_a_name_is_printed_or_lies_on_the_disk(
    demo: DemoService, client: openai.OpenAI, proxy: ProxyProcess
) -> None:
    talk = Talk(client)
    talk.ask(DOCTOR, stream=True)
    talk.ask("And where does Rosalind Rose live?")
    client.responses.create(model="demo", input=DOCTOR)
    with anthropic.Anthropic(base_url=proxy.url.removesuffix("/v1"), api_key="x") as other:
        other.messages.create(model="demo", max_tokens=9, messages=[{"role": "user", "content": DOCTOR}])
    for model, change in (("demo", {"n": 2}), ("another", {}), ("demo", {"tool_choice": "required"})):
        with pytest.raises(openai.APIStatusError):
            client.chat.completions.create(model=model, messages=talk.history, **change)
    assert list(proxy.written) == ["config/key"]
    left = [proxy.printed.read_bytes(), *proxy.written.values()]
    assert proxy.printed.read_bytes()
    assert [name for name in NAMES for content in left if name.encode() in content] == []


def test_it_listens_to_this_machine_alone(demo: DemoService, proxy: ProxyProcess, tmp_path: Path) -> None:
    """127.0.0.2 is another address of this machine: what listens on all of them listens there, too."""
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", proxy.port), timeout=5):
        pass
    with (
        proxy_process(tmp_path, demo.url, demo.api_key, "--host", "0.0.0.0", PROXY_KEY="a-proxy-key") as everywhere,
        socket.create_connection(("127.0.0.2", everywhere.port), timeout=5),
    ):
        assert "travel readable" in everywhere.printed.read_text()


def test_for_other_machines_it_must_have_a_key(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "client_sdk", "proxy", "--host", "0.0.0.0", "--port", "0"]
    environment = {
        "PYTHONPATH": str(ROOT), "AROG_API_KEY": "a-key", "AROG_CONFIG_DIR": str(tmp_path), "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "AROG_PROXY_KEY" in done.stderr


def test_without_a_service_it_says_so_and_answers_with_errors(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        asks_nobody(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}")


def asks_nobody(folder: Path, url: str) -> None:
    with (
        proxy_process(folder, url, "a-key") as proxy,
        openai.OpenAI(base_url=proxy.url, api_key="x", max_retries=0) as client,
    ):
        assert "The service can't be used yet" in proxy.printed.read_text()
        with pytest.raises(openai.InternalServerError, match="no connection"):
            Talk(client).ask(DOCTOR)
        with pytest.raises(openai.InternalServerError):
            client.models.list()
