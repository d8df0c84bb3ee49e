"""The sentence model of services in tests: loaded once a worker, and what it has embedded is kept."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL


@cache
def shared_embedder(model: str = BOXED_MODEL, cache_dir: Path | None = None) -> Embedder:
    return Embedder(model, cache_dir)
