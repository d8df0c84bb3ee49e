"""Ranks the candidate facts z of a dialogue x by p(z|x), proportional to exp(d(z) . s(x)).

s(x): token vectors of the frozen sentence model, pooled by attention (SURGE, appendix E.1). d(z): an MLP of head,
relation and tail (section 3.3, equation 3). Nodes are embedded by a graph convolution over the candidates (Kipf and
Welling, ICLR 2017), edges by message passing over the dual hypergraph (Jo et al., NeurIPS 2021), in which each node is
a hyperedge. Added to the papers: features of entities and facts, and profiles (means over an entity's relations in
each direction). It runs on numpy, so that the service loads no torch; `evaluation.training.retriever` trains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import TrainedNetwork, linear, read_network, write_network
from app.retriever.features import (
    ENTITY_MARKS,
    FACT_MARKS,
    MAX_AGO,
    PLACEHOLDER,
    Bags,
    FeatureMaker,
    Features,
    Floats,
    Ints,
    RelationTable,
    RetrievalQuery,
)

ATTENTION_WIDTH: Final = 64
TURN_WIDTH: Final = 16


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The shape of a retriever's network.

    `dimensions`: those of the sentence model's vectors. `width` and `layers`: of the graph convolution.
    """

    dimensions: int = 384
    width: int = 128
    layers: int = 2


RetrieverWeights = TrainedNetwork[NetworkConfig]
"""Trained weights; they fit every graph, because relations are read by their words."""


