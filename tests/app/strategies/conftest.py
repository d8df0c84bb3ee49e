"""A conversation about the small clinic, alone or with a model that replies as a test says; the embedded reasoner."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.reader.embedded_reasoner import EmbeddedReasoner
from tests.support.asking import Asked, Bench
from tests.support.processes.model_server import ModelServer
from tests.support.talk import Talk


@pytest.fixture
def asked(bench: Bench) -> Asked:
    return bench.asked()


@pytest.fixture
def talk(bench: Bench, server: ModelServer, model: PromptedReasoner, embedder: Embedder) -> Talk:
    return Talk(bench.asked(model), server, model, embedder)


@pytest.fixture(scope="package")
def embedded(embedder: Embedder) -> EmbeddedReasoner:
    return EmbeddedReasoner(embedder)
