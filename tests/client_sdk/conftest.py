"""Fixtures of the SDK's tests: a service on loopback, and a config folder of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_service import FakeService


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
