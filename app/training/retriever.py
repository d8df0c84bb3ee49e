"""Fits the retriever's network to dialogues: to the facts that their replies use, or to the replies themselves.

Where the facts are known, any of them is right: the loss is the cross entropy of all their probability together. Where
they are not, it is that of the reply over sampled sets of facts (SURGE, section 3.6). Large candidate sets are thinned
out at random, anew in each epoch.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from app.retriever.features import Features
from app.retriever.network import NetworkConfig, RetrieverWeights
from app.training.retriever_network import RetrieverNetwork, batch_of, logsumexp_of_groups

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


class CheckpointError(Exception):
    """The checkpoint is not of this training. The text says what to do."""


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


@dataclass(frozen=True, slots=True)
class RetrieverProgress:
    """`steps` done of `all_steps`, the latest with `loss`."""

    steps: int
    all_steps: int
    loss: float


def fit_retriever(
    examples: Sequence[RankedFacts | RepliedFacts],
    relations: npt.NDArray[np.float32],
    config: NetworkConfig,
    seed: int,
    how: RetrieverTraining | None = None,
    tell: Callable[[RetrieverProgress], None] = lambda _progress: None,
    checkpoint: Path | None = None,
) -> RetrieverWeights:
    """The same input gives the same numbers. `relations`: the vectors of the table that the features refer to.

    `checkpoint`: written after each epoch; where it is there, the training goes on from it, and ends with the same
    ones as one that was never interrupted. Raises CheckpointError where it is of another training.
    """
    how = how or RetrieverTraining()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    training = _Training(examples, relations, RetrieverNetwork(config, how.dropout), seed, how)
    done = training.resume(checkpoint) if checkpoint else 0
    for epoch in range(done, how.epochs):
        training.run_epoch(epoch, tell)
        if checkpoint:
            training.save(checkpoint, epoch + 1)
    return training.network.weights()


class _Training:
    """Chance begins anew in each epoch, by seed and number: so an epoch is the same after an interruption."""

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
        self._optimiser = torch.optim.AdamW(network.parameters(), lr=how.rate, weight_decay=how.decay)
        self._steps = -(-len(examples) // how.batch)

    def run_epoch(self, epoch: int, tell: Callable[[RetrieverProgress], None]) -> None:
        draw = np.random.default_rng((self._seed, epoch))
        torch.manual_seed(int(draw.integers(2**31)))
        order = draw.permutation(len(self._examples))
        self.network.train()
        for number in range(self._steps):
            step, all_steps = epoch * self._steps + number, self._how.epochs * self._steps
            for group in self._optimiser.param_groups:
                group["lr"] = self._how.rate * min(1.0, (step + 1) / self._how.warm_up) * (1 - step / all_steps)
            rows = order[number * self._how.batch : (number + 1) * self._how.batch]
            loss = self._step([thinned(self._examples[row], self._how.candidates, draw) for row in rows])
            tell(RetrieverProgress(step + 1, all_steps, loss))

    def save(self, file: Path, epochs: int) -> None:
        """Whole or not at all."""
        state = {
            "training": self._fingerprint(),
            "epochs": epochs,
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }
        part = file.with_name(f"{file.name}.part")
        torch.save(state, part)
        os.replace(part, file)

    def resume(self, file: Path) -> int:
        """The number of epochs that are done already."""
        if not file.is_file():
            return 0
        try:
            state: dict[str, Any] = torch.load(file, weights_only=True)
        except Exception:
            # torch raises many kinds of errors for files that are not its own.
            raise CheckpointError("the checkpoint can't be read: delete it to begin anew") from None
        if state.get("training") != self._fingerprint():
            raise CheckpointError("the checkpoint is of other dialogues or another seed: delete it to begin anew")
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        return int(state["epochs"])

    def _step(self, examples: Sequence[RankedFacts | RepliedFacts]) -> float:
        batch = batch_of([example.features for example in examples])
        is_known = torch.rand(len(self._relations), 1) >= self._how.unknown_relations
        scores = self.network(batch, self._relations * is_known)
        every = logsumexp_of_groups(scores, batch.fact_query, batch.queries)
        chances = (scores - every[batch.fact_query]).split([len(example.features.heads) for example in examples])
        losses = [self._loss(example, each) for example, each in zip(examples, chances, strict=True)]
        loss = torch.stack(losses).mean()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._how.longest_step)
        self._optimiser.step()
        return float(loss.detach())

    def _loss(self, example: RankedFacts | RepliedFacts, chances: torch.Tensor) -> torch.Tensor:
        """`chances`: log p(z|x); shape (facts,)."""
        if isinstance(example, RankedFacts):
            return -chances[torch.from_numpy(example.gold)].logsumexp(0)
        drawn = torch.multinomial(
            chances.detach().exp(), self._how.samples * self._how.sampled_facts, replacement=True
        ).view(self._how.samples, self._how.sampled_facts)
        return -(chances[drawn].sum(dim=1) + reply_likelihood(example, drawn)).logsumexp(0)

    def _fingerprint(self) -> str:
        """Of all that the result depends on."""
        told = hashlib.sha256(repr((self._seed, asdict(self._how), asdict(self.network.config))).encode())
        told.update(self._relations.numpy().tobytes())
        for example in self._examples:
            known = example.gold if isinstance(example, RankedFacts) else example.told
            for part in (known, example.features.relations, example.features.tokens):
                told.update(part.tobytes())
        return told.hexdigest()


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
