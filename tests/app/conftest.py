"""Models over real HTTP, and retries that wait for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import stamina

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from tests.support.processes.model_server import ModelServer, serving


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries come at once, and as often as the code says."""
    with stamina.set_testing(True, attempts=10, cap=True):
        yield


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as running:
        yield running


@pytest.fixture
async def model(server: ModelServer, embedder: Embedder) -> AsyncIterator[PromptedReasoner]:
    """A model that replies as the test tells `server`."""
    endpoint = ModelEndpoint(server.url, "m", deadline_s=20)
    yield PromptedReasoner(endpoint, embedder)
    await endpoint.close()
