"""Retriever: ranks the candidate facts of a dialogue by a trained network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER, FeatureMaker
from app.retriever.network import RetrieverWeights, scores_of
from app.retriever.query import RetrievalQuery
from app.retriever.relations import RelationTable


class Retriever:
    """Promise: the scores depend on no name, and not on the order of the facts. Thread-safe."""

    def __init__(self, weights: RetrieverWeights, embedder: Embedder, placeholder: str | None = PLACEHOLDER) -> None:
        """`placeholder`: see FeatureMaker."""
        self._weights = weights
        self._relations = RelationTable(embedder)
        self._maker = FeatureMaker(embedder, self._relations, placeholder)

    def scores(self, query: RetrievalQuery) -> npt.NDArray[np.float32]:
        """Returns log p(z|x) up to a constant of the query, higher is better; shape (facts,)."""
        if not query.facts:
            return np.zeros(0, np.float32)
        return scores_of(self._weights, self._maker.make(query), self._relations.vectors())
