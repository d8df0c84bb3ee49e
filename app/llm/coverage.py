"""How well paths cover a question: its words, from the topic outwards, are read off the steps in their order.

Cheaper than `path_scoring`, which finds the one right path: here only single words and wordings of steps are embedded,
each once in a process, so that nothing waits for the sentence model. It says which few ways are worth showing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.alignment import turns_back
from app.llm.embedder import Embedder
from app.llm.english import verbs_of
from app.llm.idioms import said_plainly
from app.llm.nearness import Way, ways_openly
from app.llm.question_words import singular, walks
from app.llm.wording import hop_words

# Chosen by how often the gold path stands among the first few on PathQuestion and MetaQA (docs/evaluation.md).
_STEP = 0.6
_SAID_STEP = 0.8
_MOST_SAID = 0.6
_SAME_DOING = 0.8  # `acted` and `starred actors`
_TURNING_BACK = 0.05
_NO_STEP = -9.0

Scores = npt.NDArray[np.floating[Any]]


def coverage(embedder: Embedder, question: str, topic: str, ways: Sequence[Way]) -> Scores:
    """One score a way from `topic`, a pseudonym; shape (ways,). A step costs, unless a word says it."""
    if not ways:
        return np.zeros(0)
    question, ways = ways_openly(question, ways)
    lengths = np.array([len(way) for way in ways])
    costs = _STEP * lengths + _TURNING_BACK * np.array([turns_back([label for label, _ in way]) for way in ways])
    orders = _words_outwards(question, topic)
    words = list(dict.fromkeys(word for order in orders for word in order))
    if not words:
        return -costs
    steps = list(dict.fromkeys(step for way in ways for step in way))
    row = {step: number for number, step in enumerate(steps)}
    # Shorter ways are filled up with a step that no word can say.
    filled = np.full((len(ways), int(lengths.max())), len(steps))
    for number, way in enumerate(ways):
        filled[number, : len(way)] = [row[step] for step in way]
    vectors = embedder.sentences(words)
    of_relation = _likeness(embedder, vectors, [_wordings(*step)[0] for step in steps])
    of_relation[:-1] = np.maximum(of_relation[:-1], _SAME_DOING * _doings(words, steps))
    near = np.maximum(of_relation, _likeness(embedder, vectors, [_wordings(*step)[1] for step in steps]))
    position = {word: number for number, word in enumerate(words)}
    covered = [_in_order(near[:-1], filled, [position[word] for word in order]) for order in orders]
    said = of_relation.max(axis=1).clip(0.0, _MOST_SAID)[filled]
    scores: Scores = np.max(covered, axis=0) + _SAID_STEP * said.sum(axis=1) - costs
    return scores


def _words_outwards(question: str, topic: str) -> list[list[str]]:
    """The content words as paths from `topic` meet them; in two orders where grammar leaves it open."""
    read = walks(said_plainly(question), topic)
    single = [sorted((span.start, span.text) for span in walked.spans if " " not in span.text) for walked in read]
    return [[singular(word) for _, word in spans] for spans in single]


def _in_order(near: Scores, filled: npt.NDArray[np.int_], words: Sequence[int]) -> Scores:
    """The most that `words` gain in this order: each by the step at hand or a later one, or by none; shape (ways,)."""
    padded = np.concatenate([near, np.full((1, near.shape[1]), _NO_STEP)])
    is_step = filled < len(near)
    best = np.where(is_step, 0.0, _NO_STEP * (len(words) + 1))
    for word in words:
        gains = np.where(is_step, padded[filled, word].clip(min=0.0), 0.0)
        best = np.where(is_step, np.maximum.accumulate(best, axis=1) + gains, best)
    result: Scores = best.max(axis=1)
    return result


def _doings(words: Sequence[str], steps: Sequence[tuple[str, str]]) -> Scores:
    """1 where a word and a step's relation tell the same doing, else 0; shape (steps, words)."""
    verbs = [verbs_of(word) for word in words]
    done = [hop_words(*step).verbs for step in steps]
    return np.array([[float(not each.isdisjoint(own)) for each in verbs] for own in done])


def _likeness(embedder: Embedder, words: npt.NDArray[np.float32], wordings: Sequence[Sequence[str]]) -> Scores:
    """The best cosine of each step's wordings with each word, 0 without any; shape (steps + 1, words), the last 0."""
    texts = list(dict.fromkeys(text for each in wordings for text in each))
    result = np.zeros((len(wordings) + 1, len(words)))
    if texts:
        near = embedder.sentences(texts) @ words.T
        row = {text: number for number, text in enumerate(texts)}
        for number, each in enumerate(wordings):
            if each:
                result[number] = near[[row[text] for text in each]].max(axis=0)
    return result


@lru_cache(maxsize=16_384)
def _wordings(label: str, concept: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = hop_words(label, concept)
    return words.relation, words.kinds
