"""The scorer of paths that tests of the reader share."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.path_scoring import PathScorer


@pytest.fixture(scope="session")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)
