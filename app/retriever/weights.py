"""The file of a trained retriever: safetensors, with its shape and the digest of the sentence model beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from app.llm.embeddings.model_files import weights_digest_of
from app.retriever.network import NetworkConfig, RetrieverWeights, shapes_of

FORMAT: Final = 1
_ABOUT: Final = "retriever"


class RetrieverWeightsError(Exception):
    """The file holds no retriever for this service's sentence model. The text says what is wrong and what to do."""


def write_weights(weights: RetrieverWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`. The same numbers give the same bytes."""
    from safetensors.numpy import save

    told = {"format": FORMAT, "model": weights_digest_of(model), "config": asdict(weights.config)}
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(weights.arrays.items())}
    # One entry: several are written in an order that changes from run to run.
    file.write_bytes(save(arrays, {_ABOUT: json.dumps(told)}))


def read_weights(file: Path, model: str) -> RetrieverWeights:
    """The weights in `file`, for vectors of the sentence model `model`. Raises RetrieverWeightsError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="numpy") as opened:
            told = _told(opened.metadata())
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, SafetensorError):
        raise RetrieverWeightsError("the file can't be read: write one with `arog train retriever`") from None
    if told.get("format") != FORMAT:
        raise RetrieverWeightsError("the file is no retriever of this version: write one with `arog train retriever`")
    if told.get("model") != weights_digest_of(model):
        raise RetrieverWeightsError("the retriever is of another sentence model: train it again for this one")
    try:
        weights = RetrieverWeights(NetworkConfig(**told["config"]), arrays)
        is_whole = {name: array.shape for name, array in arrays.items()} == shapes_of(weights.config)
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole or not all(np.isfinite(array).all() for array in arrays.values()):
        raise RetrieverWeightsError("the retriever is not whole: write it again with `arog train retriever`")
    return weights


def _told(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        told = json.loads((metadata or {}).get(_ABOUT, "{}"))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