def shapes_of(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """Returns, by name, the shape that each array of a complete network must have."""
    words, width = config.dimensions, config.width
    linear = {
        "attention.0": (ATTENTION_WIDTH, words + 2 * TURN_WIDTH),
        "attention.2": (1, ATTENTION_WIDTH),
        "context.0": (width, words),
        "context.3": (width, width),
        "relation": (width, words),
        "mark": (width, ENTITY_MARKS),
        "fact_mark": (width, FACT_MARKS),
        **dict.fromkeys(("dual", "head", "triple", *(f"own.{n}" for n in range(config.layers))), (width, width)),
    }
    plain = {
        "ago": (MAX_AGO + 1, TURN_WIDTH),
        "speaker": (2, TURN_WIDTH),
        "mention": (width, words),
        "outgoing": (width, words),
        "incoming": (width, words),
        **dict.fromkeys(("dual_message", "tail", "edge"), (width, width)),
        **{f"message.{n}": (width, width) for n in range(config.layers)},
    }
    shapes = {f"{name}.weight": shape for name, shape in (linear | plain).items()}
    return shapes | {f"{name}.bias": shape[:1] for name, shape in linear.items()}


def scores_of(weights: RetrieverWeights, features: Features, relations: Floats) -> Floats:
    """Returns log p(z|x) of each fact up to a constant of the query; shape (facts,).

    `relations`: the table of relation vectors that the features refer to. Raises KeyError, ValueError if the weights
    are incomplete.
    """
    return _Pass(weights, features, relations).scores()


class _Pass:
    """Computes the network for one query."""

    def __init__(self, weights: RetrieverWeights, features: Features, relations: Floats) -> None:
        self._config, self._arrays, self._of = weights.config, weights.arrays, features
        # Only the rows that the query uses are computed, which are few of a large schema.
        every = np.concatenate([features.relations, features.outgoing.rows, features.incoming.rows])
        self._used = np.unique(every)
        self._words = relations[self._used]
        self._degree = 1 + np.bincount(
            np.concatenate([features.heads, features.tails]), minlength=len(features.entity_marks)
        ).astype(np.float32)

    def scores(self) -> Floats:
        of = self._of
        nodes = self._nodes()
        ends = self._linear("head", nodes)[of.heads] + self._linear("tail", nodes)[of.tails]
        hidden = ends + self._linear("edge", self._edges()) + self._linear("fact_mark", of.fact_marks)
        triples = self._linear("triple", _relu(hidden))
        result: Floats = triples @ self._context() / np.float32(self._config.width**0.5)
        return result

    def _context(self) -> Floats:
        of = self._of
        turns = self._arrays["ago.weight"][of.token_ago], self._arrays["speaker.weight"][of.token_speaker]
        hidden = _relu(self._linear("attention.0", np.concatenate([of.tokens, *turns], axis=1)))
        logits = self._linear("attention.2", hidden)[:, 0]
        shares = np.exp(logits - logits.max())
        pooled = (shares / shares.sum()) @ of.tokens
        return self._linear("context.3", _relu(self._linear("context.0", pooled)))

    def _nodes(self) -> Floats:
        of = self._of
        profiles = self._means("outgoing", of.outgoing) + self._means("incoming", of.incoming)
        nodes = self._linear("mark", of.entity_marks) + profiles[of.profiles]
        nodes[of.mentioned] += self._linear("mention", of.mentions)
        nodes = _relu(nodes)
        share = 1 / np.sqrt(self._degree[of.heads] * self._degree[of.tails])[:, None]
        for layer in range(self._config.layers):
            sent = self._linear(f"message.{layer}", nodes)
            received = sent / self._degree[:, None]
            np.add.at(received, of.heads, sent[of.tails] * share)
            np.add.at(received, of.tails, sent[of.heads] * share)
            nodes = _relu(self._linear(f"own.{layer}", nodes) + received)
        return nodes

    def _edges(self) -> Floats:
        of, places = self._of, self._places(self._of.relations)
        relations = _relu(self._linear("relation", self._words))
        edges = self._linear("dual", relations)[places]
        sent = self._linear("dual_message", relations)[places]
        around = np.zeros((len(self._degree), sent.shape[1]), np.float32)
        np.add.at(around, of.heads, sent)
        np.add.at(around, of.tails, sent)
        around /= self._degree[:, None]
        return _relu(edges + 0.5 * (around[of.heads] + around[of.tails]))

    def _means(self, name: str, bags: Bags) -> Floats:
        """Returns the mean over each list of relations after the layer `name`, shape (bags, width).

        It is zero for an empty list.
        """
        counts = np.diff(np.append(bags.starts, len(bags.rows)))
        sums = np.zeros((len(counts), self._config.width), np.float32)
        relations = self._linear(name, self._words)[self._places(bags.rows)]
        np.add.at(sums, np.repeat(np.arange(len(counts)), counts), relations)
        sums /= np.maximum(counts, 1)[:, None]
        return sums

    def _places(self, rows: Ints) -> Ints:
        return np.searchsorted(self._used, rows)

    def _linear(self, name: str, values: Floats) -> Floats:
        return linear(self._arrays, name, values)


def _relu(values: Floats) -> Floats:
    return np.maximum(values, np.float32(0))


_NAME: Final = "retriever"
_WHOLE: Final = {"nodes": True, "edges": True, "messages": True, "trained_relations": 0}


def write_weights(weights: RetrieverWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`, to a file; the same weights give the same
    bytes."""
    write_network(_NAME, weights, file, model)


def read_weights(file: Path, model: str) -> RetrieverWeights:
    """Returns the weights in `file`.

    Raises NetworkWeightsError if it is unusable or was trained for another sentence model than `model`.
    """
    return read_network(_NAME, _config_of, shapes_of, file, model)


def _config_of(dimensions: int, width: int, layers: int, **parts: object) -> NetworkConfig:
    """Returns the settings of a network read from a file.

    `parts`: in files of older versions, the parts of the network that could be switched off, such as "edges". Raises
    ValueError if one of them is off, or is not known.
    """
    if any(parts.get(name, whole) != whole for name, whole in _WHOLE.items()) or parts.keys() - _WHOLE.keys():
        raise ValueError("the network lacks a part")
    return NetworkConfig(dimensions, width, layers)


class Retriever:
    """Scores the candidate facts of a query with a trained network. Thread-safe.

    Promise: the scores depend neither on names nor on the order of the facts.
    """

    def __init__(self, weights: RetrieverWeights, embedder: Embedder, placeholder: str | None = PLACEHOLDER) -> None:
        """Takes the trained weights and the sentence model; `placeholder` is explained at FeatureMaker."""
        self._weights = weights
        self._relations = RelationTable(embedder)
        self._maker = FeatureMaker(embedder, self._relations, placeholder)

    def scores(self, query: RetrievalQuery) -> Floats:
        """Returns log p(z|x) of each fact up to a constant of the query, higher is better; shape (facts,)."""
        if not query.facts:
            return np.zeros(0, np.float32)
        return scores_of(self._weights, self._maker.make(query), self._relations.vectors())
