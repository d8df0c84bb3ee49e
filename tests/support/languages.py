"""The reader of English that tests share, so that what it has computed is kept for all tests of a worker."""

from __future__ import annotations

from functools import cache

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.reader.english import EnglishReader
from app.settings import load_settings
from tests.support.sentence_model import shared_embedder


def english(embedder: Embedder | None = None) -> EnglishReader:
    """Returns the reader around `embedder`, by default the sentence model that all tests share."""
    return _reader_of(embedder or shared_embedder(BOXED_MODEL, load_settings(None).cache_dir))


@cache
def _reader_of(embedder: Embedder) -> EnglishReader:
    return EnglishReader(embedder)
