"""Fixtures of the SDK's tests: a service on loopback, and a config folder of their own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client_sdk import Chat
from client_sdk.cli.main import run
from tests.support.fake_service import API_KEY, FakeService


@pytest.fixture
def service() -> Iterator[FakeService]:
    fake = FakeService()
    yield fake
    fake.stop()


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's own key."""
    for name in ("AROG_URL", "AROG_API_KEY", "AROG_GRAPH", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "config"
    monkeypatch.setenv("AROG_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def env(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """The service as the environment names it."""
    monkeypatch.setenv("AROG_URL", service.url)
    monkeypatch.setenv("AROG_API_KEY", API_KEY)
    return service


@pytest.fixture
def chat(service: FakeService) -> Iterator[Chat]:
    with Chat(service.url, API_KEY, "demo") as chat:
        yield chat


Spoken = Callable[..., tuple[int, str, str]]


@pytest.fixture
def spoken(env: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Spoken:
    """Sends lines to `arog chat` through a pipe; gives its exit code, and what it printed to each of its outputs."""

    def speak(lines: str, *options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        code = run(["chat", *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return speak
