"""Trains the classifier of turns: a logistic regression over words, lengths and the sentence vector."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.chat.dialogue.turn_classifier import KINDS, VECTOR_SCALE, words_row
from app.chat.dialogue.turn_features import LENGTHS, lengths, word_groups
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import weights_digest_of
from app.strategies.base import TurnKind

MIN_SEEN: Final = 2
"""A word group that fewer turns hold is left out."""
_STRENGTH: Final = 0.001
"""Of the L2 penalty, for one turn."""


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A turn with names taken out, and its kind."""

    text: str
    kind: TurnKind


def read_labelled(file: Path) -> list[LabelledTurn]:
    """One JSON object a line: `text` and `kind`. Raises ValueError with the line."""
    found = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            text, kind = row["text"], row["kind"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"line {number} is no object with text and kind") from None
        if kind not in KINDS:
            raise ValueError(f"line {number} has another kind than {', '.join(KINDS)}")
        found.append(LabelledTurn(text, kind))
    return found


def train_turns(turns: Sequence[LabelledTurn], embedder: Embedder, model: str) -> bytes:
    """The weights as a file; the same turns give the same bytes. `model`: the name of the sentence model."""
    counts = Counter(group for turn in turns for group in word_groups(turn.text))
    groups = {group: at for at, group in enumerate(sorted(each for each, seen in counts.items() if seen >= MIN_SEEN))}
    words = np.stack([words_row(groups, turn.text) for turn in turns])
    length = np.array([lengths(turn.text) for turn in turns], np.float32)
    vectors = VECTOR_SCALE * embedder.sentences([turn.text for turn in turns])
    kinds = [KINDS.index(turn.kind) for turn in turns]
    alone = _fitted(np.hstack([length, words]), kinds)
    both = _fitted(np.hstack([length, words, vectors]), kinds)
    count = len(groups)
    arrays = {
        "groups": np.array(list(groups)),
        "model": np.array(weights_digest_of(model)),
        "alone_lengths": alone[:LENGTHS],
        "alone_words": alone[LENGTHS:],
        "with_vector_lengths": both[:LENGTHS],
        "with_vector_words": both[LENGTHS : LENGTHS + count],
        "with_vector_vector": both[LENGTHS + count :],
    }
    file = BytesIO()
    small: dict[str, Any] = {name: _small(array) for name, array in arrays.items()}
    np.savez_compressed(file, **small)
    return file.getvalue()


def _fitted(features: npt.NDArray[np.float32], kinds: Sequence[int]) -> npt.NDArray[np.float64]:
    """The weights; shape (features, kinds)."""
    from sklearn.linear_model import LogisticRegression

    strength = 1 / (_STRENGTH * len(kinds))
    fit = LogisticRegression(C=strength, fit_intercept=False, max_iter=2_000, tol=1e-5)
    fitted: npt.NDArray[np.float64] = fit.fit(features.astype(np.float64), kinds).coef_.T
    return fitted


def _small(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    return array.astype(np.float16) if array.dtype.kind == "f" else array
