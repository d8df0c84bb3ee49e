"""Fits the adapters of whole questions and steps: right paths have to outscore all others, and refusing.

The loss is the negative logarithm of the expected square of the hit under p(path), the softmax of the scores: its
gradient draws p towards p * hit^2 (marginal likelihood over the paths that reach an answer). Where one path is known
to be meant it is the usual cross entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from app.llm.embeddings.adapters import MAX_LENGTH, PARTS, Adapter, RelationAdapter
from app.reader.step import MIN_SCORE
from evaluation.training.examples import Prepared

MIN_SHARE = 1e-9
Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Settings of the training; `pull` draws the adapters back to the untrained vectors."""

    rank: int = 16
    epochs: int = 60
    batch: int = 32
    rate: float = 2e-3
    pull: float = 0.0005
    temperature: float = 0.2
    patience: int = 6


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """The result of one epoch on the held-out examples: mean loss, and how often a right path came first."""

    epoch: int
    loss: float
    hits: float


@dataclass(frozen=True, slots=True)
class TrainedAdapter:
    """A head, and how right the first path of the examples held out was on average, before and with it."""

    head: RelationAdapter
    before: float
    after: float


def fit(
    data: Prepared,
    train: Sequence[int],
    held_out: Sequence[int],
    seed: int,
    how: TrainingConfig | None = None,
    tell: Callable[[TrainingProgress], None] = lambda _progress: None,
) -> TrainedAdapter:
    """The head with the least loss on the examples `held_out`, which is none where training never lowers it.

    The same input gives the same head.
    """
    how = how or TrainingConfig()
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = _Net(data, how)
    every = [*train, *held_out]
    untrained = net.right_first(every)
    draw = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=how.rate)
    best, before = net.measured(held_out)
    after, kept, since = before, net.state(), 0
    for epoch in range(1, how.epochs + 1):
        order = draw.permutation(np.asarray(train))
        for at in range(0, len(order), how.batch):
            optimiser.zero_grad()
            net.loss(order[at : at + how.batch]).backward()  # type: ignore[no-untyped-call]  # torch's own
            optimiser.step()
        loss, hits = net.measured(held_out)
        tell(TrainingProgress(epoch, loss, hits))
        since += 1
        if loss < best:
            best, after, kept, since = loss, hits, net.state(), 0
        if since >= how.patience:
            break
    net.load_state_dict(kept)
    lower = _room(untrained, net.right_first(every)) / float(data.weight.mean())
    return TrainedAdapter(net.head(lower), before, after)


def _room(before: Scores, after: Scores) -> float:
    """By how much scores may sink, so that what no path answers is refused: not below the untrained ones on average,
    and half of the way until one right path in a thousand is refused; paths of new questions score lower."""
    if not len(before) or not len(after):
        return 0.0
    return max(0.0, min(float(after.mean() - before.mean()), (float(np.quantile(after, 0.001)) - MIN_SCORE) / 2))


