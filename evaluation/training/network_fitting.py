"""Fit a network block by block, with checkpoints: an interrupted training ends with the same numbers.

A block is the part of a training between two possible checkpoints: an epoch, or a part of one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class CheckpointError(Exception):
    """The checkpoint can't be read or is of another training. The message says what to do."""


@dataclass(frozen=True, slots=True)
class StepSettings:
    """Settings of the optimiser's steps.

    `rate` rises over the first `warm_up` steps, then falls linearly to 0. Gradients are clipped to `longest_step`.
    """

    epochs: int = 1
    batch: int = 32
    rate: float = 1e-3
    warm_up: int = 100
    decay: float = 0.01
    dropout: float = 0.0
    longest_step: float = 1.0


@dataclass(frozen=True, slots=True)
class FittingProgress:
    """Progress of a training: `done` of `total` parts, the latest with `loss`."""

    done: int
    total: int
    loss: float


Tell = Callable[[FittingProgress], None]


def seed_torch(seed: int) -> None:
    """Seeds torch and uses one thread, so that sums are always taken in the same order."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)


def seeded_draw(*numbers: int) -> np.random.Generator:
    """Returns a random generator for one block, and seeds torch by it; both depend only on `numbers` (seed, block).

    A block is then the same after an interruption.
    """
    draw = np.random.default_rng(numbers)
    torch.manual_seed(int(draw.integers(2**31)))
    return draw


class NetworkFitting:
    """Trains a network step by step and writes checkpoints, from which an interrupted training continues.

    `depends_on`: the seed and settings that a checkpoint must match; `learnt`: returns the training examples as bytes,
    which it must match too; `learnt_from`: the word for the examples in error messages.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        how: StepSettings,
        depends_on: tuple[int, DataclassInstance],
        learnt: Callable[[], Iterable[bytes]],
        learnt_from: str,
    ) -> None:
        self._network, self._how, self._depends_on = network, how, depends_on
        self._learnt, self._learnt_from = learnt, learnt_from
        self._optimiser = torch.optim.AdamW(network.parameters(), lr=how.rate, weight_decay=how.decay)
        self._steps = 0

    def run(self, blocks: int, run_block: Callable[[int], None], checkpoint: Path | None, *, saved: int = 1) -> None:
        """Runs each block by its number, and writes a checkpoint after every `saved` blocks and after the last.

        If the checkpoint exists, training continues from it. Raises CheckpointError if it is of another training.
        """
        done = self._resume(checkpoint) if checkpoint and checkpoint.is_file() else 0
        self._network.train()
        for number in range(done, blocks):
            run_block(number)
            if checkpoint and ((number + 1) % saved == 0 or number + 1 == blocks):
                self._save(checkpoint, number + 1)

    def step(self, loss: torch.Tensor, done: float) -> float:
        """Takes one step down the gradient of `loss` and returns its value; `done` is the share of training done."""
        self._steps += 1
        for group in self._optimiser.param_groups:
            group["lr"] = self._how.rate * min(1.0, self._steps / self._how.warm_up) * (1 - done)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._how.longest_step)
        self._optimiser.step()
        return float(loss.detach())

    def _fingerprint(self) -> str:
        seed, config = self._depends_on
        told = hashlib.sha256(repr((seed, asdict(self._how), asdict(config))).encode())
        for part in self._learnt():
            told.update(part)
        return told.hexdigest()

    def _save(self, file: Path, blocks: int) -> None:
        """Writes the checkpoint to a temporary file and moves it into place, so that it is never half written."""
        part = file.with_name(f"{file.name}.part")
        states = {"network": self._network.state_dict(), "optimiser": self._optimiser.state_dict()}
        torch.save({"training": self._fingerprint(), "blocks": blocks, "steps": self._steps, **states}, part)
        os.replace(part, file)

    def _resume(self, file: Path) -> int:
        """Loads the checkpoint and returns the number of blocks that are done."""
        try:
            state: dict[str, Any] = torch.load(file, weights_only=True)
            training, blocks, steps = state["training"], int(state["blocks"]), int(state["steps"])
        except Exception:
            # torch raises many kinds of errors for files that are not its own.
            raise CheckpointError("the checkpoint can't be read: delete it to begin anew") from None
        if training != self._fingerprint():
            raise CheckpointError(
                f"the checkpoint is of other {self._learnt_from} or another seed: delete it to begin anew"
            )
        self._network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._steps = steps
        return blocks


def logsumexp_of_groups(logits: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """Returns log(sum(exp(logits))) of each group, numerically stable; -inf counts for nothing."""
    highest = torch.full((groups,), -torch.inf).scatter_reduce(0, group, logits.detach(), "amax")
    total = torch.zeros(groups).index_add(0, group, (logits - highest[group]).exp())
    return highest + total.log()
