"""Retriever: ranks the candidate facts of a dialogue by a trained network."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import torch

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER, FeatureMaker, Features
from app.retriever.network import RetrieverNetwork, batch_of
from app.retriever.query import RetrievalQuery
from app.retriever.relations import RelationTable


class Retriever:
    """Promise: the scores depend on no name, and not on the order of the facts. Thread-safe."""

    def __init__(self, network: RetrieverNetwork, embedder: Embedder, placeholder: str | None = PLACEHOLDER) -> None:
        """`placeholder`: as for FeatureMaker."""
        self._network = network.eval()
        self._relations = RelationTable(embedder)
        self._maker = FeatureMaker(embedder, self._relations, placeholder)
        self._lock = threading.Lock()

    def scores(self, query: RetrievalQuery) -> npt.NDArray[np.float32]:
        """log p(z|x) but for a constant of the query, higher is better; shape (facts,)."""
        if not query.facts:
            return np.zeros(0, np.float32)
        features = self._maker.make(query)
        with self._lock:
            return scores_of(self._network, features, self._relations)


def scores_of(network: RetrieverNetwork, features: Features, relations: RelationTable) -> npt.NDArray[np.float32]:
    """The scores of one query's facts; `relations` is the table that its features were made with."""
    with torch.no_grad():
        scores: npt.NDArray[np.float32] = network(batch_of([features]), torch.from_numpy(relations.vectors())).numpy()
    return scores
