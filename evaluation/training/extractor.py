"""Fits the extractor's network to texts whose spans are known, a block of texts at a time.

Each word may begin or end an answer, so that a text may hold several (binary cross entropy over its words), and a
question has no answer or has one (binary cross entropy). The lower layers of the sentence model are frozen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from app.extractor.features import SpanFeatureMaker, SpanFeatures
from app.extractor.network import ExtractorConfig, ExtractorWeights, padded
from evaluation.training.extractor_network import ExtractorNetwork
from evaluation.training.network_fitting import (
    FittingProgress,
    NetworkFitting,
    fingerprint_of,
    seed_torch,
    seeded_draw,
)

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


def fit_extractor(
    questions: Sequence[LabelledQuestion],
    maker: SpanFeatureMaker,
    config: ExtractorConfig,
    seed: int,
    how: ExtractorTraining | None = None,
    tell: Callable[[FittingProgress], None] = lambda _progress: None,
    checkpoint: Path | None = None,
) -> ExtractorWeights:
    """The same input gives the same numbers. `tell` gets each block.

    `checkpoint`: where it is there, the training goes on from it, and ends with the same ones as one that was never
    interrupted. Raises CheckpointError where it is of another training.
    """
    how = how or ExtractorTraining()
    seed_torch(seed)
    training = _Training(questions, maker, ExtractorNetwork(config, how.dropout), seed, how)
    training.run(tell, checkpoint)
    return training.network.weights()


class _Training:
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
        self._all_blocks = self._blocks * how.epochs
        self._fitting = NetworkFitting(network, how, self._fingerprint, "pairs")

    def run(self, tell: Callable[[FittingProgress], None], checkpoint: Path | None) -> None:
        def run_block(number: int) -> None:
            tell(FittingProgress(number + 1, self._all_blocks, self._run_block(number)))

        self._fitting.run(self._all_blocks, run_block, checkpoint, saved=self._how.saved)

    def _run_block(self, number: int) -> float:
        """The mean loss of its batches."""
        epoch, block = divmod(number, self._blocks)
        order = np.random.default_rng((self._seed, epoch)).permutation(len(self._texts))
        draw = seeded_draw(self._seed, epoch, block)
        texts = order[block * self._how.block : (block + 1) * self._how.block]
        questions = [each for row in texts for each in self._texts[row]]
        made = zip(self._maker.make(questions), questions, strict=True)
        examples = [(features, question) for features, question in made if features.context.texts]
        # Those of like length run together, and chance decides which comes first.
        lengths = np.array([len(features.marks) for features, _ in examples]) + draw.random(len(examples)) * 4
        rows = np.argsort(lengths)
        batches = [rows[start : start + self._how.batch] for start in range(0, len(rows), self._how.batch)]
        losses = [
            self._fitting.step(
                self._loss([examples[row] for row in batches[at]]), (number + done / len(batches)) / self._all_blocks
            )
            for done, at in enumerate(draw.permutation(len(batches)))
        ]
        return float(np.mean(losses))

    def _loss(self, examples: Sequence[tuple[SpanFeatures, LabelledQuestion]]) -> torch.Tensor:
        of = padded([features for features, _ in examples])
        with torch.autocast("cpu", torch.bfloat16):
            spans, none = (scores.float() for scores in self.network(of))
        wanted, is_word = targets(examples, spans.shape[1])
        words = cross_entropy(spans, torch.from_numpy(wanted), reduction="none") * torch.from_numpy(is_word)[..., None]
        impossible = torch.tensor([float(not question.spans) for _, question in examples])
        return cross_entropy(none, impossible) + self._how.words_weight * words.sum() / len(examples)

    def _fingerprint(self) -> str:
        return fingerprint_of(self._seed, self._how, self.network.config, self._learnt())

    def _learnt(self) -> Iterator[bytes]:
        for each in self._questions:
            yield repr((each.context, each.known, each.relation, each.unknown_is_head, each.spans)).encode()


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
