"""The sentence model of services in tests, loaded once per worker with a shared cache of embeddings."""

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
    """Returns the digest of the model's weights, read once per worker."""
    return weights_digest_of(model)
