"""Compares a path with a whole question: the cosine of the question with the sum of the path's steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter
from app.reader.language.relation_wording import unmask_words
from kg_store.text.pseudonymous import asked_words
from kg_store.text.step_words import typed

Way = Sequence[tuple[str, str]]
"""The label and the concept of each step of a path; at least one step."""


def nearness(
    embedder: Embedder, question: str, ways: Sequence[Way], head: RelationAdapter = NO_HEAD
) -> npt.NDArray[np.floating[Any]]:
    """Returns one cosine a path, as `head` sees it; shape (paths,). Each distinct step is embedded once.

    Pseudonyms are left out, because they are random.
    """
    if not ways:
        return np.zeros(0)
    question, ways = unmask_paths(question, ways)
    rows: dict[tuple[str, str], int] = {}
    flat = [rows.setdefault(step, len(rows)) for way in ways for step in way]
    embedded = embedder.sentences([*(step_text(*step) for step in rows), asked_words(question)])
    vectors, asked = head.moved("step", embedded[:-1]), head.moved("question", embedded[-1:])[0]
    lengths = np.array([len(way) for way in ways])
    sums = np.add.reduceat(vectors[flat], np.cumsum(lengths) - lengths, axis=0)
    near: npt.NDArray[np.floating[Any]] = sums @ asked / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    return head.gain * near + head.offset + head.of_lengths(embedded[-1], lengths)


def unmask_paths(question: str, ways: Sequence[Way]) -> tuple[str, Sequence[Way]]:
    """Returns whole paths as `unmask_words` does steps; the same objects if the question holds no opaque word."""
    asked, labels = unmask_words(question, [label for way in ways for label, _ in way])
    if asked == question:
        return question, ways
    given = iter(labels)
    return asked, [[(next(given), concept) for _, concept in way] for way in ways]


@lru_cache(maxsize=65_536)
def step_text(label: str, concept: str) -> str:
    """Returns a step in words: the type that its relation belongs to, the relation, and the concept it leads to."""
    return f"{typed(label)} {concept}".strip()
