"""Low-rank updates of a sentence model's linear maps (LoRA, Hu et al., ICLR 2022, section 4.1): a file of a few MB.

With them the model recognises which relation path a whole question means (`arog train matcher`). They are merged into
the network when it is exported, so they cost no time at run time.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.model_files import sha256_of, weights_digest_of

Matrix = npt.NDArray[np.floating[Any]]

FORMAT = 1
_UP, _DOWN = ".up", ".down"


class LowRankError(Exception):
    """The file holds no updates for this service's sentence model; the text says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class LowRankUpdate:
    """Numbers to add to linear maps of a network, by their place in it (`encoder.layer.5.output.dense`): `up @ down`.

    Shapes: up (outputs, rank), down (rank, inputs). `digest` is the SHA-256 of `file`.
    """

    maps: Mapping[str, tuple[Matrix, Matrix]]
    file: Path
    digest: str

    def added_to(self, place: str) -> Matrix:
        """Returns what is added to the map at `place`; shape (outputs, inputs)."""
        up, down = self.maps[place]
        added: Matrix = up.astype(np.float32) @ down.astype(np.float32)
        return added


def write_update(maps: Mapping[str, tuple[Matrix, Matrix]], file: Path, model: str) -> None:
    """Writes updates of the sentence model `model` as 16-bit numbers; the same maps give the same bytes."""
    arrays: dict[str, npt.NDArray[Any]] = {"format": np.array(FORMAT), "model": np.array(weights_digest_of(model))}
    for place, (up, down) in sorted(maps.items()):
        arrays |= {place + _UP: up.astype(np.float16), place + _DOWN: down.astype(np.float16)}
    with file.open("wb") as opened:
        np.savez(opened, allow_pickle=False, **arrays)


def read_update(file: Path, model: str) -> LowRankUpdate:
    """Returns the updates in `file` for the sentence model `model`. Raises LowRankError."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        digest = sha256_of(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError):
        raise LowRankError("the file can't be read as a matcher: write one with `arog train matcher`") from None
    if arrays.pop("format", np.array(None)).tolist() != FORMAT:
        raise LowRankError("the file is no matcher of this version: write one with `arog train matcher`")
    if arrays.pop("model", np.array("")).tolist() != weights_digest_of(model):
        raise LowRankError("the matcher was trained for another sentence model: train it again for this one")
    return LowRankUpdate(_checked(arrays), file, digest)


def _checked(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, tuple[Matrix, Matrix]]:
    """The maps in `arrays`. Raises LowRankError if some are missing, misshapen or not finite."""
    places = sorted({name.removesuffix(_UP).removesuffix(_DOWN) for name in arrays})
    try:
        maps = {place: (arrays[place + _UP], arrays[place + _DOWN]) for place in places}
        is_whole = all(up.ndim == down.ndim == 2 and up.shape[1] == down.shape[0] for up, down in maps.values())
        is_whole = is_whole and all(np.isfinite(array).all() for array in arrays.values())
    except (KeyError, TypeError):
        is_whole = False
    if not is_whole or not places:
        raise LowRankError("the matcher is not whole: write it again with `arog train matcher`")
    return maps
