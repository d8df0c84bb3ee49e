"""Trains a head of the embedded reasoner: a question beside all paths that it could mean, and how right each is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import RelationAdapter
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import step_text
from kg_store.text.words import asked_words

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Tell = Callable[[float, float], None]
"""Takes the share of the training that is done at most, and the loss on the examples held out."""

HELD_OUT = 0.1
MIN_EXAMPLES = 20


class TrainingError(Exception):
    """There is nothing to train on. The text says what is missing, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Example:
    """`question` names its topic by the pseudonym `topic`, a thing of `concept`; at least one path is right.

    `right`: 1 for a path that is known to be meant, else the share of what it reaches that is an answer. `group`:
    examples of one group are held out together (a topic, a schema).
    """

    question: str
    topic: str
    concept: str
    paths: tuple[WordedPath, ...]
    right: tuple[float, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Examples as arrays, each path a row of one table.

    `asked`: the questions' vectors, (examples, dimensions). `steps`: of every step, (steps, dimensions). `counts`:
    which steps each path sums up, (paths, longest) with -1 for none. `base`: the score of each path without the
    nearness of wholes, and `weight`: what that nearness counts there, (paths,). `right`: (paths,). `first`: where each
    example's paths begin, (examples + 1,).
    """

    asked: Floats
    steps: Floats
    counts: Ints
    base: Floats
    weight: Floats
    right: Floats
    first: Ints


@dataclass(frozen=True, slots=True)
class Trained:
    """A head, and how right the first path of the examples held out was on average, before and with it."""

    head: RelationAdapter
    examples: int
    held_out: int
    before: float
    after: float


def train(
    embedder: Embedder, examples: Sequence[Example], seed: int, tell: Tell = lambda _done, _loss: None
) -> Trained:
    """The same examples and seed give the same head on one machine. Whole groups of them are held out, and say when to
    stop. Raises TrainingError."""
    # It loads torch, which nothing else here needs.
    from evaluation.training.fitting import fit

    held = [row for row, example in enumerate(examples) if _is_held_out(example.group, seed)]
    rest = sorted(set(range(len(examples))) - set(held))
    if len(examples) < MIN_EXAMPLES or not held or not rest:
        raise TrainingError(
            f"there are too few questions to learn from: at least {MIN_EXAMPLES} of several topics are needed, "
            "whose gold plan is one path from one topic, or whose answers a path from it reaches"
        )
    head, before, after = fit(prepare(embedder, examples), rest, held, seed, tell)
    return Trained(head, len(rest), len(held), before, after)


def prepare(embedder: Embedder, examples: Sequence[Example]) -> Prepared:
    """Everything of `examples` that training does not change."""
    # A head that takes all nearness away, and one that gives every path the nearness 1.
    without, full = (PathScorer(embedder, head=RelationAdapter(gain=0.0, offset=offset)) for offset in (0.0, 1.0))
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    base, weight = [], []
    for example in examples:
        ways = [[*zip(path.steps, path.concepts, strict=True)] for path in example.paths]
        rows += [[texts.setdefault(step_text(*step), len(texts)) for step in way] for way in ways]
        asked = example.question, example.topic, example.concept, example.paths
        base.append(without.scores(*asked))
        weight.append(full.scores(*asked) - base[-1])
    longest = max(map(len, rows))
    return Prepared(
        asked=embedder.sentences([asked_words(example.question) for example in examples]),
        steps=embedder.sentences(list(texts)),
        counts=np.array([[*row, *[-1] * (longest - len(row))] for row in rows]),
        base=np.concatenate(base).astype(np.float32),
        weight=np.concatenate(weight).astype(np.float32),
        right=np.array([share for example in examples for share in example.right], dtype=np.float32),
        first=np.cumsum([0, *(len(example.paths) for example in examples)]),
    )


def _is_held_out(group: str, seed: int) -> bool:
    """By hash: the same groups are held out whatever else is in the set."""
    return hashlib.sha256(f"{seed} {group}".encode()).digest()[0] < 256 * HELD_OUT
