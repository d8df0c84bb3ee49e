"""The embedding model: a vector for each entity, a stretch and a translation for each relation and direction.

It is MuRE (Balažević, Allen and Hospedales, "Multi-relational Poincaré Graph Embeddings", NeurIPS 2019, section 3):
the score of a fact (h, r, t) is -||scale_r * v_h + shift_r - v_t||^2 + bias_t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
FactRows = npt.NDArray[np.int64]
"""Facts as an array of shape (facts, 3): row of the head, row of the relation, row of the tail."""

START_SPREAD: Final = 0.1
"""The standard deviation of untrained vectors; chosen on the validation facts of ENTITY's first snapshot."""


def both_ways(facts: FactRows) -> FactRows:
    """Returns the facts, each followed at the end by its inverse: relation 2i read backwards is relation 2i + 1."""
    heads, relations, tails = facts.T
    return np.concatenate([facts, np.stack([tails, relations ^ 1, heads], axis=1)])


@dataclass(slots=True)
class EmbeddingModel:
    """The numbers of an embedding. `vectors`: (entities, dim); `biases`: (entities,); `scales`, `shifts`:
    (2 * relations, dim), where the odd rows are the inverse directions.
    """

    vectors: Floats
    biases: Floats
    scales: Floats
    shifts: Floats

    @staticmethod
    def untrained(entities: int, relations: int, dim: int, draw: np.random.Generator) -> EmbeddingModel:
        """Returns a model with small random vectors, in which every relation leads from a vector to itself."""
        vectors = START_SPREAD * draw.standard_normal((entities, dim), dtype=np.float32)
        zeros = np.zeros((2 * relations, dim), np.float32)
        return EmbeddingModel(vectors, np.zeros(entities, np.float32), zeros + 1, zeros)

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])

    def copy(self) -> EmbeddingModel:
        return EmbeddingModel(self.vectors.copy(), self.biases.copy(), self.scales.copy(), self.shifts.copy())

    def zeros(self) -> EmbeddingModel:
        """Returns a model of the same shape that is 0 everywhere."""
        return EmbeddingModel(*(np.zeros_like(each) for each in (self.vectors, self.biases, self.scales, self.shifts)))

    def grown(self, entities: int, relations: int) -> EmbeddingModel:
        """Returns a copy with room for so many entities and relations; new rows hold the mean of the old ones."""
        return EmbeddingModel(
            with_means(self.vectors, entities),
            with_means(self.biases, entities),
            with_means(self.scales, 2 * relations),
            with_means(self.shifts, 2 * relations),
        )

    def targets_of(self, heads: Rows, relations: Rows) -> Floats:
        """Returns the points, shape (n, dim), at which the tails of these heads and relations are expected."""
        points: Floats = self.scales[relations] * self.vectors[heads] + self.shifts[relations]
        return points

    def score_tails(self, heads: Rows, relations: Rows, tails: Rows | slice = slice(None)) -> Floats:
        """Returns the scores of `tails` (all entities without it), shape (heads, tails).

        They are right up to a constant for each head and relation.
        """
        ends = self.vectors[tails]
        scores: Floats = (2 * self.targets_of(heads, relations)) @ ends.T
        scores += self.biases[tails] - np.square(ends).sum(axis=1)
        return scores


def with_means(table: Floats, rows: int) -> Floats:
    """Returns the table with `rows` rows: those that are missing hold the mean of all."""
    more = np.repeat(table.mean(axis=0, keepdims=True), max(0, rows - len(table)), axis=0)
    return np.concatenate([table, more])
