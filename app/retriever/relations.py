"""RelationTable: the vectors of relations by their words, one row each, shared by all queries."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder


class RelationTable:
    """Assigns rows in the order in which words are first seen; they never change. Thread-safe."""

    def __init__(self, embedder: Embedder, words: Sequence[str] = ()) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)
        self.rows(words)

    def rows(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """Returns the row of each relation; new ones are embedded."""
        with self._lock:
            if new := [each for each in dict.fromkeys(words) if each not in self._rows]:
                added = self._embedder.sentences(new)
                self._vectors = np.concatenate([self._vectors, added]) if self._rows else added
                self._rows |= {each: len(self._rows) + at for at, each in enumerate(new)}
            return np.array([self._rows[each] for each in words], np.int64)

    def vectors(self) -> npt.NDArray[np.float32]:
        """Unit vectors; shape (rows, dimensions)."""
        return self._vectors
