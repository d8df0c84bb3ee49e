"""Embeds texts with a sentence model: MiniLM from the installed package, or any other by name or folder."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.encoders import TorchEncoder
from app.llm.embeddings.model_files import BOXED_MODEL, TokenVectors, find_model
from app.llm.embeddings.onnx_export import open_exported

Vectors = npt.NDArray[np.float32]

# The greatest number of texts in one run. A larger run would not be faster for each text, and every request in it
# would wait for the whole run. Chosen by hand.
TEXTS_OF_A_RUN = 256


@dataclass(slots=True, eq=False)
class _Request:
    texts: Sequence[str]
    vectors: Vectors | None = None
    error: Exception | None = None

    @property
    def is_open(self) -> bool:
        return self.vectors is None and self.error is None


class BatchingEncoder:
    """Encodes the texts of several threads together, in order of arrival.

    A thread that finds no run in progress starts one for all waiting requests that fit in.
    """

    def __init__(self, encode: Callable[[Sequence[str]], Vectors]) -> None:
        """Takes the function `encode`, which returns one row for each text; only one thread at a time calls it."""
        self._encode = encode
        self._turn = threading.Condition()
        self._is_running = False
        self._waiting: deque[_Request] = deque()

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Returns one row for each text. Raises the error of `encode`."""
        mine = _Request(texts)
        with self._turn:
            self._waiting.append(mine)
            while mine.is_open:
                if self._is_running:
                    self._turn.wait()
                else:
                    self._run_next()
        if mine.error is not None:
            raise mine.error
        assert mine.vectors is not None
        return mine.vectors

    def _run_next(self) -> None:
        """Runs the next batch. The caller holds the lock; it is released during the run, so that others can queue."""
        self._is_running, requests = True, self._next()
        self._turn.release()
        try:
            self._run(requests)
        finally:
            self._turn.acquire()
            self._is_running = False
            self._turn.notify_all()

    def _next(self) -> list[_Request]:
        """Removes from the queue the first request and those after it that fit into the same run, and returns them."""
        taken = [self._waiting.popleft()]
        count = len(taken[0].texts)
        while self._waiting and (count := count + len(self._waiting[0].texts)) <= TEXTS_OF_A_RUN:
            taken.append(self._waiting.popleft())
        return taken

    def _run(self, requests: list[_Request]) -> None:
        row = {text: number for number, text in enumerate({text: None for each in requests for text in each.texts})}
        try:
            vectors = self._encode(list(row))
        except Exception as error:
            for each in requests:
                each.error = error
            return
        for each in requests:
            each.vectors = vectors[[row[text] for text in each.texts]]


Likeness = Callable[[str, Sequence[str]], Vectors]
"""Returns the cosine of a text with each of other texts, computed inside the service; shape (others,)."""

CACHED_TEXTS = 50_000


class Encoder(Protocol):
    """A loaded sentence model: it embeds texts, returns the vectors of their tokens, and counts them. Thread-safe."""

    def encode(self, texts: Sequence[str]) -> Vectors: ...

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]: ...

    def count_tokens(self, text: str) -> int: ...


class Embedder:
    """Returns unit vectors of texts. Thread-safe; it loads the model at first use and caches vectors.

    Questions are cached too, in memory only and in pseudonyms. Texts that several threads ask for at once are embedded
    together.
    """

    def __init__(
        self, model: str = BOXED_MODEL, cache_dir: Path | None = None, encoder: Callable[[], Encoder] | None = None
    ) -> None:
        """Takes a model's name or folder. `cache_dir`: folder for its ONNX network; if None, torch runs the model.

        `encoder`: loads another encoder instead.
        """
        self._name, self._cache_dir, self._open = model, cache_dir, encoder
        self._loading, self._lock = threading.Lock(), threading.Lock()
        self._encoder: Encoder | None = None
        self._runs = BatchingEncoder(lambda texts: self._loaded().encode(texts))
        self._sentences: OrderedDict[str, Vectors] = OrderedDict()

    def load(self) -> None:
        """Loads the model now, so that the first question does not wait. Raises ModelNotTrustedError, OSError."""
        self._loaded()

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector for each text; shape (texts, dimensions)."""
        with self._lock:
            known = {text: self._sentences[text] for text in texts if text in self._sentences}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(zip(missing, self._runs.vectors(missing), strict=True))
            self._keep(fresh)
            known |= fresh
        return np.concatenate([known[text] for text in texts]).reshape(len(texts), -1)

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Returns the vectors of each text's tokens; they are not cached."""
        return self._loaded().token_vectors(texts)

    def prepare(self, texts: Sequence[str]) -> None:
        """Embeds texts that will be needed next and caches them: one run takes hardly longer than a single text."""
        if texts:
            self.sentences(texts)

    def similarity(self, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
        """Returns the cosine of `text` with each of `others`; shape (others,)."""
        if not others:
            return np.zeros(0, dtype=np.float32)
        result: npt.NDArray[np.float32] = self.sentences(others) @ self.sentences([text])[0]
        return result

    def count_tokens(self, text: str) -> int:
        """Returns the number of tokens of `text`, without the special tokens that the model adds around it."""
        return self._loaded().count_tokens(text)

    def _keep(self, fresh: dict[str, Vectors]) -> None:
        with self._lock:
            self._sentences |= fresh
            while len(self._sentences) > CACHED_TEXTS:
                self._sentences.popitem(last=False)

    def _loaded(self) -> Encoder:
        with self._loading:
            if self._encoder is None and self._open is not None:
                self._encoder = self._open()
            elif self._encoder is None:
                model = find_model(self._name)
                exported = open_exported(model, self._cache_dir) if model and self._cache_dir else None
                self._encoder = exported or TorchEncoder(str(model.path) if model else self._name)
            return self._encoder
