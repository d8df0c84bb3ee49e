"""Trains a head: some examples are held out, whole groups of them, and say when to stop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.llm.embeddings.adapters import RelationAdapter
from app.llm.embeddings.embedder import Embedder
from evaluation.training.examples import Example, prepare

if TYPE_CHECKING:
    from evaluation.training.fitting import TrainingConfig, TrainingProgress

HELD_OUT = 0.1
MIN_EXAMPLES = 20


class TrainingError(Exception):
    """There is nothing to train on. The text says what is missing, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A head, and how right the first path of the examples held out was on average, before and with it."""

    head: RelationAdapter
    examples: int
    held_out: int
    before: float
    after: float


def train(
    embedder: Embedder,
    examples: Sequence[Example],
    seed: int,
    tell: Callable[[TrainingProgress], None] = lambda _progress: None,
    how: TrainingConfig | None = None,
) -> Trained:
    """The same examples and seed give the same head on one machine. Raises TrainingError."""
    # It loads torch, which nothing else here needs.
    from evaluation.training.fitting import fit

    held = [row for row, example in enumerate(examples) if _is_held_out(example.group, seed)]
    rest = sorted(set(range(len(examples))) - set(held))
    if len(examples) < MIN_EXAMPLES or not held or not rest:
        raise TrainingError(
            f"there are too few questions to learn from: at least {MIN_EXAMPLES} of several topics are needed, "
            "whose gold plan is one path from one topic, or whose answers a path from it reaches"
        )
    fitted = fit(prepare(embedder, examples), rest, held, seed, how, tell)
    return Trained(fitted.head, len(rest), len(held), fitted.before, fitted.after)


def _is_held_out(group: str, seed: int) -> bool:
    """By hash: the same groups are held out whatever else is in the set."""
    return hashlib.sha256(f"{seed} {group}".encode()).digest()[0] < 256 * HELD_OUT
