"""Checks that every training of a network must pass: it can be repeated, and it can be interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import pytest
import torch

from app.llm.embeddings.model_files import BOXED_MODEL, sha256_of
from evaluation.training.network_fitting import CheckpointError, FittingProgress

WeightsT = TypeVar("WeightsT")


@dataclass(frozen=True, slots=True)
class Training(Generic[WeightsT]):
    """A training to check. `fit` takes `seed`, `tell` and `checkpoint`; `write` writes its result into `folder`."""

    fit: Callable[..., WeightsT]
    write: Callable[[WeightsT, Path, str], None]
    folder: Path

    def digest(
        self,
        seed: int = 0,
        tell: Callable[[FittingProgress], None] = lambda _progress: None,
        checkpoint: Path | None = None,
    ) -> str:
        """Trains and return the SHA-256 of the file of weights."""
        file = self.folder / "weights"
        self.write(self.fit(seed=seed, tell=tell, checkpoint=checkpoint), file, BOXED_MODEL)
        return sha256_of(file)


class InterruptedTrainingError(Exception):
    """A check interrupts the training."""


def check_same_bytes(training: Training[WeightsT]) -> None:
    first = training.digest()
    assert training.digest() == first
    assert training.digest(seed=1) != first


def check_resumed(training: Training[WeightsT], interrupted_at: float) -> None:
    """Checks that a training interrupted after this share of its length can be resumed, with the same result."""
    checkpoint = training.folder / "checkpoint"

    def interrupt(progress: FittingProgress) -> None:
        if progress.done > progress.total * interrupted_at:
            raise InterruptedTrainingError

    with pytest.raises(InterruptedTrainingError):
        training.digest(checkpoint=checkpoint, tell=interrupt)
    told: list[FittingProgress] = []
    torch.manual_seed(5)
    resumed = training.digest(checkpoint=checkpoint, tell=told.append)
    assert 0 < len(told) < told[-1].total
    assert resumed == training.digest()


def check_others_refused(training: Training[WeightsT], others: Sequence[Training[WeightsT]]) -> None:
    """Checks that the checkpoint of `training` is refused by `others`, by another seed, and if it is broken."""
    checkpoint = training.folder / "checkpoint"
    training.digest(checkpoint=checkpoint)
    for other in others:
        with pytest.raises(CheckpointError, match="delete it"):
            other.digest(checkpoint=checkpoint)
    with pytest.raises(CheckpointError, match="delete it"):
        training.digest(seed=1, checkpoint=checkpoint)
    for content in (b"nothing", b""):
        checkpoint.write_bytes(content)
        with pytest.raises(CheckpointError, match="can't be read"):
            training.digest(checkpoint=checkpoint)
    # A checkpoint without the fields of this version.
    torch.save({"training": "another"}, checkpoint)
    with pytest.raises(CheckpointError, match="can't be read"):
        training.digest(checkpoint=checkpoint)
