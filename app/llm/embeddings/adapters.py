"""A small trained head: low-rank adapters on the frozen sentence model's vectors of wholes, questions and steps."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import sha256_of, weights_digest_of

Matrix = npt.NDArray[np.floating[Any]]
Part = Literal["question", "step"]

FORMAT = 1
PARTS: tuple[Part, ...] = ("question", "step")
# Paths of so many steps and more count as equally long.
MAX_LENGTH = 4


class AdapterError(Exception):
    """The file is no head for this service's sentence model. The text says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """Moves unit vectors by what their projection on a few directions says; leaves them where `up` is zero.

    `down`: shape (dimensions, rank). `up`: shape (rank, dimensions).
    """

    down: Matrix
    up: Matrix

    def moved(self, vectors: Matrix) -> Matrix:
        """Unit vectors again; shape (texts, dimensions) as given."""
        moved = vectors + (vectors @ self.down) @ self.up
        result: Matrix = moved / np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-9)
        return result


@dataclass(frozen=True, slots=True)
class RelationAdapter:
    """The trained part of the similarity of a whole question to a path; untrained it changes nothing.

    `gain` and `offset` put the trained cosines on the scale of scores. `hops`, shape (dimensions, LONGEST):
    how the wording tells how long the way is ("grandchildren").
    """

    adapters: Mapping[Part, Adapter] = field(default_factory=dict)
    gain: float = 1.0
    offset: float = 0.0
    hops: Matrix | None = None

    def moved(self, part: Part, vectors: Matrix) -> Matrix:
        """Vectors of questions or of steps, adapted; shape (texts, dimensions)."""
        adapter = self.adapters.get(part)
        return vectors if adapter is None else adapter.moved(vectors)

    def of_lengths(self, question: Matrix, lengths: npt.NDArray[np.int64]) -> Matrix:
        """Gains or costs of paths by their number of steps, for a question's own vector; shape (paths,)."""
        if self.hops is None:
            return np.zeros(len(lengths))
        result: Matrix = (question @ self.hops)[np.minimum(lengths, MAX_LENGTH) - 1]
        return result


NO_HEAD = RelationAdapter()


def write_head(head: RelationAdapter, file: Path, model: str, matcher: Path | None = None) -> None:
    """Writes `head`, trained on vectors of a sentence model or of its matcher. The same head gives the same bytes."""
    arrays: dict[str, npt.NDArray[Any]] = {"format": np.array(FORMAT), "model": np.array(_trained_on(model, matcher))}
    arrays |= {"gain": np.array(head.gain), "offset": np.array(head.offset)}
    for part, adapter in head.adapters.items():
        arrays |= {f"{part}_down": adapter.down, f"{part}_up": adapter.up}
    if head.hops is not None:
        arrays["hops"] = head.hops
    with file.open("wb") as opened:
        np.savez(opened, allow_pickle=False, **arrays)


def read_head(file: Path, model: str, matcher: Path | None = None) -> RelationAdapter:
    """The head in `file`, for vectors of the sentence model `model`, or of its `matcher`. Raises AdapterError."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError):
        raise AdapterError("the file can't be read as a head: write one with `arog train reasoner`") from None
    if arrays.get("format", np.array(None)).tolist() != FORMAT:
        raise AdapterError("the file is no head of this version: write one with `arog train reasoner`")
    if arrays.get("model", np.array("")).tolist() != _trained_on(model, matcher):
        raise AdapterError("the head was trained for another sentence model or matcher: train it again for this one")
    try:
        return _checked(arrays)
    except (KeyError, TypeError, ValueError):
        raise AdapterError("the head is not whole: write it again with `arog train reasoner`") from None


def _trained_on(model: str, matcher: Path | None) -> str:
    """Raises AdapterError where the matcher can't be read."""
    try:
        return weights_digest_of(model) + (f"+{sha256_of(matcher)}" if matcher else "")
    except OSError:
        raise AdapterError("the matcher that the head stands on can't be read") from None


def _checked(arrays: Mapping[str, npt.NDArray[Any]]) -> RelationAdapter:
    """Raises KeyError, TypeError or ValueError for arrays that are missing, misshapen or not finite."""
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
