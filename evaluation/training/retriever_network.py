"""The network of `app.retriever.network` on torch, to be trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from app.retriever.features import ENTITY_MARKS, FACT_MARKS, MAX_AGO, Bags, Features
from app.retriever.network import ATTENTION_WIDTH, TURN_WIDTH, NetworkConfig, RetrieverWeights


@dataclass(frozen=True, slots=True)
class Batch:
    """Features of several queries, one after the other. `token_query`, `fact_query`: whose each token and fact is."""

    queries: int
    tokens: Tensor
    token_ago: Tensor
    token_speaker: Tensor
    token_query: Tensor
    mentioned: Tensor
    mentions: Tensor
    entity_marks: Tensor
    profiles: Tensor
    outgoing: tuple[Tensor, Tensor]
    incoming: tuple[Tensor, Tensor]
    heads: Tensor
    tails: Tensor
    relations: Tensor
    fact_marks: Tensor
    fact_query: Tensor


def batch_of(queries: Sequence[Features]) -> Batch:
    entities = _offsets([len(each.entity_marks) for each in queries])
    profiles = _offsets([len(each.outgoing.starts) for each in queries])

    def joined(parts: Sequence[npt.NDArray[Any]]) -> Tensor:
        return torch.from_numpy(np.concatenate(parts))

    def moved(name: str, by: Sequence[int]) -> Tensor:
        return joined([getattr(each, name) + start for each, start in zip(queries, by, strict=True)])

    def owner(name: str) -> Tensor:
        return torch.from_numpy(np.repeat(np.arange(len(queries)), [len(getattr(each, name)) for each in queries]))

    def bags(parts: Sequence[Bags]) -> tuple[Tensor, Tensor]:
        rows = _offsets([len(each.rows) for each in parts])
        starts = [each.starts + start for each, start in zip(parts, rows, strict=True)]
        return joined([each.rows for each in parts]), joined(starts)

    return Batch(
        queries=len(queries),
        tokens=joined([each.tokens for each in queries]),
        token_ago=joined([each.token_ago for each in queries]),
        token_speaker=joined([each.token_speaker for each in queries]),
        token_query=owner("tokens"),
        mentioned=moved("mentioned", entities),
        mentions=joined([each.mentions for each in queries]),
        entity_marks=joined([each.entity_marks for each in queries]),
        profiles=moved("profiles", profiles),
        outgoing=bags([each.outgoing for each in queries]),
        incoming=bags([each.incoming for each in queries]),
        heads=moved("heads", entities),
        tails=moved("tails", entities),
        relations=joined([each.relations for each in queries]),
        fact_marks=joined([each.fact_marks for each in queries]),
        fact_query=owner("heads"),
    )


class RetrieverNetwork(nn.Module):
    """Scores facts; the sentence model below is frozen."""

    def __init__(self, config: NetworkConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        words, width = config.dimensions, config.width
        self.ago, self.speaker = nn.Embedding(MAX_AGO + 1, TURN_WIDTH), nn.Embedding(2, TURN_WIDTH)
        self.attention = nn.Sequential(
            nn.Linear(words + 2 * TURN_WIDTH, ATTENTION_WIDTH), nn.ReLU(), nn.Linear(ATTENTION_WIDTH, 1)
        )
        self.context = nn.Sequential(nn.Linear(words, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width))
        if config.trained_relations:
            self.table: nn.Embedding | None = nn.Embedding(config.trained_relations, width)
        else:
            self.table = None
        said = width if config.trained_relations else words
        self.relation, self.dual = nn.Linear(said, width), nn.Linear(width, width)
        self.dual_message = nn.Linear(width, width, bias=False)
        self.mention, self.mark = nn.Linear(words, width, bias=False), nn.Linear(ENTITY_MARKS, width)
        self.outgoing, self.incoming = (nn.Linear(said, width, bias=False) for _ in range(2))
        self.own = nn.ModuleList(nn.Linear(width, width) for _ in range(config.layers))
        self.message = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(config.layers))
        self.head, self.tail = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.edge, self.fact_mark = nn.Linear(width, width, bias=False), nn.Linear(FACT_MARKS, width)
        self.dropout, self.triple = nn.Dropout(dropout), nn.Linear(width, width)

    def forward(self, batch: Batch, relations: Tensor) -> Tensor:
        """One score a fact; `relations`: the table of all vectors, shape (rows, dimensions)."""
        words = relations if self.table is None else self.table.weight
        facts = batch.heads, batch.tails
        nodes = self._nodes(batch, words)
        ends = torch.cat(facts)
        degree = torch.ones(len(nodes)).index_add(0, ends, torch.ones(len(ends)))
        hidden: Tensor = self.head.bias.expand(len(batch.heads), -1)
        if self.config.nodes:
            if self.config.messages:
                nodes = self._convolved(nodes, facts, degree)
            hidden = self.head(nodes)[batch.heads] + self.tail(nodes)[batch.tails]
        if self.config.edges:
            marks = batch.fact_marks
            if self.table is not None:
                # Their words are unknown to it, and so is what these are like.
                marks = torch.cat([marks[:, :2], torch.zeros_like(marks[:, 2:])], dim=1)
            hidden = hidden + self.edge(self._edges(batch, words, facts, degree)) + self.fact_mark(marks)
        hidden = self.dropout(torch.relu(hidden))
        context = self._context(batch)[batch.fact_query]
        scores: Tensor = (self.triple(hidden) * context).sum(dim=1) / self.config.width**0.5
        return scores

    def weights(self) -> RetrieverWeights:
        arrays = {name: value.detach().numpy().copy() for name, value in sorted(self.state_dict().items())}
        return RetrieverWeights(self.config, arrays)

    def _context(self, batch: Batch) -> Tensor:
        told = torch.cat([batch.tokens, self.ago(batch.token_ago), self.speaker(batch.token_speaker)], dim=1)
        weights = softmax_of_groups(self.attention(told)[:, 0], batch.token_query, batch.queries)
        pooled = torch.zeros(batch.queries, batch.tokens.shape[1])
        result: Tensor = self.context(pooled.index_add(0, batch.token_query, weights[:, None] * batch.tokens))
        return result

    def _nodes(self, batch: Batch, words: Tensor) -> Tensor:
        profiles = sum(
            functional.embedding_bag(rows, part(words), starts, mode="mean")
            for part, (rows, starts) in ((self.outgoing, batch.outgoing), (self.incoming, batch.incoming))
        )
        assert isinstance(profiles, Tensor)
        nodes: Tensor = self.mark(batch.entity_marks) + profiles[batch.profiles]
        nodes = nodes.index_add(0, batch.mentioned, self.mention(batch.mentions))
        return torch.relu(nodes)

    def _convolved(self, nodes: Tensor, facts: tuple[Tensor, Tensor], degree: Tensor) -> Tensor:
        heads, tails = facts
        share = (degree[heads] * degree[tails]).rsqrt()[:, None]
        for own, message in zip(self.own, self.message, strict=True):
            sent = message(nodes)
            received = (sent / degree[:, None]).index_add(0, heads, sent[tails] * share)
            nodes = torch.relu(own(nodes) + received.index_add(0, tails, sent[heads] * share))
        return nodes

    def _edges(self, batch: Batch, words: Tensor, facts: tuple[Tensor, Tensor], degree: Tensor) -> Tensor:
        relations = torch.relu(self.relation(words))
        edges: Tensor = self.dual(relations)[batch.relations]
        if self.config.messages:
            heads, tails = facts
            sent = self.dual_message(relations)[batch.relations]
            around = torch.zeros(len(degree), sent.shape[1]).index_add(0, heads, sent).index_add(0, tails, sent)
            around = around / degree[:, None]
            edges = edges + 0.5 * (around[heads] + around[tails])
        result: Tensor = torch.relu(edges)
        return result


def softmax_of_groups(logits: Tensor, group: Tensor, groups: int) -> Tensor:
    return (logits - logsumexp_of_groups(logits, group, groups)[group]).exp()


def logsumexp_of_groups(logits: Tensor, group: Tensor, groups: int) -> Tensor:
    """One a group; -inf counts for nothing."""
    highest = torch.full((groups,), -torch.inf).scatter_reduce(0, group, logits.detach(), "amax")
    total = torch.zeros(groups).index_add(0, group, (logits - highest[group]).exp())
    return highest + total.log()


def _offsets(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts).tolist()][:-1]
