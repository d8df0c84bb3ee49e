"""The file of a trained retriever: safetensors, with its shape and the digest of the sentence model beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch

from app.llm.embeddings.model_files import weights_digest_of
from app.retriever.network import NetworkConfig, RetrieverNetwork

FORMAT: Final = 1
_ABOUT: Final = "retriever"


class RetrieverWeightsError(Exception):
    """The file holds no retriever for this service's sentence model. The text says what is wrong and what to do."""


def write_weights(network: RetrieverNetwork, file: Path, model: str) -> None:
    """Writes `network`, trained on vectors of the sentence model `model`. The same numbers give the same bytes."""
    from safetensors.torch import save

    told = {"format": FORMAT, "model": weights_digest_of(model), "config": asdict(network.config)}
    tensors = {name: value.detach().contiguous() for name, value in sorted(network.state_dict().items())}
    # One entry: several are written in an order that changes from run to run.
    file.write_bytes(save(tensors, {_ABOUT: json.dumps(told)}))


def read_weights(file: Path, model: str) -> RetrieverNetwork:
    """The network in `file`, for vectors of the sentence model `model`. Raises RetrieverWeightsError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="pt") as opened:
            told = _told(opened.metadata())
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, SafetensorError):
        raise RetrieverWeightsError("the file can't be read: write one with `arog train retriever`") from None
    if told.get("format") != FORMAT:
        raise RetrieverWeightsError("the file is no retriever of this version: write one with `arog train retriever`")
    if told.get("model") != weights_digest_of(model):
        raise RetrieverWeightsError(
            "the retriever was trained for another sentence model: train it again for this one"
        )
    try:
        network = RetrieverNetwork(NetworkConfig(**told["config"]))
        network.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError):
        raise RetrieverWeightsError("the retriever is not whole: write it again with `arog train retriever`") from None
    if not all(bool(torch.isfinite(value).all()) for value in tensors.values()):
        raise RetrieverWeightsError("the retriever is not whole: write it again with `arog train retriever`")
    return network.eval()


def _told(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        told = json.loads((metadata or {}).get(_ABOUT, "{}"))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
