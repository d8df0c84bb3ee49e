"""A small clinic loaded as the service loads it, and reasoners: the embedded one, and models over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from app.llm.embedded import EmbeddedReasoner
from app.llm.embedder import Embedder
from app.llm.endpoint import ModelEndpoint
from app.llm.prompted import PromptedReasoner
from tests.support.asking import Asked, Bench, bench_of
from tests.support.model_server import ModelServer, serving


@pytest.fixture(scope="package")
def bench(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_of(tmp_path_factory.mktemp("clinic"), embedder)


@pytest.fixture
def asked(bench: Bench) -> Asked:
    return bench.asked()


@pytest.fixture(scope="package")
def embedded(embedder: Embedder) -> EmbeddedReasoner:
    return EmbeddedReasoner(embedder)


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
