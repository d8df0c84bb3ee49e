"""Fit the retriever's network to dialogues: to the facts that their replies use, or to the replies alone.

If the facts are known, any of them is right: the loss is the cross entropy of their summed probability. If not, it is
that of the reply over sampled sets of facts (SURGE, section 3.6). Large candidate sets are thinned out at random, anew
in each epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from app.retriever.features import ENTITY_MARKS, FACT_MARKS, MAX_AGO, Bags, Features
from app.retriever.retriever import ATTENTION_WIDTH, TURN_WIDTH, NetworkConfig, RetrieverWeights
from evaluation.training.network_fitting import (
    FittingProgress,
    NetworkFitting,
    StepSettings,
    Tell,
    logsumexp_of_groups,
    seed_torch,
    seeded_draw,
)

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RankedFacts:
    """The features of one query, and which of its facts are right (at least one); shape (facts,)."""

    features: Features = field(repr=False)
    gold: Flags = field(repr=False)


@dataclass(frozen=True, slots=True)
class RepliedFacts:
    """The features of one query, and the probability of each word of its reply.

    `told`: the probability if the word is taken from a fact, for each fact; shape (facts, words). `otherwise`: if it
    is taken from none; shape (words,).
    """

    features: Features = field(repr=False)
    told: Floats = field(repr=False)
    otherwise: Floats = field(repr=False)


Learnt = RankedFacts | RepliedFacts
ExampleT = TypeVar("ExampleT", RankedFacts, RepliedFacts)


@dataclass(frozen=True, slots=True)
class RetrieverTraining(StepSettings):
    """Settings of the training.

    `unknown_relations`: the share of relations that have no vector in a step, so that the network also learns from the
    turn's own words. `candidates`: the most facts of a query used in an epoch. `samples`, `sampled_facts`: if only
    replies are known, the number of sets of facts drawn for each, and their size.
    """

    epochs: int = 4
    batch: int = 16
    warm_up: int = 50
    decay: float = 0.1
    dropout: float = 0.4
    unknown_relations: float = 0.2
    candidates: int = 300
    samples: int = 4
    sampled_facts: int = 3


def fit_retriever(
    examples: Sequence[Learnt],
    relations: Floats,
    config: NetworkConfig,
    seed: int,
    how: RetrieverTraining | None = None,
    tell: Tell = lambda _progress: None,
    checkpoint: Path | None = None,
) -> RetrieverWeights:
    """Trains the retriever; the same input gives the same weights. `tell` is called at each step.

    `relations` are the vectors of the table that the features refer to. `checkpoint` is written after each epoch; if
    it exists, training continues from it, with the same result as without the interruption. Raises CheckpointError if
    it is of another training.
    """
    how = how or RetrieverTraining()
    seed_torch(seed)
    network, table = RetrieverNetwork(config, how.dropout), torch.from_numpy(relations)
    fitting = NetworkFitting(network, how, (seed, config), lambda: _as_bytes(relations, examples), "dialogues")
    steps = -(-len(examples) // how.batch)

    def run_epoch(epoch: int) -> None:
        draw = seeded_draw(seed, epoch)
        order = draw.permutation(len(examples))
        for number in range(steps):
            done, total = epoch * steps + number, how.epochs * steps
            rows = order[number * how.batch : (number + 1) * how.batch]
            batch = [thinned(examples[row], how.candidates, draw) for row in rows]
            tell(FittingProgress(done + 1, total, fitting.step(_loss(network, table, batch, how), done / total)))

    fitting.run(how.epochs, run_epoch, checkpoint)
    return network.weights()


def thinned(example: ExampleT, most: int, draw: np.random.Generator) -> ExampleT:
    """Keeps at most `most` facts, including all right ones; entities without a remaining fact are dropped."""
    count = len(example.features.heads)
    if count <= most:
        return example
    right = np.flatnonzero(example.gold) if isinstance(example, RankedFacts) else np.zeros(0, np.int64)
    others = draw.choice(np.setdiff1d(np.arange(count), right), max(0, most - len(right)), replace=False)
    kept = np.sort(np.concatenate([right, others]))
    features = _part_of(example.features, kept)
    if isinstance(example, RankedFacts):
        return RankedFacts(features, example.gold[kept])
    return RepliedFacts(features, example.told[kept], example.otherwise)


def reply_likelihood(example: RepliedFacts, drawn: Tensor) -> Tensor:
    """Returns log p(y|x,Z) of each drawn set of facts, shape (sets,); `drawn` has the shape (sets, facts of a set).

    Half of each word's probability comes from the facts of the set, half from its frequency in all replies.
    """
    from_facts = torch.from_numpy(example.told)[drawn].mean(dim=1)
    return (0.5 * from_facts + 0.5 * torch.from_numpy(example.otherwise)).log().sum(dim=1)


Batch = Mapping[str, Tensor]
"""Features of several queries, concatenated, by name; lists of relations as `outgoing.rows` and `outgoing.starts`.
`token_query` and `fact_query` hold the index of the query of each token and fact."""


def batch_of(queries: Sequence[Features]) -> Batch:
    entities = _offsets([len(each.entity_marks) for each in queries])
    profiles = _offsets([len(each.outgoing.starts) for each in queries])
    # Indices into entities or profiles of a query are shifted by the number of those of the queries before.
    moved = {"mentioned": entities, "heads": entities, "tails": entities, "profiles": profiles}
    found: dict[str, Sequence[npt.NDArray[Any]]] = {}
    for name in (each.name for each in fields(Features)):
        parts = [getattr(each, name) for each in queries]
        if isinstance(parts[0], Bags):
            rows = _offsets([len(each.rows) for each in parts])
            found[f"{name}.rows"] = [each.rows for each in parts]
            found[f"{name}.starts"] = [each.starts + start for each, start in zip(parts, rows, strict=True)]
        else:
            found[name] = [each + start for each, start in zip(parts, moved.get(name, [0] * len(parts)), strict=True)]
    for name, counted in (("token_query", "tokens"), ("fact_query", "heads")):
        found[name] = [np.full(len(each), at) for at, each in enumerate(found[counted])]
    return {name: torch.from_numpy(np.concatenate(parts)) for name, parts in found.items()}


class RetrieverNetwork(nn.Module):
    """The network of `app.retriever.retriever` in torch; the sentence model below it is frozen."""

    def __init__(self, config: NetworkConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        words, width = config.dimensions, config.width
        self.ago, self.speaker = nn.Embedding(MAX_AGO + 1, TURN_WIDTH), nn.Embedding(2, TURN_WIDTH)
        self.attention = nn.Sequential(
            nn.Linear(words + 2 * TURN_WIDTH, ATTENTION_WIDTH), nn.ReLU(), nn.Linear(ATTENTION_WIDTH, 1)
        )
        self.context = nn.Sequential(nn.Linear(words, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width))
        self.relation, self.dual = nn.Linear(words, width), nn.Linear(width, width)
        self.dual_message = nn.Linear(width, width, bias=False)
        self.mention, self.mark = nn.Linear(words, width, bias=False), nn.Linear(ENTITY_MARKS, width)
        self.outgoing, self.incoming = (nn.Linear(words, width, bias=False) for _ in range(2))
        self.own = nn.ModuleList(nn.Linear(width, width) for _ in range(config.layers))
        self.message = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(config.layers))
        self.head, self.tail = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.edge, self.fact_mark = nn.Linear(width, width, bias=False), nn.Linear(FACT_MARKS, width)
        self.dropout, self.triple = nn.Dropout(dropout), nn.Linear(width, width)

    def forward(self, batch: Batch, relations: Tensor) -> Tensor:
        """Returns one score per fact; `relations` is the table of all vectors, shape (rows, dimensions)."""
        heads, tails = batch["heads"], batch["tails"]
        nodes = self._nodes(batch, relations)
        degree = torch.ones(len(nodes)).index_add(0, torch.cat([heads, tails]), torch.ones(2 * len(heads)))
        nodes = self._convolved(nodes, heads, tails, degree)
        hidden = self.head(nodes)[heads] + self.tail(nodes)[tails]
        hidden = hidden + self.edge(self._edges(batch, relations, degree)) + self.fact_mark(batch["fact_marks"])
        hidden = self.dropout(torch.relu(hidden))
        context = self._context(batch)[batch["fact_query"]]
        scores: Tensor = (self.triple(hidden) * context).sum(dim=1) / self.config.width**0.5
        return scores

    def weights(self) -> RetrieverWeights:
        arrays = {name: value.detach().numpy().copy() for name, value in sorted(self.state_dict().items())}
        return RetrieverWeights(self.config, arrays)

    def _context(self, batch: Batch) -> Tensor:
        tokens, query = batch["tokens"], batch["token_query"]
        queries = int(query[-1]) + 1
        told = torch.cat([tokens, self.ago(batch["token_ago"]), self.speaker(batch["token_speaker"])], dim=1)
        logits = self.attention(told)[:, 0]
        weights = (logits - logsumexp_of_groups(logits, query, queries)[query]).exp()
        pooled = torch.zeros(queries, tokens.shape[1]).index_add(0, query, weights[:, None] * tokens)
        result: Tensor = self.context(pooled)
        return result

    def _nodes(self, batch: Batch, relations: Tensor) -> Tensor:
        outgoing, incoming = (
            functional.embedding_bag(batch[f"{name}.rows"], part(relations), batch[f"{name}.starts"], mode="mean")
            for name, part in (("outgoing", self.outgoing), ("incoming", self.incoming))
        )
        nodes: Tensor = self.mark(batch["entity_marks"]) + (outgoing + incoming)[batch["profiles"]]
        return torch.relu(nodes.index_add(0, batch["mentioned"], self.mention(batch["mentions"])))

    def _convolved(self, nodes: Tensor, heads: Tensor, tails: Tensor, degree: Tensor) -> Tensor:
        share = (degree[heads] * degree[tails]).rsqrt()[:, None]
        for own, message in zip(self.own, self.message, strict=True):
            sent = message(nodes)
            received = (sent / degree[:, None]).index_add(0, heads, sent[tails] * share)
            nodes = torch.relu(own(nodes) + received.index_add(0, tails, sent[heads] * share))
        return nodes

    def _edges(self, batch: Batch, relations: Tensor, degree: Tensor) -> Tensor:
        heads, tails, told = batch["heads"], batch["tails"], torch.relu(self.relation(relations))
        edges, sent = (part(told)[batch["relations"]] for part in (self.dual, self.dual_message))
        around = torch.zeros(len(degree), sent.shape[1]).index_add(0, heads, sent).index_add(0, tails, sent)
        around = around / degree[:, None]
        return torch.relu(edges + 0.5 * (around[heads] + around[tails]))


def _offsets(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts).tolist()][:-1]


def _loss(network: RetrieverNetwork, relations: Tensor, examples: Sequence[Learnt], how: RetrieverTraining) -> Tensor:
    """Returns the mean loss of the queries."""
    batch = batch_of([example.features for example in examples])
    is_known = torch.rand(len(relations), 1) >= how.unknown_relations
    scores = network(batch, relations * is_known)
    every = logsumexp_of_groups(scores, batch["fact_query"], len(examples))
    chances = (scores - every[batch["fact_query"]]).split([len(example.features.heads) for example in examples])
    losses = [_loss_of_one(example, each, how) for example, each in zip(examples, chances, strict=True)]
    return torch.stack(losses).mean()


def _loss_of_one(example: Learnt, chances: Tensor, how: RetrieverTraining) -> Tensor:
    """Returns the loss of one query; `chances` is log p(z|x), shape (facts,)."""
    if isinstance(example, RankedFacts):
        return -chances[torch.from_numpy(example.gold)].logsumexp(0)
    drawn = torch.multinomial(chances.detach().exp(), how.samples * how.sampled_facts, replacement=True)
    drawn = drawn.view(how.samples, how.sampled_facts)
    return -(chances[drawn].sum(dim=1) + reply_likelihood(example, drawn)).logsumexp(0)


def _part_of(features: Features, kept: npt.NDArray[np.int64]) -> Features:
    ends = np.concatenate([features.heads[kept], features.tails[kept]])
    entities, places = np.unique(ends, return_inverse=True)
    is_kept = np.isin(features.mentioned, entities)
    return replace(
        features,
        mentioned=np.searchsorted(entities, features.mentioned[is_kept]),
        mentions=features.mentions[is_kept],
        entity_marks=features.entity_marks[entities],
        profiles=features.profiles[entities],
        heads=places[: len(kept)],
        tails=places[len(kept) :],
        relations=features.relations[kept],
        fact_marks=features.fact_marks[kept],
    )


def _as_bytes(relations: Floats, examples: Sequence[Learnt]) -> Iterator[bytes]:
    yield relations.tobytes()
    for example in examples:
        known = example.gold if isinstance(example, RankedFacts) else example.told
        for part in (known, example.features.relations, example.features.tokens):
            yield part.tobytes()
