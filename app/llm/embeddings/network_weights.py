"""The file of a small network trained on top of the sentence model: safetensors, with the network's settings and the
digest of the sentence model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import weights_digest_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Arrays = Mapping[str, npt.NDArray[np.float32]]
ConfigT = TypeVar("ConfigT", bound="DataclassInstance")

FORMAT: Final = 1


class NetworkWeightsError(Exception):
    """The file holds no such network for this service's sentence model; the text says what is wrong and what to do."""


def write_network(name: str, config: DataclassInstance, arrays: Arrays, file: Path, model: str) -> None:
    """Writes the network that `arog train NAME` trained on vectors of the sentence model `model`.

    The same numbers give the same bytes.
    """
    from safetensors.numpy import save

    told = {"format": FORMAT, "model": weights_digest_of(model), "config": asdict(config)}
    ordered = {place: np.ascontiguousarray(array) for place, array in sorted(arrays.items())}
    # One entry only, because several are written in an order that changes from run to run.
    file.write_bytes(save(ordered, {name: json.dumps(told)}))


def read_network(
    name: str,
    config_of: Callable[..., ConfigT],
    shapes_of: Callable[[ConfigT], Mapping[str, tuple[int, ...]]],
    file: Path,
    model: str,
) -> tuple[ConfigT, Arrays]:
    """Returns the settings and arrays that `write_network` wrote to `file`, for vectors of the sentence model `model`.

    `shapes_of`: the shape that each array must have. Raises NetworkWeightsError.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="numpy") as opened:
            told = _told(opened.metadata(), name)
            arrays = {place: opened.get_tensor(place) for place in opened.keys()}  # noqa: SIM118  # it is no mapping
    except (OSError, SafetensorError):
        raise NetworkWeightsError(f"the file can't be read: write one with `arog train {name}`") from None
    if told.get("format") != FORMAT:
        raise NetworkWeightsError(f"the file is no {name} of this version: write one with `arog train {name}`")
    if told.get("model") != weights_digest_of(model):
        raise NetworkWeightsError(f"the {name} is of another sentence model: train it again for this one")
    try:
        config = config_of(**told["config"])
        is_whole = {place: array.shape for place, array in arrays.items()} == shapes_of(config)
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole or not all(np.isfinite(array).all() for array in arrays.values()):
        raise NetworkWeightsError(f"the {name} is not whole: write it again with `arog train {name}`")
    return config, arrays


def _told(metadata: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    try:
        told = json.loads((metadata or {}).get(name, "{}"))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
