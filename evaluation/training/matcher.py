"""Adapts the sentence model itself by low rank, so that a question lies near to the path that answers it.

A pair's path has to outscore those of the other pairs in its batch, and one sibling of each (InfoNCE: van den Oord et
al., 2018, section 2.3). The layers below are frozen, and so is all but the added maps (LoRA: Hu et al., ICLR 2022).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from app.llm.embeddings.model_files import find_model
from app.llm.embeddings.torch_encoder import TorchEncoder
from evaluation.training.matcher_pairs import MatcherPairs, Pair

Maps = dict[str, tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]
_LINEAR = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "intermediate.dense", "output.dense",
)  # fmt: skip
RUN = 64


@dataclass(frozen=True, slots=True)
class MatcherConfig:
    """Settings of the training. `kinds`: in which share of the batches a step's text holds what the step leads to.

    `dropped`: the share of a question's words that are left out, as the linker takes words for names, too. `longer`:
    for which share of the pairs a path of two steps stands among the wrong ones.
    """

    rank: int = 16
    layers: int = 3
    batch: int = 64
    steps: int = 420
    rate: float = 4e-4
    warm_up: int = 30
    scale: float = 20.0
    kinds: float = 0.5
    dropped: float = 0.1
    longer: float = 0.5


def open_encoder(model: str) -> TorchEncoder:
    """The sentence model of a name or folder, on torch."""
    found = find_model(model)
    return TorchEncoder(str(found.path) if found else model)


def fit_matcher(
    encoder: TorchEncoder,
    data: MatcherPairs,
    seed: int,
    how: MatcherConfig | None = None,
    tell: Callable[[int, float], None] = lambda _step, _loss: None,
) -> Maps:
    """The maps to add, by their place in the network; `tell` gets each step with its loss. It changes `encoder`."""
    how = how or MatcherConfig()
    torch.manual_seed(seed)
    draw = random.Random(seed)  # noqa: S311  # a training, no secret  # nosec B311
    net = _Net(encoder, how)
    optimiser = torch.optim.AdamW(net.parameters, lr=how.rate, weight_decay=0.0)
    for step in range(how.steps):
        for group in optimiser.param_groups:
            group["lr"] = how.rate * min(1.0, (step + 1) / how.warm_up) * (1 - step / how.steps)
        pairs = [data.pairs[(step * how.batch + at) % len(data.pairs)] for at in range(how.batch)]
        loss = _loss(net, data, pairs, draw, how)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        optimiser.step()
        tell(step + 1, float(loss.detach()))
    return net.maps()


def _loss(
    net: _Net, data: MatcherPairs, pairs: Sequence[Pair], draw: random.Random, how: MatcherConfig
) -> torch.Tensor:
    gold = [pair.way for pair in pairs]
    others = [draw.choice(data.siblings[way] or gold) for way in gold]
    columns = list(dict.fromkeys([*gold, *others]))
    told = int(draw.random() < how.kinds)
    texts = [[step[told] for step in data.ways[way]] for way in columns]
    for way, other in zip(gold, others, strict=True):
        if draw.random() < how.longer and len(data.ways[way]) == 1:
            first = way if draw.random() < 0.5 else draw.choice(others)
            texts.append([data.ways[first][0][told], data.ways[other][0][told]])
    asked = net.vectors([_with_words_dropped(pair.question, draw, how.dropped) for pair in pairs])
    right = torch.tensor([columns.index(way) for way in gold])
    return torch.nn.functional.cross_entropy(how.scale * asked @ net.sums(texts).T, right)


def _with_words_dropped(question: str, draw: random.Random, share: float) -> str:
    return " ".join(word for word in question.split() if draw.random() >= share) or question


class _LowRank(torch.nn.Module):
    """A frozen linear map with a map of low rank beside it."""

    def __init__(self, linear: Any, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = torch.nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.up = torch.nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.linear(given) + (given @ self.down.T) @ self.up.T
        return result


class _Net:
    """The sentence model with low-rank maps in its top layers."""

    def __init__(self, encoder: TorchEncoder, how: MatcherConfig) -> None:
        self._encoder, self._network = encoder, encoder.network.eval()
        for parameter in self._network.parameters():
            parameter.requires_grad_(False)
        layers = self._network.encoder.layer
        self._added: dict[str, _LowRank] = {}
        for number in range(len(layers) - how.layers, len(layers)):
            for name in _LINEAR:
                *way, last = name.split(".")
                parent = layers[number]
                for part in way:
                    parent = getattr(parent, part)
                added = _LowRank(getattr(parent, last), how.rank)
                setattr(parent, last, added)
                self._added[f"encoder.layer.{number}.{name}"] = added

    @property
    def parameters(self) -> list[torch.nn.Parameter]:
        return [each for added in self._added.values() for each in (added.down, added.up)]

    def maps(self) -> Maps:
        return {
            place: (added.up.detach().numpy().copy(), added.down.detach().numpy().copy())
            for place, added in self._added.items()
        }

    def vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Unit vectors; shape (texts, dimensions). Texts of like length run together, so little is padded."""
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        runs = [self._run([texts[at] for at in order[start : start + RUN]]) for start in range(0, len(order), RUN)]
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(runs)[back]

    def sums(self, ways: Sequence[Sequence[str]]) -> torch.Tensor:
        """The unit sum of each way's steps; shape (ways, dimensions)."""
        rows = {text: row for row, text in enumerate(dict.fromkeys(text for way in ways for text in way))}
        steps = self.vectors(list(rows))
        sums = torch.stack([steps[[rows[text] for text in way]].sum(dim=0) for way in ways])
        return torch.nn.functional.normalize(sums, dim=1)

    def _run(self, texts: Sequence[str]) -> torch.Tensor:
        features = self._encoder.features(texts)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self._network(**features)[0]
        seen = features["attention_mask"][..., None].float()
        mean = (hidden.float() * seen).sum(dim=1) / seen.sum(dim=1)
        return torch.nn.functional.normalize(mean, dim=1)
