"""Runs a sentence model on torch; supports every model that sentence-transformers knows."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.token_vectors import TokenVectors

BATCH = 64


class TorchMissingError(Exception):
    """The sentence model needs torch, which a light installation does not include."""


class TorchEncoder:
    """Implements Encoder. Thread-safe: one thread at a time. Loading takes seconds.

    Raises OSError, ValueError, TorchMissingError.
    """

    def __init__(self, model: str) -> None:
        # Nothing is fetched at run time: a model is in the box, or in a folder that the owner names.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise TorchMissingError from None

        # Short texts gain nothing from a second thread, and on a busy machine threads wait for each other.
        torch.set_num_threads(1)
        self._model = SentenceTransformer(model, device=None)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        with self._lock:
            vectors = self._model.encode(
                list(texts),
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
                batch_size=BATCH,
            )
        return np.asarray(vectors, dtype=np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Returns the token vectors of each text, truncated where the model truncates.

        Raises NotImplementedError if the tokenizer does not report positions.
        """
        import torch

        found: list[TokenVectors] = []
        for start in range(0, len(texts), BATCH):
            with self._lock, torch.no_grad():
                fed = self._model.tokenizer(
                    list(texts[start : start + BATCH]),
                    padding=True,
                    truncation=True,
                    max_length=self._model.max_seq_length,
                    return_offsets_mapping=True,
                    return_tensors="pt",
                )
                spans = fed.pop("offset_mapping").numpy()
                hidden = self.network.eval()(**fed)[0].numpy()
            for row, count in enumerate(fed["attention_mask"].sum(dim=1).tolist()):
                found.append(TokenVectors(hidden[row, :count].copy(), spans[row, :count].astype(np.int64)))
        return found

    def count_tokens(self, text: str) -> int:
        with self._lock:
            return len(self._model.tokenizer.encode(text, add_special_tokens=False, verbose=False))

    @property
    def network(self) -> Any:
        """The transformer itself, as a torch module."""
        return self._model[0].auto_model

    def features(self, texts: Sequence[str]) -> dict[str, Any]:
        """Returns the transformer's input for `texts`: tensors of shape (texts, tokens) by name."""
        fed = self._model.preprocess(list(texts))
        return {name: value for name, value in fed.items() if hasattr(value, "shape")}
