"""The English reader for commands and chats: it names concepts, and remarks on other languages."""

from __future__ import annotations

import threading
from collections.abc import Callable

from app.chat.question_run import no_remark
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.reader.english import EnglishReader
from app.settings import Settings
from kg_store.catalog import NameConcepts


def namer_of(settings: Settings) -> NameConcepts:
    """Names concepts; the sentence model is loaded for the first one."""
    return EnglishReader(Embedder(settings.embedder, settings.cache_dir)).name_concepts


def language_remarks(settings: Settings) -> Callable[[str], str | None]:
    """Returns the remark on questions in other languages; it applies only if the installed English
    model reads them.
    """
    if settings.reasoner != "embedded" or settings.embedder != BOXED_MODEL:
        return no_remark
    threading.Thread(target=EnglishReader.read_words, name="words of languages", daemon=True).start()
    return EnglishReader.remark_on
