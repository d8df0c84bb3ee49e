"""Compares a whole question with many texts, token by token: late interaction over contextual vectors.

Used for the hops of a schema, each with the kinds at its ends. No word has to equal another.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.reader.language.question_words import GRAMMAR

WEIGHT_OF_GRAMMAR: Final = 0.15
"""The weight of a function word ("the", "of") beside that of another word, which is 1. Chosen by hand."""
MAX_SCHEMAS: Final = 8
"""Greatest number of schemas whose vectors are kept; about 1.5 kB of memory for each token of a text."""

Scores = npt.NDArray[np.float64]
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class WeightedTokens:
    """The unit vectors of a text's tokens, shape (tokens, dimensions), with the weight of each and where it begins."""

    vectors: npt.NDArray[np.float32] = field(repr=False)
    weights: Scores = field(repr=False)
    begins: npt.NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LateScores:
    """The likeness of a question to texts: as a `whole`, shape (texts,), and `by_word`, shape (words, texts)."""

    whole: Scores = field(repr=False)
    by_word: Scores = field(repr=False)


class LateInteraction:
    """The likeness of questions to texts of schemas. Thread-safe; it keeps the vectors of MAX_SCHEMAS schemas."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._lock = embedder, threading.Lock()
        self._known: OrderedDict[tuple[str, ...], list[WeightedTokens]] = OrderedDict()

    def of(self, words: Sequence[str], texts: Sequence[str]) -> LateScores | None:
        """Compares a question, given as words with kinds in place of stand-ins, with each text of a schema.

        None if the question has no words, there are no texts, or the model does not tell where its tokens stand.
        """
        try:
            asked, others = _weighted(self._embedder, [" ".join(words)])[0], self._of_schema(tuple(texts))
        except NotImplementedError:
            return None
        if not (asked.weights.size and others):
            return None
        places = _places(words)
        near = [asked.vectors @ each.vectors.T for each in others]
        best = np.array([each.max(axis=1) for each in near]).reshape(len(texts), len(asked.weights))
        by_word = [_of_word(best, asked.begins, *place) for place in places]
        return LateScores(
            whole=np.array(
                [_coverage(each, asked.weights, other.weights) for each, other in zip(near, others, strict=True)]
            ),
            by_word=np.array(by_word).reshape(len(words), len(texts)),
        )

    @property
    def kept(self) -> int:
        """The number of schemas whose vectors are kept."""
        return len(self._known)

    def _of_schema(self, texts: tuple[str, ...]) -> list[WeightedTokens]:
        with self._lock:
            known = self._known.get(texts)
        if known is None:
            fresh = dict.fromkeys(texts)
            known_texts = dict(zip(fresh, _weighted(self._embedder, list(fresh)), strict=True))
            known = [known_texts[text] for text in texts]
            with self._lock:
                self._known[texts] = known
                while len(self._known) > MAX_SCHEMAS:
                    self._known.popitem(last=False)
        return known


def _weighted(embedder: Embedder, texts: Sequence[str]) -> list[WeightedTokens]:
    found = []
    for text, tokens in zip(texts, embedder.tokens(texts), strict=True):
        grammar = [each.span() for each in _WORD.finditer(text) if each[0].lower() in GRAMMAR]
        is_word = tokens.spans[:, 1] > tokens.spans[:, 0]
        vectors, spans = tokens.vectors[is_word], tokens.spans[is_word]
        light = [any(begin <= at < end for begin, end in grammar) or text[at] == "|" for at in spans[:, 0].tolist()]
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        weights = np.where(light, WEIGHT_OF_GRAMMAR, 1.0).astype(np.float64)
        found.append(WeightedTokens(vectors / lengths, weights, spans[:, 0]))
    return found


def _coverage(near: npt.NDArray[np.float32], asked: Scores, other: Scores) -> float:
    """Returns how well two texts cover each other: the mean of both directions, each a weighted mean of best cosines.

    `near`: the cosines of their tokens; `asked` and `other`: the weights of their tokens.
    """
    there = float(near.max(axis=1) @ asked / max(1e-9, asked.sum()))
    back = float(near.max(axis=0) @ other / max(1e-9, other.sum()))
    return (there + back) / 2


def _places(words: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the begin and end of each word in the text that joins them by blanks."""
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    return [(end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)]


def _of_word(best: Scores, begins: npt.NDArray[np.int64], begin: int, end: int) -> Scores:
    """Returns the greatest cosine of a word's tokens to each text, shape (texts,)."""
    own = (begins >= begin) & (begins < end)
    return best[:, own].max(axis=1) if own.any() else np.zeros(len(best))
