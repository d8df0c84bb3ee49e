"""Train a head: an adapter of the embedded reasoner's vectors that tells right paths of a question from wrong ones.

An example is a question with all paths that it could mean, and how right each is. Right paths have to score higher
than all others, and than refusing. The loss is the negative logarithm of the expected squared hit under p(path), the
softmax of the scores: its gradient draws p towards p * hit^2 (marginal likelihood over the paths that reach an
answer). If one path is known to be meant, it is the usual cross entropy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.trained_weights import MAX_LENGTH, PARTS, Adapter, RelationAdapter
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import step_text
from app.reader.step import MIN_SCORE
from evaluation.training.network_fitting import logsumexp_of_groups, seed_torch
from kg_store.text.words import asked_words

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Tell = Callable[[float, float], None]
"""Is called after each epoch with the share done of the longest training, and the loss on held-out examples."""

HELD_OUT = 0.1
MIN_EXAMPLES = 20


class TrainingError(Exception):
    """There is nothing to train on. The message says what is missing, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the paths that it could mean; at least one of them is right.

    `question` names its topic by the pseudonym `topic`, a thing of `concept`. `right` is 1 for a path that is known to
    be meant, else the share of its ends that are answers. Examples of one `group` (a topic, a schema) are held out
    together.
    """

    question: str
    topic: str
    concept: str
    paths: tuple[WordedPath, ...]
    right: tuple[float, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Examples as arrays; all paths are rows of one table.

    `asked`: vectors of the questions, (examples, dimensions). `steps`: vectors of all steps, (steps, dimensions).
    `counts`: the steps of each path, (paths, longest), filled up with -1. `base`: the score of each path without the
    similarity of question and whole path, (paths,); `weight`: how much that similarity counts, (paths,). `right`: as
    in `Example`, (paths,). `first`: where each example's paths begin, (examples + 1,).
    """

    asked: Floats
    steps: Floats
    counts: Ints
    base: Floats
    weight: Floats
    right: Floats
    first: Ints


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained head, and how right the best paths of held-out examples were on average, before and with it."""

    head: RelationAdapter
    examples: int
    held_out: int
    before: float
    after: float


def train(
    embedder: Embedder, examples: Sequence[Example], seed: int, tell: Tell = lambda _done, _loss: None
) -> Trained:
    """Trains a head, stopping when held-out groups no longer improve. Raises TrainingError.

    The same examples and seed give the same head on one machine.
    """
    # Groups are chosen by hash, so that the same ones are held out whatever else is in the set.
    first = [hashlib.sha256(f"{seed} {example.group}".encode()).digest()[0] for example in examples]
    held = [row for row, byte in enumerate(first) if byte < 256 * HELD_OUT]
    rest = sorted(set(range(len(examples))) - set(held))
    if len(examples) < MIN_EXAMPLES or not held or not rest:
        raise TrainingError(
            f"there are too few questions to learn from: at least {MIN_EXAMPLES} of several topics are needed, "
            "whose gold plan is one path from one topic, or whose answers a path from it reaches"
        )
    head, before, after = fit(prepare(embedder, examples), rest, held, seed, tell)
    return Trained(head, len(rest), len(held), before, after)


def prepare(embedder: Embedder, examples: Sequence[Example]) -> Prepared:
    """Computes everything about `examples` that training does not change."""
    # One head sets every similarity to 0, the other to 1; the difference is the weight of the similarity.
    without, full = (PathScorer(embedder, head=RelationAdapter(gain=0.0, offset=offset)) for offset in (0.0, 1.0))
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    base, weight = [], []
    for example in examples:
        ways = [[*zip(path.steps, path.concepts, strict=True)] for path in example.paths]
        rows += [[texts.setdefault(step_text(*step), len(texts)) for step in way] for way in ways]
        asked = example.question, example.topic, example.concept, example.paths
        base.append(without.scores(*asked))
        weight.append(full.scores(*asked) - base[-1])
    longest = max(map(len, rows))
    return Prepared(
        asked=embedder.sentences([asked_words(example.question) for example in examples]),
        steps=embedder.sentences(list(texts)),
        counts=np.array([[*row, *[-1] * (longest - len(row))] for row in rows]),
        base=np.concatenate(base).astype(np.float32),
        weight=np.concatenate(weight).astype(np.float32),
        right=np.array([share for example in examples for share in example.right], dtype=np.float32),
        first=np.cumsum([0, *(len(example.paths) for example in examples)]),
    )


MIN_SHARE: Final = 1e-9
RANK: Final = 16
EPOCHS: Final = 60
BATCH: Final = 32
RATE: Final = 2e-3
PULL: Final = 0.0005
"""The weight of the penalty that draws the adapters back to the untrained vectors."""
TEMPERATURE: Final = 0.2
PATIENCE: Final = 6
"""The number of epochs without a lower loss after which training ends."""

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


def fit(
    data: Prepared, train: Sequence[int], held_out: Sequence[int], seed: int, tell: Tell
) -> tuple[RelationAdapter, float, float]:
    """Returns the head with the least loss on the examples `held_out`, and how right their best paths were.

    The two figures are means before and with the head. If training never lowers the loss, the head changes nothing.
    The same input gives the same head.
    """
    seed_torch(seed)
    net = _Net(data)
    every = [*train, *held_out]
    untrained = net.right_first(every)
    draw = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    best, before = net.measured(held_out)
    after, kept, since = before, net.state(), 0
    for epoch in range(1, EPOCHS + 1):
        order = draw.permutation(np.asarray(train))
        for at in range(0, len(order), BATCH):
            optimiser.zero_grad()
            net.loss(order[at : at + BATCH]).backward()  # type: ignore[no-untyped-call]  # torch's own
            optimiser.step()
        loss, hits = net.measured(held_out)
        tell(epoch / EPOCHS, loss)
        since += 1
        if loss < best:
            best, after, kept, since = loss, hits, net.state(), 0
        if since >= PATIENCE:
            break
    net.load_state_dict(kept)
    lower = _room(untrained, net.right_first(every)) / float(data.weight.mean())
    return net.head(lower), before, after


def _room(before: Scores, after: Scores) -> float:
    """Returns by how much scores of the trained head may be lowered, to refuse questions that no path answers.

    `before` and `after` are scores of right paths without and with the head. Lowered scores stay at least as high on
    average as `before`, and go only half of the way to where one right path in a thousand is refused, because paths of
    new questions score lower.
    """
    if not len(before) or not len(after):
        return 0.0
    return max(0.0, min(float(after.mean() - before.mean()), (float(np.quantile(after, 0.001)) - MIN_SCORE) / 2))


class _Net(torch.nn.Module):
    """Scores like PathScorer's, with the similarity of question and whole path as a function of the adapters."""

    def __init__(self, data: Prepared) -> None:
        super().__init__()
        self._data = data
        self._refusing = torch.tensor(MIN_SCORE / TEMPERATURE)
        dims = data.asked.shape[1]
        self._asked = torch.from_numpy(data.asked)
        # The last row is zeros, for the index -1, which means "no step".
        self._steps = torch.cat([torch.from_numpy(data.steps), torch.zeros(1, dims)])
        self.down = torch.nn.ParameterDict(
            {part: torch.nn.Parameter(torch.randn(dims, RANK) / dims**0.5) for part in PARTS}
        )
        self.up = torch.nn.ParameterDict({part: torch.nn.Parameter(torch.zeros(RANK, dims)) for part in PARTS})
        self.hops = torch.nn.Parameter(torch.zeros(dims, MAX_LENGTH))
        self.gain = torch.nn.Parameter(torch.zeros(()))
        self.offset = torch.nn.Parameter(torch.zeros(()))

    def loss(self, rows: Rows) -> torch.Tensor:
        moved = sum((self.down[part] @ self.up[part]).square().sum() for part in self.up)
        result: torch.Tensor = self._losses(*self._scores(rows)).mean() + PULL * (moved + self.hops.square().sum())
        return result

    @torch.no_grad()
    def measured(self, rows: Sequence[int]) -> tuple[float, float]:
        """Returns the mean loss without the penalty, and how right the best paths are on average (0 if refused)."""
        losses, hits = [], []
        for row in rows:
            scores, right, owner = self._scores(np.array([row]))
            losses.append(float(self._losses(scores, right, owner)))
            hits.append(float(right[int(scores.argmax())]) if float(scores.max()) >= MIN_SCORE else 0.0)
        return (float(np.mean(losses)), float(np.mean(hits))) if losses else (0.0, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {name: value.detach().clone() for name, value in self.state_dict().items()}

    @torch.no_grad()
    def right_first(self, rows: Sequence[int]) -> Scores:
        """Returns the best score of each example whose best path is mostly right; shape (such examples,)."""
        every = [self._scores(np.array([row])) for row in rows]
        return np.array(
            [float(scores.max()) for scores, right, _ in every if float(right[int(scores.argmax())]) > 0.5]
        )

    @torch.no_grad()
    def head(self, lower: float) -> RelationAdapter:
        adapters = {part: Adapter(self.down[part].numpy().copy(), self.up[part].numpy().copy()) for part in PARTS}
        return RelationAdapter(adapters, float(self.gain.exp()), float(self.offset) - lower, self.hops.numpy().copy())

    def _losses(self, scores: torch.Tensor, right: torch.Tensor, owner: torch.Tensor) -> torch.Tensor:
        """Returns the loss of each example."""
        logits, examples = scores / TEMPERATURE, int(owner[-1]) + 1
        every = torch.logaddexp(logsumexp_of_groups(logits, owner, examples), self._refusing)
        # A path without a hit gets a tiny share instead of 0, so that the logarithm is finite.
        squared = 2 * right.clamp(min=MIN_SHARE).log()
        return every - logsumexp_of_groups(logits + squared, owner, examples)

    def _scores(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns the score of each path of the examples `rows`, how right it is, and the index of its example."""
        data, first = self._data, self._data.first
        place = torch.from_numpy(np.concatenate([np.arange(first[row], first[row + 1]) for row in rows]))
        owner = torch.from_numpy(np.repeat(np.arange(len(rows)), first[rows + 1] - first[rows]))
        base, weight, right, counts = (
            torch.from_numpy(each)[place] for each in (data.base, data.weight, data.right, data.counts)
        )
        used, rank = torch.unique(counts, return_inverse=True)
        asked = self._asked[torch.from_numpy(rows)]
        sums = self._moved("step", self._steps[used])[rank].sum(dim=1)
        near = (torch.nn.functional.normalize(sums, dim=1) * self._moved("question", asked)[owner]).sum(dim=1)
        length = (counts >= 0).sum(dim=1).clamp(max=MAX_LENGTH) - 1
        hops = (asked @ self.hops)[owner, length]
        return base + weight * (self.gain.exp() * near + self.offset + hops), right, owner

    def _moved(self, part: str, vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors + (vectors @ self.down[part]) @ self.up[part], dim=1)
