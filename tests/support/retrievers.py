"""Untrained retrievers: one with random weights, and one that ranks a single relation first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import RetrievalQuery
from app.retriever.retriever import NetworkConfig, Retriever, RetrieverWeights, shapes_of


def untrained() -> RetrieverWeights:
    draw, config = np.random.default_rng(0), NetworkConfig()
    shapes = sorted(shapes_of(config).items())
    return RetrieverWeights(config, {name: draw.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes})


class FavouringRetriever(Retriever):
    """Ranks the facts of one relation first; `asked` holds the queries that it got."""

    def __init__(self, embedder: Embedder, relation: str) -> None:
        super().__init__(untrained(), embedder)
        self._relation = relation
        self.asked: list[RetrievalQuery] = []

    def scores(self, query: RetrievalQuery) -> npt.NDArray[np.float32]:
        self.asked.append(query)
        return np.array([fact.relation == self._relation for fact in query.facts], np.float32)
