"""The sentence model of services in tests: loaded once a worker, and what it has embedded is kept."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of


@cache
def shared_embedder(model: str = BOXED_MODEL, cache_dir: Path | None = None) -> Embedder:
    return Embedder(model, cache_dir)


@cache
def digest_of(model: str) -> str:
    """The digest of the model's weights, read once a worker."""
    return weights_digest_of(model)
