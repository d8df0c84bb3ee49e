"""Vectors of the tokens of a text, in the context of the whole text, with their positions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text.

    `vectors`: the last layer, shape (tokens, dimensions), not of unit length. `spans`: begin and end of each token in
    the text, shape (tokens, 2); both are 0 for the special tokens at the ends.
    """

    vectors: npt.NDArray[np.float32] = field(repr=False)
    spans: npt.NDArray[np.int64]
