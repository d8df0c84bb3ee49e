"""Finds names of people and places that are in no graph, with a language model that the owner has on disk."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from spacy.language import Language

SPACY: Final = "spacy:"
NO_NAMES: Final = frozenset(("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE"))
"""Kinds of entities in spaCy's models that are no names. Numbers and dates are replaced without a model anyway."""

_TRIAL = "Does it work?"


class RecogniserError(Exception):
    """The configured recogniser cannot be used. The message names the setting and the remedy; it contains no path."""


class Recogniser(Protocol):
    """Finds names in a text.

    It promises nothing: a name that it misses leaves as typed, unless the graph, a pattern or a capital letter reveals
    it.
    """

    def names_in(self, text: str) -> list[tuple[int, int]]:
        """Returns the spans of `text` that name somebody or something, in order. Thread-safe."""
        ...


class SpacyRecogniser:
    """A spaCy pipeline loaded from a folder.

    Its code runs in this process, so only the owner may choose the folder.
    """

    def __init__(self, pipeline: Language) -> None:
        self._pipeline, self._lock = pipeline, threading.Lock()

    def names_in(self, text: str) -> list[tuple[int, int]]:
        with self._lock:  # spaCy does not promise that threads can share a pipeline.
            found = self._pipeline(text).ents
        return [(each.start_char, each.end_char) for each in found if each.label_ not in NO_NAMES]


def open_recogniser(setting: str) -> Recogniser:
    """Loads the recogniser that the setting AROG_RECOGNISER names, and runs it once as a test.

    Downloads nothing. Raises RecogniserError if it cannot be loaded or fails.
    """
    kind, folder = setting[: len(SPACY)], Path(setting[len(SPACY) :])
    if kind != SPACY:
        raise RecogniserError("AROG_RECOGNISER must be spacy: and the folder of a pipeline")
    if not (folder / "config.cfg").is_file():
        raise RecogniserError("the folder of AROG_RECOGNISER holds no spaCy pipeline (a config.cfg)")
    try:
        # Imported here because spaCy is optional and slow to import.
        import spacy
    except ImportError:
        raise RecogniserError('AROG_RECOGNISER needs spaCy: pip install ".[recogniser]"') from None
    try:
        pipeline = spacy.load(folder)
        recogniser = SpacyRecogniser(pipeline)
        recogniser.names_in(_TRIAL)
    except Exception as error:
        # The error's text may contain paths.
        raise RecogniserError(f"the pipeline of AROG_RECOGNISER can't be loaded ({type(error).__name__})") from None
    if not any("doc.ents" in pipeline.get_pipe_meta(name).assigns for name in pipeline.pipe_names):
        raise RecogniserError("the pipeline of AROG_RECOGNISER has no part that finds names (ner, entity_ruler)")
    return recogniser
