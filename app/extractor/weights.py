"""The file of a trained extractor: safetensors, with its shape and the digest of the sentence model beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from app.extractor.network import ExtractorConfig, ExtractorWeights, shapes_of
from app.llm.embeddings.model_files import weights_digest_of

FORMAT: Final = 1
_ABOUT: Final = "extractor"


class ExtractorWeightsError(Exception):
    """The file holds no extractor for this service's sentence model. The text says what is wrong and what to do."""


def write_weights(weights: ExtractorWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`. The same numbers give the same bytes."""
    from safetensors.numpy import save

    told = {"format": FORMAT, "model": weights_digest_of(model), "config": asdict(weights.config)}
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(weights.arrays.items())}
    # One entry: several are written in an order that changes from run to run.
    file.write_bytes(save(arrays, {_ABOUT: json.dumps(told)}))


def read_weights(file: Path, model: str) -> ExtractorWeights:
    """The weights in `file`, for vectors of the sentence model `model`. Raises ExtractorWeightsError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="numpy") as opened:
            told = _told(opened.metadata())
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, SafetensorError):
        raise ExtractorWeightsError("the file can't be read: write one with `arog train extractor`") from None
    if told.get("format") != FORMAT:
        raise ExtractorWeightsError("the file is no extractor of this version: write one with `arog train extractor`")
    if told.get("model") != weights_digest_of(model):
        raise ExtractorWeightsError("the extractor is of another sentence model: train it again for this one")
    try:
        weights = ExtractorWeights(ExtractorConfig(**told["config"]), arrays)
        is_whole = {name: array.shape for name, array in arrays.items()} == shapes_of(weights.config)
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole or not all(np.isfinite(array).all() for array in arrays.values()):
        raise ExtractorWeightsError("the extractor is not whole: write it again with `arog train extractor`")
    return weights


def _told(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        told = json.loads((metadata or {}).get(_ABOUT, "{}"))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
