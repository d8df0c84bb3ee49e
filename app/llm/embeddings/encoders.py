"""Runs a sentence model: on ONNX Runtime, which is several times as fast, or on torch, which can run any model."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import EncoderConfig, TokenVectors

Array = npt.NDArray[np.float32]
Inputs = dict[str, npt.NDArray[np.int64]]

BATCH = 64


class OnnxEncoder:
    """Implements Encoder with an exported network and the model's own tokenizer.json. Thread-safe.

    Raises ImportError if onnxruntime is missing, and the errors of onnxruntime or tokenizers if a file is broken.
    """

    def __init__(self, network: Path, folder: Path, recipe: EncoderConfig) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # Short texts gain nothing from a second thread, and on a busy machine threads wait for each other.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
        self._inputs = [wanted.name for wanted in self._session.get_inputs()]
        self._recipe = recipe
        # Two tokenizers, one that truncates and one that does not: truncation is a state of the object, and one thread
        # may count tokens while another embeds.
        self._cutting = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._cutting.no_padding()
        self._cutting.enable_truncation(recipe.max_tokens)
        self._counting = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._counting.no_padding()
        self._counting.no_truncation()

    def encode(self, texts: Sequence[str]) -> Array:
        """Returns unit vectors; shape (texts, dimensions)."""
        tokens = self._cutting.encode_batch(list(texts))
        runs = _runs(tokens)
        vectors = np.concatenate([self._run([tokens[row] for row in rows]) for rows in runs])
        result = np.empty_like(vectors)
        result[[row for rows in runs for row in rows]] = vectors
        return result

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Returns the vectors of each text's tokens; texts longer than the model's limit are truncated."""
        tokens = self._cutting.encode_batch(list(texts))
        found: dict[int, TokenVectors] = {}
        for rows in _runs(tokens):
            hidden, _ = self._hidden([tokens[row] for row in rows])
            for row, vectors in zip(rows, hidden, strict=True):
                spans = np.array(tokens[row].offsets, dtype=np.int64)
                found[row] = TokenVectors(vectors[: len(spans)].copy(), spans)
        return [found[row] for row in range(len(tokens))]

    def count_tokens(self, text: str) -> int:
        return len(self._counting.encode(text, add_special_tokens=False).ids)

    def _run(self, tokens: Sequence[Any]) -> Array:
        hidden, seen = self._hidden(tokens)
        mean = (hidden * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1e-9)
        unit: Array = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return unit

    def _hidden(self, tokens: Sequence[Any]) -> tuple[Array, Array]:
        """Returns the last layer, shape (texts, tokens, dimensions), and the mask, shape (texts, tokens, 1).

        The mask is 1 for each token that is not padding, else 0.
        """
        padded = self._padded(tokens)
        hidden: Array = self._session.run(None, {name: padded[name] for name in self._inputs})[0]
        return hidden, padded["attention_mask"][..., None].astype(np.float32)

    def _padded(self, tokens: Sequence[Any]) -> Inputs:
        shape = (len(tokens), max(len(each.ids) for each in tokens))
        ids = np.full(shape, self._recipe.pad_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, each in enumerate(tokens):
            length = len(each.ids)
            ids[row, :length], mask[row, :length], types[row, :length] = each.ids, each.attention_mask, each.type_ids
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _runs(tokens: Sequence[Any]) -> list[list[int]]:
    """Splits texts into batches of similar length, so that little is padded; returns their positions in `tokens`."""
    order = sorted(range(len(tokens)), key=lambda row: len(tokens[row].ids))
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


class TorchMissingError(Exception):
    """The sentence model needs torch, which is not installed."""


class TorchEncoder:
    """Implements Encoder with torch. Thread-safe: it works for one thread at a time. Loading takes seconds.

    Raises OSError, ValueError, TorchMissingError if the model can't be loaded.
    """

    def __init__(self, model: str) -> None:
        # Nothing is downloaded: the model is in the installed package, or in a folder that the owner names.
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
        """Returns the vectors of each text's tokens; texts longer than the model's limit are truncated.

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
        """The model's transformer, as a torch module."""
        return self._model[0].auto_model

    def features(self, texts: Sequence[str]) -> dict[str, Any]:
        """Returns the transformer's input for `texts`: tensors of shape (texts, tokens) by name."""
        fed = self._model.preprocess(list(texts))
        return {name: value for name, value in fed.items() if hasattr(value, "shape")}
