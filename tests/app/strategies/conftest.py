"""A conversation about the small clinic, and the embedded reasoner."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.embedded_reasoner import EmbeddedReasoner
from tests.support.asking import Asked, Bench


@pytest.fixture
def asked(bench: Bench) -> Asked:
    return bench.asked()


@pytest.fixture(scope="package")
def embedded(embedder: Embedder) -> EmbeddedReasoner:
    return EmbeddedReasoner(embedder)
