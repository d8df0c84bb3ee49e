"""Examples: a question beside all paths that it could mean, and how right each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.language.readings import WordedPath
from app.llm.embeddings.adapters import RelationAdapter
from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import step_text
from kg_store.text.pseudonymous import asked_words

Floats = npt.NDArray[np.float32]


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

    `asked`: the wholes' vectors, (examples, dimensions). `steps`: of every step, (steps, dimensions). `counts`: which
    steps each path sums up, (paths, longest) with -1 for none. `base`: the score of each path without the nearness of
    wholes, and `weight`: what that nearness counts there, (paths,). `right`: (paths,). `first`: where each example's
    paths begin, (examples + 1,).
    """

    asked: Floats
    steps: Floats
    counts: npt.NDArray[np.int64]
    base: Floats
    weight: Floats
    right: Floats
    first: npt.NDArray[np.int64]


def prepare(embedder: Embedder, examples: Sequence[Example]) -> Prepared:
    """Everything of `examples` that training does not change."""
    # A head that takes all nearness away, and one that gives every path the nearness 1.
    without, full = (PathScorer(embedder, head=RelationAdapter(gain=0.0, offset=offset)) for offset in (0.0, 1.0))
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    base: list[npt.NDArray[np.floating]] = []
    weight: list[npt.NDArray[np.floating]] = []
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
