"""One caller's dialogue with the service, over the graph that a file of tests calls GRAPH, or over the clinic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.llm.embeddings.embedder import Embedder
from app.wiring.store import ServiceContext
from tests.support.asking import PEOPLE
from tests.support.house import House, clinic_store, sets_house


@pytest.fixture(scope="module")
def store(
    request: pytest.FixtureRequest, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServiceContext]:
    """Loaded once for a file."""
    with clinic_store(tmp_path_factory.mktemp("store"), embedder, getattr(request.module, "GRAPH", PEOPLE)) as store:
        yield store


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    return sets_house(store, embedder)
