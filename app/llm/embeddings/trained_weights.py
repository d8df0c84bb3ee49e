"""Reads and writes files of what is trained on top of the sentence model: small networks, and an adapter."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import weights_digest_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Arrays = Mapping[str, npt.NDArray[np.float32]]
ConfigT = TypeVar("ConfigT", bound="DataclassInstance")

FORMAT: Final = 1


@dataclass(frozen=True)
class TrainedNetwork(Generic[ConfigT]):
    """A network's settings, and its trained arrays by name, such as `tail.weight` for the weights of layer `tail`."""

    config: ConfigT
    arrays: Arrays = field(repr=False)


def linear(arrays: Arrays, name: str, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Applies the linear layer `name` to `values`, shape (..., width); adds the layer's bias if it has one."""
    weight, bias = arrays[f"{name}.weight"], arrays.get(f"{name}.bias")
    # One product of two large matrices is several times as fast as many products of small ones.
    flat = values.reshape(-1, values.shape[-1]) @ weight.T
    result: npt.NDArray[np.float32] = (flat if bias is None else flat + bias).reshape(*values.shape[:-1], len(weight))
    return result


class NetworkWeightsError(Exception):
    """A file holds no usable network for this service's sentence model; the text says why, and what to do."""


def write_network(name: str, network: TrainedNetwork[ConfigT], file: Path, model: str) -> None:
    """Writes a network that `arog train NAME` trained on vectors of the sentence model `model` to a file.

    The same network always gives the same bytes.
    """
    from safetensors.numpy import save

    told = {"format": FORMAT, "model": weights_digest_of(model), "config": asdict(network.config)}
    ordered = {place: np.ascontiguousarray(array) for place, array in sorted(network.arrays.items())}
    # All metadata is one entry, because several entries would be written in an order that changes from run to run.
    file.write_bytes(save(ordered, {name: json.dumps(told)}))


def read_network(
    name: str,
    config_of: Callable[..., ConfigT],
    shapes_of: Callable[[ConfigT], Mapping[str, tuple[int, ...]]],
    file: Path,
    model: str,
) -> TrainedNetwork[ConfigT]:
    """Returns the network that `write_network` wrote to `file`.

    `config_of` makes the network's settings of those in the file, and `shapes_of` returns for them the shape that each
    array must have. Raises NetworkWeightsError if the file is unusable or was trained for another sentence model than
    `model`.
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
    return TrainedNetwork(config, arrays)


def _told(metadata: Mapping[str, str] | None, name: str) -> dict[str, Any]:
    try:
        told = json.loads((metadata or {}).get(name, "{}"))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


Matrix = npt.NDArray[np.floating[Any]]
Part = Literal["question", "step"]

ADAPTER_FORMAT = 1
PARTS: tuple[Part, ...] = ("question", "step")
# Paths with at least this many steps count as equally long. Chosen by hand.
MAX_LENGTH = 4


class AdapterError(Exception):
    """A file holds no usable adapter for this service's sentence model; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A low-rank change of unit vectors: x becomes x + (x @ down) @ up, scaled to length 1.

    `down`: shape (dimensions, rank). `up`: shape (rank, dimensions).
    """

    down: Matrix
    up: Matrix

    def moved(self, vectors: Matrix) -> Matrix:
        """Returns the changed vectors, each of length 1; shape (texts, dimensions)."""
        moved = vectors + (vectors @ self.down) @ self.up
        result: Matrix = moved / np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-9)
        return result


@dataclass(frozen=True, slots=True)
class RelationAdapter:
    """The trained part of comparing a question with paths; the default values change nothing.

    `adapters` change the vectors of questions and of steps. `gain` and `offset` scale the cosines of changed vectors
    to scores. `hops`, shape (dimensions, MAX_LENGTH), predicts a path's length from the question's wording
    ("grandchildren" needs two steps).
    """

    adapters: Mapping[Part, Adapter] = field(default_factory=dict)
    gain: float = 1.0
    offset: float = 0.0
    hops: Matrix | None = None

    def moved(self, part: Part, vectors: Matrix) -> Matrix:
        """Returns vectors of questions or steps (`part`) as changed by their adapter; shape (texts, dimensions)."""
        adapter = self.adapters.get(part)
        return vectors if adapter is None else adapter.moved(vectors)

    def of_lengths(self, question: Matrix, lengths: npt.NDArray[np.int64]) -> Matrix:
        """Returns what each path gains or loses in score by its number of steps; shape (paths,).

        `question`: the question's vector, not changed by an adapter. `lengths`: the number of steps of each path.
        """
        if self.hops is None:
            return np.zeros(len(lengths))
        result: Matrix = (question @ self.hops)[np.minimum(lengths, MAX_LENGTH) - 1]
        return result


NO_HEAD = RelationAdapter()


def write_head(head: RelationAdapter, file: Path, model: str) -> None:
    """Writes an adapter trained on vectors of the sentence model `model`; the same adapter gives the same bytes."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "format": np.array(ADAPTER_FORMAT),
        "model": np.array(weights_digest_of(model)),
    }
    arrays |= {"gain": np.array(head.gain), "offset": np.array(head.offset)}
    for part, adapter in head.adapters.items():
        arrays |= {f"{part}_down": adapter.down, f"{part}_up": adapter.up}
    if head.hops is not None:
        arrays["hops"] = head.hops
    with file.open("wb") as opened:
        np.savez(opened, allow_pickle=False, **arrays)


def read_head(file: Path, model: str) -> RelationAdapter:
    """Returns the adapter in `file`.

    Raises AdapterError if it is unusable or was trained for another sentence model than `model`.
    """
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError):
        raise AdapterError("the file can't be read as a head: write one with `arog train reasoner`") from None
    if arrays.get("format", np.array(None)).tolist() != ADAPTER_FORMAT:
        raise AdapterError("the file is no head of this version: write one with `arog train reasoner`")
    if arrays.get("model", np.array("")).tolist() != weights_digest_of(model):
        raise AdapterError("the head was trained for another sentence model: train it again for this one")
    try:
        return _checked(arrays)
    except (KeyError, TypeError, ValueError):
        raise AdapterError("the head is not whole: write it again with `arog train reasoner`") from None


def _checked(arrays: Mapping[str, npt.NDArray[Any]]) -> RelationAdapter:
    """Returns the adapter in `arrays`.

    Raises KeyError, TypeError or ValueError if an array is missing, has a wrong shape or holds no finite numbers.
    """
    if not all(np.isfinite(array).all() for name, array in arrays.items() if name != "model"):
        raise ValueError
    adapters = {part: Adapter(arrays[f"{part}_down"], arrays[f"{part}_up"]) for part in PARTS}
    hops = arrays["hops"]
    dimensions = hops.shape[0]
    for adapter in adapters.values():
        if adapter.down.shape[0] != dimensions or adapter.down.shape != adapter.up.T.shape:
            raise ValueError
    if hops.shape != (dimensions, MAX_LENGTH):
        raise ValueError
    return RelationAdapter(adapters, float(arrays["gain"]), float(arrays["offset"]), hops)
