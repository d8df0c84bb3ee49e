"""The file of a trained extractor."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.extractor.network import ExtractorConfig, ExtractorWeights, shapes_of
from app.llm.embeddings.network_weights import read_network, write_network

_NAME: Final = "extractor"


def write_weights(weights: ExtractorWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`. The same numbers give the same bytes."""
    write_network(_NAME, weights.config, weights.arrays, file, model)


def read_weights(file: Path, model: str) -> ExtractorWeights:
    """Returns the weights in `file`, for vectors of the sentence model `model`. Raises NetworkWeightsError."""
    return ExtractorWeights(*read_network(_NAME, ExtractorConfig, shapes_of, file, model))
