"""Fits the retriever's network to dialogues: to the facts that their replies use, or to the replies themselves.

Where the facts are known, any of them is right: the loss is the cross entropy of all their probability together. Where
they are not, it is that of the reply over sampled sets of facts (SURGE, section 3.6). Large candidate sets are thinned
out at random, anew in each epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch

from app.retriever.features import Features
from app.retriever.network import NetworkConfig, RetrieverWeights
from evaluation.training.network_fitting import (
    FittingProgress,
    NetworkFitting,
    fingerprint_of,
    seed_torch,
    seeded_draw,
)
from evaluation.training.retriever_network import RetrieverNetwork, batch_of, logsumexp_of_groups

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RankedFacts:
    """One query's features, and which of its facts are right: at least one; shape (facts,)."""

    features: Features = field(repr=False)
    gold: Flags = field(repr=False)


@dataclass(frozen=True, slots=True)
class RepliedFacts:
    """One query's features, and its reply word by word: the chance of each word where it is taken from a fact, shape
    (facts, words), and where it is not, shape (words,)."""

    features: Features = field(repr=False)
    told: Floats = field(repr=False)
    otherwise: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class RetrieverTraining:
    """Settings of the training. `unknown_relations`: this share of the relations has no vector in a step, so that what
    a turn says of a relation counts too. `candidates`: so many facts of a query are looked at in one epoch at most.
    `samples`, `sampled_facts`: where only replies are known, so many sets of so many facts are drawn for each."""

    epochs: int = 4
    batch: int = 16
    rate: float = 1e-3
    warm_up: int = 50
    decay: float = 0.1
    dropout: float = 0.4
    unknown_relations: float = 0.2
    longest_step: float = 1.0
    candidates: int = 300
    samples: int = 4
    sampled_facts: int = 3


def fit_retriever(
    examples: Sequence[RankedFacts | RepliedFacts],
    relations: npt.NDArray[np.float32],
    config: NetworkConfig,
    seed: int,
    how: RetrieverTraining | None = None,
    tell: Callable[[FittingProgress], None] = lambda _progress: None,
    checkpoint: Path | None = None,
) -> RetrieverWeights:
    """The same input gives the same numbers. `relations`: the vectors of the table that the features refer to.

    `tell` gets each step. `checkpoint`: written after each epoch; where it is there, the training goes on from it, and
    ends with the same ones as one that was never interrupted. Raises CheckpointError where it is of another training.
    """
    how = how or RetrieverTraining()
    seed_torch(seed)
    training = _Training(examples, relations, RetrieverNetwork(config, how.dropout), seed, how)
    training.run(tell, checkpoint)
    return training.network.weights()


class _Training:
    def __init__(
        self,
        examples: Sequence[RankedFacts | RepliedFacts],
        relations: npt.NDArray[np.float32],
        network: RetrieverNetwork,
        seed: int,
        how: RetrieverTraining,
    ) -> None:
        self.network = network
        self._examples, self._relations, self._seed, self._how = examples, torch.from_numpy(relations), seed, how
        self._steps = -(-len(examples) // how.batch)
        self._fitting = NetworkFitting(network, how, self._fingerprint, "dialogues")

    def run(self, tell: Callable[[FittingProgress], None], checkpoint: Path | None) -> None:
        self._fitting.run(self._how.epochs, lambda epoch: self._run_epoch(epoch, tell), checkpoint)

    def _run_epoch(self, epoch: int, tell: Callable[[FittingProgress], None]) -> None:
        draw = seeded_draw(self._seed, epoch)
        order = draw.permutation(len(self._examples))
        for number in range(self._steps):
            step, all_steps = epoch * self._steps + number, self._how.epochs * self._steps
            rows = order[number * self._how.batch : (number + 1) * self._how.batch]
            loss = self._loss([thinned(self._examples[row], self._how.candidates, draw) for row in rows])
            tell(FittingProgress(step + 1, all_steps, self._fitting.step(loss, step / all_steps)))

    def _loss(self, examples: Sequence[RankedFacts | RepliedFacts]) -> torch.Tensor:
        """The mean of the queries'."""
        batch = batch_of([example.features for example in examples])
        is_known = torch.rand(len(self._relations), 1) >= self._how.unknown_relations
        scores = self.network(batch, self._relations * is_known)
        every = logsumexp_of_groups(scores, batch.fact_query, batch.queries)
        chances = (scores - every[batch.fact_query]).split([len(example.features.heads) for example in examples])
        losses = [self._loss_of_one(example, each) for example, each in zip(examples, chances, strict=True)]
        return torch.stack(losses).mean()

    def _loss_of_one(self, example: RankedFacts | RepliedFacts, chances: torch.Tensor) -> torch.Tensor:
        """`chances`: log p(z|x); shape (facts,)."""
        if isinstance(example, RankedFacts):
            return -chances[torch.from_numpy(example.gold)].logsumexp(0)
        drawn = torch.multinomial(
            chances.detach().exp(), self._how.samples * self._how.sampled_facts, replacement=True
        ).view(self._how.samples, self._how.sampled_facts)
        return -(chances[drawn].sum(dim=1) + reply_likelihood(example, drawn)).logsumexp(0)

    def _fingerprint(self) -> str:
        return fingerprint_of(self._seed, self._how, self.network.config, self._learnt())

    def _learnt(self) -> Iterator[bytes]:
        yield self._relations.numpy().tobytes()
        for example in self._examples:
            known = example.gold if isinstance(example, RankedFacts) else example.told
            for part in (known, example.features.relations, example.features.tokens):
                yield part.tobytes()


def reply_likelihood(example: RepliedFacts, drawn: torch.Tensor) -> torch.Tensor:
    """log p(y|x,Z) of each drawn set of facts, shape (sets, facts of a set): half of the words are taken from its
    facts, the others are as likely as in any reply; shape (sets,)."""
    from_facts = torch.from_numpy(example.told)[drawn].mean(dim=1)
    return (0.5 * from_facts + 0.5 * torch.from_numpy(example.otherwise)).log().sum(dim=1)


ExampleT = TypeVar("ExampleT", RankedFacts, RepliedFacts)


def thinned(example: ExampleT, most: int, draw: np.random.Generator) -> ExampleT:
    """At most `most` facts, all that are known to be right among them; entities that no fact is left of fall away."""
    features = example.features
    right = np.flatnonzero(example.gold) if isinstance(example, RankedFacts) else np.zeros(0, np.int64)
    if len(features.heads) <= most:
        return example
    rest = np.setdiff1d(np.arange(len(features.heads)), right)
    others = draw.choice(rest, max(0, most - len(right)), replace=False)
    kept = np.sort(np.concatenate([right, others]))
    if isinstance(example, RankedFacts):
        return RankedFacts(_part_of(features, kept), example.gold[kept])
    return RepliedFacts(_part_of(features, kept), example.told[kept], example.otherwise)


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
