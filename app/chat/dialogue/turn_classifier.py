"""TurnClassifier: estimates the kind of a turn, by a linear model over its words and its sentence vector.

The weights were fitted by `arog train turns` to turns that people would type, with all names removed. Nothing that is
classified leaves the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from app.chat.dialogue.turn_features import lengths, word_groups
from app.strategies.base import TurnKind

KINDS: Final[tuple[TurnKind, ...]] = get_args(TurnKind)
WEIGHTS: Final = Path(__file__).with_name("turn_weights.npz")
WORDS_SCALE: Final = 5.0
VECTOR_SCALE: Final = 6.0

Floats = npt.NDArray[np.float32]
VectorOf = Callable[[str], Floats]


@dataclass(frozen=True, slots=True)
class TurnModel:
    """The weights of the classifier: rows are features, columns `KINDS`.

    `vector` is None if the sentence model is another one than in training.
    """

    groups: dict[str, int] = field(repr=False)
    words: Floats = field(repr=False)
    lengths: Floats = field(repr=False)
    vector: Floats | None = field(default=None, repr=False)


class TurnClassifier:
    """Classifies turns. Thread-safe.

    `vector_of`: returns the unit vector of a text by the sentence model of the training; None if the service has
    another one.
    """

    def __init__(self, model: TurnModel, vector_of: VectorOf | None = None) -> None:
        self._model, self._vector_of = model, vector_of

    def chances(self, text: str) -> dict[TurnKind, float]:
        """Returns the chance of each kind (they add up to 1); `text` has `NAME` in place of every name
        of the graph.
        """
        scores = words_row(self._model.groups, text) @ self._model.words + lengths(text) @ self._model.lengths
        if self._model.vector is not None and self._vector_of is not None:
            scores = scores + VECTOR_SCALE * self._vector_of(text) @ self._model.vector
        likely = np.exp(scores - scores.max())
        return dict(zip(KINDS, (likely / likely.sum()).tolist(), strict=True))


def words_row(groups: dict[str, int], text: str) -> Floats:
    """Returns the known word groups of a text as one row; shape (groups,)."""
    row = np.zeros(len(groups), np.float32)
    known = [groups[each] for each in word_groups(text) if each in groups]
    row[known] = WORDS_SCALE / max(len(known) ** 0.5, 1.0)
    return row


def read_turn_model(file: Path = WEIGHTS, model_digest: str = "") -> TurnModel:
    """Returns the weights for the sentence model with this digest; weights for words alone if the digest is another
    one.
    """
    with np.load(file, allow_pickle=False) as kept:
        groups = {str(each): at for at, each in enumerate(kept["groups"])}
        is_same = bool(model_digest) and str(kept["model"]) == model_digest
        name = "with_vector" if is_same else "alone"
        return TurnModel(
            groups,
            kept[f"{name}_words"].astype(np.float32),
            kept[f"{name}_lengths"].astype(np.float32),
            kept["with_vector_vector"].astype(np.float32) if is_same else None,
        )
