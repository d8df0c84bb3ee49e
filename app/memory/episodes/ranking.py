"""Ranks episodes for an utterance: by sentences, by words and by tokens in context, each with the same weight."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder

Scores = npt.NDArray[np.float64]

_SHARPNESS_OF_SENTENCES: Final = 8.0
"""The factor of cosines in an exponent: the greater, the more the nearest sentence counts alone. Chosen on DialogRE's
train part, like the next one."""
_SHARPNESS_OF_TOKENS: Final = 6.0
_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
"""The k1 and b of BM25 (Robertson and Zaragoza, 2009), at their usual values."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class EpisodeRanker:
    """Scores episodes for an utterance, with the sentence model that the service loads anyway. Nothing is trained."""

    def __init__(self, embedder: Embedder, episodes: Sequence[Sequence[str]]) -> None:
        """Takes the texts of each episode's members; none of the episodes may be empty."""
        self._embedder = embedder
        self._texts = [text for texts in episodes for text in texts]
        self._first = np.cumsum([0, *(len(texts) for texts in episodes)])
        self._counts = [Counter(words_of(" ".join(texts))) for texts in episodes]
        self._lengths = np.array([counts.total() for counts in self._counts], dtype=np.float64)
        self._known = Counter(word for counts in self._counts for word in counts)
        self._sentences = embedder.sentences(self._texts)
        tokens = [_units(each.vectors, each.spans) for each in embedder.tokens(self._texts)]
        self._tokens = np.concatenate([vectors for vectors, _ in tokens])
        self._first_tokens = np.cumsum([0, *(len(vectors) for vectors, _ in tokens)])

    def scores(self, utterance: str, without: int | None = None) -> Scores:
        """Returns a score for each episode, shape (episodes,): the sum of three standardised ones.

        `without`: the place of a member, counted through all episodes, that is treated as if it were not there.
        """
        parts = (self._by_sentences, self._by_words, self._by_tokens)
        scores: Scores = np.sum([_standardised(part(utterance, without)) for part in parts], axis=0, dtype=np.float64)
        return scores

    def of_sentences(self, utterance: str, without: int | None = None) -> tuple[Scores, Scores]:
        """Returns the greatest and the mean cosine of the utterance to each episode's members, shape (episodes,)."""
        near, there = self._cosines(utterance, without)
        best = np.maximum.reduceat(np.where(there, near, -1.0), self._first[:-1])
        return best, self._sums(np.where(there, near, 0.0)) / np.maximum(self._sums(there), 1)

    def weight_of(self, word: str) -> float:
        """Returns the inverse document frequency of a word over the episodes."""
        known = self._known[word]
        return math.log(1 + (len(self._counts) - known + 0.5) / (known + 0.5))

    def _by_sentences(self, utterance: str, without: int | None) -> Scores:
        near, there = self._cosines(utterance, without)
        near_soft = self._sums(np.where(there, np.exp(_SHARPNESS_OF_SENTENCES * near), 0.0))
        return np.log(near_soft / np.maximum(self._sums(there), 1) + 1e-9)

    def _by_words(self, utterance: str, without: int | None) -> Scores:
        scores, left_out = np.zeros(len(self._counts)), Counter[str]()
        own = -1 if without is None else int(np.searchsorted(self._first, without, side="right")) - 1
        if without is not None:
            left_out = Counter(words_of(self._texts[without]))
        for word in set(words_of(utterance)):
            counts = np.array([each[word] for each in self._counts], dtype=np.float64)
            if own >= 0:
                counts[own] -= left_out[word]
            known = int((counts > 0).sum())
            weight = math.log(1 + (len(counts) - known + 0.5) / (known + 0.5))
            relative = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * self._lengths / self._lengths.mean()
            scores += weight * counts * (_SATURATION + 1) / (counts + _SATURATION * relative)
        return scores

    def _by_tokens(self, utterance: str, without: int | None) -> Scores:
        tokens = self._embedder.tokens([utterance])[0]
        vectors, begins = _units(tokens.vectors, tokens.spans)
        places = [(match.end(), self.weight_of(match[0].lower())) for match in _WORD.finditer(utterance)]
        weights = np.array([next((weight for end, weight in places if at < end), 0.0) for at in begins.tolist()])
        near = vectors @ self._tokens.T
        if without is not None:
            near[:, self._first_tokens[without] : self._first_tokens[without + 1]] = -1.0
        best = np.maximum.reduceat(near, self._first_tokens[self._first[:-1]], axis=1)
        scores: Scores = weights @ np.exp(_SHARPNESS_OF_TOKENS * best.astype(np.float64))
        return scores

    def _cosines(self, utterance: str, without: int | None) -> tuple[Scores, npt.NDArray[np.bool_]]:
        there = np.ones(len(self._texts), dtype=bool)
        if without is not None:
            there[without] = False
        return (self._sentences @ self._embedder.sentences([utterance])[0]).astype(np.float64), there

    def _sums(self, values: npt.NDArray[np.generic]) -> Scores:
        sums: Scores = np.add.reduceat(values.astype(np.float64), self._first[:-1])
        return sums


def words_of(text: str) -> list[str]:
    return [match[0].lower() for match in _WORD.finditer(text)]


def _units(
    vectors: npt.NDArray[np.float32], spans: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Returns the unit vectors of the tokens that stand for characters, and where each begins."""
    is_text = spans[:, 1] > spans[:, 0]
    lengths = np.maximum(np.linalg.norm(vectors[is_text], axis=1, keepdims=True), 1e-9)
    return vectors[is_text] / lengths, spans[is_text, 0]


def _standardised(scores: Scores) -> Scores:
    standardised: Scores = (scores - scores.mean()) / max(float(scores.std()), 1e-9)
    return standardised
