"""The embedding model, loaded once for all tests of the service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import stamina

from app.llm.embedder import Embedder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    embedder = Embedder()
    embedder.load()
    return embedder


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries come at once, and as often as the code says."""
    with stamina.set_testing(True, attempts=10, cap=True):
        yield
