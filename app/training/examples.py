"""Examples: a question beside all paths that it could mean, and which of them it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.llm.embedded.scoring.alignment import Weights
from app.llm.embedded.scoring.path_scoring import PathScorer, WordedPath
from app.llm.embedded.scoring.similarity import asked_words, nearness, step_text
from app.llm.embeddings.embedder import Embedder

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """`question` names its topic by the pseudonym `topic`, a thing of `concept`; at least one path is right.

    `group`: examples of one group are held out together (a topic, a schema).
    """

    question: str
    topic: str
    concept: str
    paths: tuple[WordedPath, ...]
    right: tuple[bool, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Examples as arrays, each path a row of one table.

    `asked`: the wholes' vectors, (examples, dimensions). `steps`: of every step, (steps, dimensions). `counts`: which
    steps each path sums up, (paths, longest) with -1 for none. `base`: the score of each path without the nearness of
    wholes, (paths,). `right`: (paths,). `first`: where each example's paths begin, (examples + 1,).
    """

    asked: Floats
    steps: Floats
    counts: npt.NDArray[np.int64]
    base: Floats
    right: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int64]


def prepare(embedder: Embedder, examples: Sequence[Example], weights: Weights) -> Prepared:
    """Everything of `examples` that training does not change."""
    scorer = PathScorer(embedder, weights)
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    base: list[npt.NDArray[np.floating]] = []
    for example in examples:
        ways = [[*zip(path.steps, path.concepts, strict=True)] for path in example.paths]
        rows += [[texts.setdefault(step_text(*step), len(texts)) for step in way] for way in ways]
        scores = scorer.scores(example.question, example.topic, example.concept, example.paths)
        base.append(scores - weights.nearness * nearness(embedder, example.question, ways))
    longest = max(map(len, rows))
    return Prepared(
        asked=embedder.sentences([asked_words(example.question) for example in examples]),
        steps=embedder.sentences(list(texts)),
        counts=np.array([[*row, *[-1] * (longest - len(row))] for row in rows]),
        base=np.concatenate(base).astype(np.float32),
        right=np.array([flag for example in examples for flag in example.right]),
        first=np.cumsum([0, *(len(example.paths) for example in examples)]),
    )