class _Net(torch.nn.Module):
    """Scores as PathScorer would give them, with the nearness of wholes as a function of the adapters."""

    def __init__(self, data: Prepared, how: TrainingConfig) -> None:
        super().__init__()
        self._data, self._how = data, how
        self._refusing = MIN_SCORE / how.temperature
        dims = data.asked.shape[1]
        self._asked = torch.from_numpy(data.asked)
        self._steps = torch.cat([torch.from_numpy(data.steps), torch.zeros(1, dims)])
        self.down = torch.nn.ParameterDict(
            {part: torch.nn.Parameter(torch.randn(dims, how.rank) / dims**0.5) for part in PARTS}
        )
        self.up = torch.nn.ParameterDict({part: torch.nn.Parameter(torch.zeros(how.rank, dims)) for part in PARTS})
        self.hops = torch.nn.Parameter(torch.zeros(dims, MAX_LENGTH))
        self.gain = torch.nn.Parameter(torch.zeros(()))
        self.offset = torch.nn.Parameter(torch.zeros(()))

    def loss(self, rows: Rows) -> torch.Tensor:
        scores, right, owner = self._scores(rows)
        logits = scores / self._how.temperature
        refusing = torch.tensor(self._refusing)
        every = torch.logaddexp(_logsumexp(logits, owner, len(rows)), refusing)
        good = _logsumexp(logits + _log_squared(right), owner, len(rows))
        moved = sum((self.down[part] @ self.up[part]).square().sum() for part in self.up)
        result: torch.Tensor = (every - good).mean() + self._how.pull * (moved + self.hops.square().sum())
        return result

    @torch.no_grad()
    def measured(self, rows: Sequence[int]) -> tuple[float, float]:
        """Mean loss, without the pull, and how right the best paths are on average where they are answered."""
        losses, hits = [], []
        for row in rows:
            scores, right, _ = self._scores(np.array([row]))
            logits = scores / self._how.temperature
            every = torch.logaddexp(logits.logsumexp(0), torch.tensor(self._refusing))
            losses.append(float(every - (logits + _log_squared(right)).logsumexp(0)))
            hits.append(float(right[int(scores.argmax())]) if float(scores.max()) >= MIN_SCORE else 0.0)
        return (float(np.mean(losses)), float(np.mean(hits))) if losses else (0.0, 0.0)

    def state(self) -> dict[str, Any]:
        return {name: value.detach().clone() for name, value in self.state_dict().items()}

    @torch.no_grad()
    def right_first(self, rows: Sequence[int]) -> Scores:
        """The best score of each example whose best path is mostly right; shape (such examples,)."""
        found = []
        for row in rows:
            scores, right, _ = self._scores(np.array([row]))
            if float(right[int(scores.argmax())]) > 0.5:
                found.append(float(scores.max()))
        return np.array(found)

    @torch.no_grad()
    def head(self, lower: float) -> RelationAdapter:
        adapters = {part: Adapter(self.down[part].numpy().copy(), self.up[part].numpy().copy()) for part in PARTS}
        return RelationAdapter(adapters, float(self.gain.exp()), float(self.offset) - lower, self.hops.numpy().copy())

    def _scores(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        near, place, owner = self._near(rows)
        base, weight = (torch.from_numpy(each)[place] for each in (self._data.base, self._data.weight))
        length = (torch.from_numpy(self._data.counts)[place] >= 0).sum(dim=1).clamp(max=MAX_LENGTH) - 1
        hops = (self._asked[torch.from_numpy(rows)] @ self.hops)[owner, length]
        return (
            base + weight * (self.gain.exp() * near + self.offset + hops),
            torch.from_numpy(self._data.right)[place],
            owner,
        )

    def _near(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The cosines of each path of the examples `rows`; where those paths lie, and whose they are."""
        first = self._data.first
        place = torch.from_numpy(np.concatenate([np.arange(first[row], first[row + 1]) for row in rows]))
        owner = torch.from_numpy(np.repeat(np.arange(len(rows)), first[rows + 1] - first[rows]))
        counts = torch.from_numpy(self._data.counts)[place]
        used, rank = torch.unique(counts, return_inverse=True)
        steps = self._moved("step", self._steps[used])
        asked = self._moved("question", self._asked[torch.from_numpy(rows)])
        # Rows of -1 are no step: the row of zeros, which stays zero.
        sums = steps[rank].sum(dim=1)
        near = (torch.nn.functional.normalize(sums, dim=1) * asked[owner]).sum(dim=1)
        return near, place, owner

    def _moved(self, part: str, vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors + (vectors @ self.down[part]) @ self.up[part], dim=1)


def _log_squared(right: torch.Tensor) -> torch.Tensor:
    """A path that never hits gets next to no share: a number all the same."""
    return 2 * right.clamp(min=MIN_SHARE).log()


def _logsumexp(logits: torch.Tensor, owner: torch.Tensor, count: int) -> torch.Tensor:
    """One a group; numbers of very different size are safe."""
    highest = torch.full((count,), -torch.inf).scatter_reduce(0, owner, logits.detach(), "amax")
    total = torch.zeros(count).scatter_add(0, owner, (logits - highest[owner]).exp())
    return highest + total.log()
