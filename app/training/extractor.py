"""Fits the extractor's network to texts whose spans are known, a block of texts at a time.

Each word may begin or end an answer, so that a text may hold several (binary cross entropy over its words), and a
question has no answer or has one (binary cross entropy). The lower layers of the sentence model are frozen.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from app.extractor.features import SpanFeatureMaker, SpanFeatures
from app.extractor.network import ExtractorConfig, ExtractorWeights, padded
from app.training.extractor_network import ExtractorNetwork
from app.training.retriever import CheckpointError

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """Implements `Question` of the extractor. `spans`: where its answers lie in the context; none: impossible."""

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    spans: tuple[tuple[int, int], ...]

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.context[start:end] for start, end in self.spans))


@dataclass(frozen=True, slots=True)
class ExtractorTraining:
    """Settings of the training. `block`: so many texts are embedded at a time. `saved`: a checkpoint is written after
    so many blocks. `words_weight`: of the loss of the words against that of no answer."""

    epochs: int = 1
    batch: int = 32
    rate: float = 1e-3
    warm_up: int = 100
    decay: float = 0.01
    dropout: float = 0.0
    longest_step: float = 1.0
    block: int = 512
    saved: int = 8
    words_weight: float = 0.5


@dataclass(frozen=True, slots=True)
class ExtractorProgress:
    """`blocks` done of `all_blocks`, the latest with `loss`."""

    blocks: int
    all_blocks: int
    loss: float


def fit_extractor(
    questions: Sequence[LabelledQuestion],
    maker: SpanFeatureMaker,
    config: ExtractorConfig,
    seed: int,
    how: ExtractorTraining | None = None,
    tell: Callable[[ExtractorProgress], None] = lambda _progress: None,
    checkpoint: Path | None = None,
) -> ExtractorWeights:
    """The same input gives the same numbers. `checkpoint`: where it is there, the training goes on from it, and ends
    with the same ones as one that was never interrupted. Raises CheckpointError where it is of another training."""
    how = how or ExtractorTraining()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    training = _Training(questions, maker, ExtractorNetwork(config, how.dropout), seed, how)
    done = training.resume(checkpoint) if checkpoint else 0
    for number in range(done, training.all_blocks):
        tell(ExtractorProgress(number + 1, training.all_blocks, training.run_block(number)))
        if checkpoint and ((number + 1) % how.saved == 0 or number + 1 == training.all_blocks):
            training.save(checkpoint, number + 1)
    return training.network.weights()


class _Training:
    """Chance begins anew in each block, by seed and number: so a block is the same after an interruption."""

    def __init__(
        self,
        questions: Sequence[LabelledQuestion],
        maker: SpanFeatureMaker,
        network: ExtractorNetwork,
        seed: int,
        how: ExtractorTraining,
    ) -> None:
        self.network = network
        self._questions, self._maker, self._seed, self._how = questions, maker, seed, how
        by_text: dict[str, list[LabelledQuestion]] = defaultdict(list)
        for each in questions:
            by_text[each.context].append(each)
        self._texts = list(by_text.values())
        self._blocks = -(-len(self._texts) // how.block)
        self._optimiser = torch.optim.AdamW(network.parameters(), lr=how.rate, weight_decay=how.decay)

    @property
    def all_blocks(self) -> int:
        return self._blocks * self._how.epochs

    def run_block(self, number: int) -> float:
        """The mean loss of its batches."""
        epoch, block = divmod(number, self._blocks)
        order = np.random.default_rng((self._seed, epoch)).permutation(len(self._texts))
        draw = np.random.default_rng((self._seed, epoch, block))
        torch.manual_seed(int(draw.integers(2**31)))
        texts = order[block * self._how.block : (block + 1) * self._how.block]
        questions = [each for row in texts for each in self._texts[row]]
        made = zip(self._maker.make(questions), questions, strict=True)
        examples = [(features, question) for features, question in made if features.context.texts]
        # Those of like length run together, and chance decides which comes first.
        lengths = np.array([len(features.marks) for features, _ in examples]) + draw.random(len(examples)) * 4
        rows = np.argsort(lengths)
        batches = [rows[start : start + self._how.batch] for start in range(0, len(rows), self._how.batch)]
        self.network.train()
        losses = [
            self._step([examples[row] for row in batches[at]], (number + done / len(batches)) / self.all_blocks)
            for done, at in enumerate(draw.permutation(len(batches)))
        ]
        return float(np.mean(losses))

    def save(self, file: Path, blocks: int) -> None:
        """Whole or not at all."""
        state = {
            "training": self._fingerprint(),
            "blocks": blocks,
            "steps": self._steps,
            "network": self.network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }
        part = file.with_name(f"{file.name}.part")
        torch.save(state, part)
        os.replace(part, file)

    def resume(self, file: Path) -> int:
        """The number of blocks that are done already."""
        if not file.is_file():
            return 0
        try:
            state: dict[str, Any] = torch.load(file, weights_only=True)
        except Exception:
            # torch raises many kinds of errors for files that are not its own.
            raise CheckpointError("the checkpoint can't be read: delete it to begin anew") from None
        if state.get("training") != self._fingerprint():
            raise CheckpointError("the checkpoint is of other pairs or another seed: delete it to begin anew")
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._steps = int(state["steps"])
        return int(state["blocks"])

    _steps = 0

    def _step(self, examples: Sequence[tuple[SpanFeatures, LabelledQuestion]], done: float) -> float:
        """`done`: the share of the training that is behind it."""
        self._steps += 1
        for group in self._optimiser.param_groups:
            group["lr"] = self._how.rate * min(1.0, self._steps / self._how.warm_up) * (1 - done)
        of = padded([features for features, _ in examples])
        with torch.autocast("cpu", torch.bfloat16):
            spans, none = (scores.float() for scores in self.network(of))
        wanted, is_word = targets(examples, spans.shape[1])
        words = cross_entropy(spans, torch.from_numpy(wanted), reduction="none") * torch.from_numpy(is_word)[..., None]
        impossible = torch.tensor([float(not question.spans) for _, question in examples])
        loss = cross_entropy(none, impossible) + self._how.words_weight * words.sum() / len(examples)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._how.longest_step)
        self._optimiser.step()
        return float(loss.detach())

    def _fingerprint(self) -> str:
        """Of all that the result depends on."""
        told = hashlib.sha256(repr((self._seed, asdict(self._how), asdict(self.network.config))).encode())
        for each in self._questions:
            told.update(repr((each.context, each.known, each.relation, each.unknown_is_head, each.spans)).encode())
        return told.hexdigest()


def targets(examples: Sequence[tuple[SpanFeatures, LabelledQuestion]], words: int) -> tuple[Floats, Floats]:
    """Begins and ends of the answers, shape (questions, words, 2), and 1 where a word is, (questions, words)."""
    wanted = np.zeros((len(examples), words, 2), np.float32)
    is_word = np.zeros((len(examples), words), np.float32)
    for row, (features, question) in enumerate(examples):
        is_word[row, : len(features.marks)] = 1
        for at, (start, end) in enumerate(features.context.spans):
            wanted[row, at, 0] = any(start == begin for begin, _ in question.spans)
            wanted[row, at, 1] = any(end == until for _, until in question.spans)
    return wanted, is_word
