"""Trains an embedding model on facts by stochastic gradient descent, in numpy, with one thread's worth of work.

Each fact's tail is to score above a sample of entities that all facts of a batch share: softmax cross-entropy, with
steps by AdaGrad (Duchi, Hazan and Singer 2011). Inverse directions are facts of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.memory.embeddings.model import EmbeddingModel, FactRows, Floats, Rows

_TINY = np.float32(1e-8)


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """`rate`: of AdaGrad; `batch`: facts of a step; `negatives`: sampled entities of a step; `decay`: weight of the
    squared length of the vectors of a fact in the loss.
    """

    epochs: int = 10
    rate: float = 0.15
    batch: int = 1024
    negatives: int = 256
    decay: float = 0.0


class Trainer:
    """Trains one model in place; it remembers the size of earlier steps of each row, as AdaGrad does.

    The result depends on the model, the facts and the seed of `draw` alone.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        how: TrainingSettings,
        draw: np.random.Generator,
        steps: EmbeddingModel | None = None,
    ) -> None:
        self._model, self._how, self._draw = model, how, draw
        self.steps = steps or model.zeros()

    def run_epoch(self, facts: FactRows) -> float:
        """Takes one step for each batch of `facts` (both ways) in random order; returns the mean loss of a fact."""
        order = self._draw.permutation(len(facts))
        lost = 0.0
        for start in range(0, len(order), self._how.batch):
            lost += self._step(facts[order[start : start + self._how.batch]])
        return lost / max(1, len(facts))

    def _step(self, batch: FactRows) -> float:
        model = self._model
        heads, relations, tails = batch.T
        sampled = self._draw.integers(len(model.vectors), size=self._how.negatives)
        points, others, ends = model.targets_of(heads, relations), model.vectors[sampled], model.vectors[tails]
        logits = (2 * points) @ others.T
        logits += model.biases[sampled] - np.square(others).sum(axis=1)
        right = np.einsum("ij,ij->i", 2 * points - ends, ends) + model.biases[tails]
        top = np.maximum(logits.max(axis=1), right)
        np.exp(logits - top[:, None], out=logits)
        chance = np.exp(right - top)
        total = logits.sum(axis=1) + chance
        loss = float((np.log(total) - (right - top)).sum())
        logits /= total[:, None]
        short = (chance / total - 1)[:, None]
        pull = 2 * (logits @ others + short * ends)
        pushed = logits.sum(axis=0)
        decay = np.float32(2 * self._how.decay)
        starts = model.vectors[heads]
        self._move(
            "vectors",
            np.concatenate([heads, tails, sampled]),
            np.concatenate(
                [
                    pull * model.scales[relations] + decay * starts,
                    2 * short * (points - ends) + decay * ends,
                    2 * (logits.T @ points - pushed[:, None] * others),
                ]
            ),
        )
        self._move("biases", np.concatenate([tails, sampled]), np.concatenate([short[:, 0], pushed]))
        self._move("scales", relations, pull * starts)
        self._move("shifts", relations, pull)
        return loss

    def _move(self, name: str, rows: Rows, gradients: Floats) -> None:
        table, seen = getattr(self._model, name), getattr(self.steps, name)
        distinct, summed = summed_by_row(rows, gradients)
        sizes = seen[distinct] + np.square(summed)
        seen[distinct] = sizes
        table[distinct] -= np.float32(self._how.rate) * summed / (np.sqrt(sizes) + _TINY)


def summed_by_row(rows: Rows, values: Floats) -> tuple[Rows, Floats]:
    """Returns the distinct `rows`, ascending, and for each the sum of its `values` (one a row, of any shape)."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.add.reduceat(values[order], starts, axis=0)
