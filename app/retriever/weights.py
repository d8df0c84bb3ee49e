"""The file of a trained retriever."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.llm.embeddings.network_weights import read_network, write_network
from app.retriever.network import NetworkConfig, RetrieverWeights, shapes_of

_NAME: Final = "retriever"


def write_weights(weights: RetrieverWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`. The same numbers give the same bytes."""
    write_network(_NAME, weights.config, weights.arrays, file, model)


def read_weights(file: Path, model: str) -> RetrieverWeights:
    """Returns the weights in `file`, for vectors of the sentence model `model`. Raises NetworkWeightsError."""
    return RetrieverWeights(*read_network(_NAME, NetworkConfig, shapes_of, file, model))
