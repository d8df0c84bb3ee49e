"""A small clinic loaded as the service loads it, and the embedded reasoner."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.embedded_reasoner import EmbeddedReasoner
from tests.support.asking import Asked, Bench, bench_of


@pytest.fixture(scope="package")
def bench(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_of(tmp_path_factory.mktemp("clinic"), embedder)


@pytest.fixture
def asked(bench: Bench) -> Asked:
    return bench.asked()


@pytest.fixture(scope="package")
def embedded(embedder: Embedder) -> EmbeddedReasoner:
    return EmbeddedReasoner(embedder)
