"""A small clinic loaded as the service loads it."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from tests.support.asking import Bench, bench_of


@pytest.fixture(scope="package")
def bench(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return bench_of(tmp_path_factory.mktemp("clinic"), embedder)
