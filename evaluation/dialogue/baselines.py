"""Rankings without training: random, BM25 over relation words, and a bi-encoder over triples or relation words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER, read_text
from evaluation.dialogue.examples import RetrievalExample

Floats = npt.NDArray[np.floating]

_WORD = re.compile(r"\w+")
# Robertson and Zaragoza, Foundations and Trends in Information Retrieval, 2009, section 3.2.
K1, B = 1.5, 0.75


def random_scores(example: RetrievalExample) -> Floats:
    """All the same: the measures take the mean over all orders of what is equal."""
    return np.zeros(len(example.gold))


def bm25_scores(example: RetrievalExample) -> Floats:
    """The history without names as the query, the relation words of each candidate as its document."""
    documents = {fact.relation: Counter(_WORD.findall(fact.relation)) for fact in example.query.facts}
    counts = Counter(fact.relation for fact in example.query.facts)
    total = sum(counts.values())
    mean_length = sum(count * documents[words].total() for words, count in counts.items()) / total
    scores = dict.fromkeys(documents, 0.0)
    for word in set(_WORD.findall(_history(example, with_names=False).lower())):
        having = sum(count for words, count in counts.items() if documents[words][word])
        rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
        for words, document in documents.items():
            norm = K1 * (1 - B + B * document.total() / mean_length)
            scores[words] += rarity * document[word] * (K1 + 1) / (document[word] + norm)
    return np.array([scores[fact.relation] for fact in example.query.facts])


class BiEncoder:
    """Cosine of the dialogue and each fact by the sentence model as it is; `turns`: so many of the last turns."""

    def __init__(self, embedder: Embedder, *, with_names: bool, turns: int) -> None:
        self._embedder, self._with_names, self._turns = embedder, with_names, turns

    def scores(self, example: RetrievalExample) -> Floats:
        return self._embedder.similarity(_history(example, self._with_names, self._turns), self._facts(example))

    def _facts(self, example: RetrievalExample) -> Sequence[str]:
        if self._with_names:
            return [" ".join(triple) for triple in example.triples]
        return [fact.relation for fact in example.query.facts]


def _history(example: RetrievalExample, with_names: bool, turns: int = 0) -> str:
    placeholder = None if with_names else PLACEHOLDER
    return " ".join(read_text(utterance, placeholder)[0] for utterance in example.query.history[-turns:])
