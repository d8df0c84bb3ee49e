"""Recogniser: names of people and places that are in no graph, found by a model that the owner has on disk."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from spacy.language import Language

SPACY: Final = "spacy:"
NO_NAMES: Final = frozenset(("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE"))
"""Kinds of entities in spaCy's models that name nobody; numbers and dates are replaced without a model."""

_TRIAL = "Does it work?"


class RecogniserError(Exception):
    """The configured recogniser cannot be used. The text names the setting and what to do, and holds no path."""


class Recogniser(Protocol):
    """Finds names. Promise: none. A name that it misses leaves as typed, unless the graph, a pattern or a capital
    reveals it.
    """

    def names_in(self, text: str) -> list[tuple[int, int]]:
        """Returns the spans of `text` that name somebody or something, in order. Thread-safe."""
        ...


class SpacyRecogniser:
    """A spaCy pipeline from a folder; its code runs in this process, so it must be the owner's own choice."""

    def __init__(self, pipeline: Language) -> None:
        self._pipeline, self._lock = pipeline, threading.Lock()

    def names_in(self, text: str) -> list[tuple[int, int]]:
        with self._lock:  # Pipelines don't promise to be safe to share.
            found = self._pipeline(text).ents
        return [(each.start_char, each.end_char) for each in found if each.label_ not in NO_NAMES]


def open_recogniser(setting: str) -> Recogniser:
    """Opens the recogniser that AROG_RECOGNISER names, and tries it once.

    Downloads nothing. Raises RecogniserError.
    """
    kind, folder = setting[: len(SPACY)], Path(setting[len(SPACY) :])
    if kind != SPACY:
        raise RecogniserError("AROG_RECOGNISER must be spacy: and the folder of a pipeline")
    if not (folder / "config.cfg").is_file():
        raise RecogniserError("the folder of AROG_RECOGNISER holds no spaCy pipeline (a config.cfg)")
    try:
        # Not installed with the service, and slow to import.
        import spacy
    except ImportError:
        raise RecogniserError('AROG_RECOGNISER needs spaCy: pip install ".[recogniser]"') from None
    try:
        pipeline = spacy.load(folder)
        recogniser = SpacyRecogniser(pipeline)
        recogniser.names_in(_TRIAL)
    except Exception as error:
        # Its text may hold paths.
        raise RecogniserError(f"the pipeline of AROG_RECOGNISER can't be loaded ({type(error).__name__})") from None
    if not any("doc.ents" in pipeline.get_pipe_meta(name).assigns for name in pipeline.pipe_names):
        raise RecogniserError("the pipeline of AROG_RECOGNISER has no part that finds names (ner, entity_ruler)")
    return recogniser
