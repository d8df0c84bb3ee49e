"""A real service on the demo graph, and a real proxy before it, each a process, for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from client_sdk import Chat, KeyPair
from tests.support.processes.demo_service import DemoService, demo_service
from tests.support.processes.proxy import ProxyProcess, proxy_process


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoService]:
    with demo_service(tmp_path_factory.mktemp("service"), AROG_REQUESTS_PER_MINUTE="1000") as demo:
        yield demo


@pytest.fixture(scope="session")
def proxy(demo: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProxyProcess]:
    with proxy_process(tmp_path_factory.mktemp("proxy"), demo.url, demo.api_key) as proxy:
        yield proxy


@pytest.fixture
def chat(demo: DemoService) -> Iterator[Chat]:
    with Chat(demo.url, demo.api_key, "demo", key=KeyPair.generate()) as chat:
        yield chat


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own key."""
    for name in ("AROG_URL", "AROG_API_KEY", "AROG_GRAPH", "AROG_PROXY_KEY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AROG_CONFIG_DIR", str(tmp_path / "config"))
