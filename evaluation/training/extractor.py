"""Fit the extractor's network to texts with known answer spans, a block of texts at a time.

Each word may begin or end an answer, so that a text may hold several; the loss is binary cross entropy over words,
plus that of whether the question has an answer. The lower layers of the sentence model are frozen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from app.extractor.extractor import KINDS, ExtractorConfig, ExtractorWeights, PaddedQuestions, padded, positions
from app.extractor.features import MARKS, SpanFeatureMaker, SpanFeatures
from evaluation.training.network_fitting import (
    FittingProgress,
    NetworkFitting,
    StepSettings,
    Tell,
    seed_torch,
    seeded_draw,
)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with known answers, as the extractor's protocol `Question` wants it.

    `spans` are the answers' places in the context; empty if the question can't be answered.
    """

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    spans: tuple[tuple[int, int], ...]

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.context[start:end] for start, end in self.spans))

    @property
    def as_bytes(self) -> bytes:
        """Returns the question as bytes, for the fingerprint of a training; equal questions give equal bytes."""
        return repr((self.context, self.known, self.relation, self.unknown_is_head, self.spans)).encode()


Example = tuple[SpanFeatures, LabelledQuestion]


@dataclass(frozen=True, slots=True)
class ExtractorTraining(StepSettings):
    """Settings of the training.

    `block`: how many texts are embedded at a time. `saved`: after how many blocks a checkpoint is written.
    `words_weight`: the weight of the words' loss against that of "no answer".
    """

    block: int = 512
    saved: int = 8
    words_weight: float = 0.5


def fit_extractor(
    questions: Sequence[LabelledQuestion],
    maker: SpanFeatureMaker,
    config: ExtractorConfig,
    seed: int,
    how: ExtractorTraining | None = None,
    tell: Tell = lambda _progress: None,
    checkpoint: Path | None = None,
) -> ExtractorWeights:
    """Trains the extractor; the same input gives the same weights. `tell` is called after each block.

    If the file `checkpoint` exists, training continues from it, with the same result as without the interruption.
    Raises CheckpointError if it is of another training.
    """
    how = how or ExtractorTraining()
    seed_torch(seed)
    network = ExtractorNetwork(config, how.dropout)
    fitting = NetworkFitting(network, how, (seed, config), lambda: (each.as_bytes for each in questions), "pairs")
    by_text: dict[str, list[LabelledQuestion]] = defaultdict(list)
    for question in questions:
        by_text[question.context].append(question)
    texts = list(by_text.values())
    blocks = -(-len(texts) // how.block)
    total = blocks * how.epochs

    def run_block(number: int) -> None:
        epoch, block = divmod(number, blocks)
        order = np.random.default_rng((seed, epoch)).permutation(len(texts))
        draw = seeded_draw(seed, epoch, block)
        asked = [each for row in order[block * how.block : (block + 1) * how.block] for each in texts[row]]
        batches = _batches(list(zip(maker.make(asked), asked, strict=True)), how.batch, draw)
        losses = [
            fitting.step(_loss(network, batches[at], how), (number + done / len(batches)) / total)
            for done, at in enumerate(draw.permutation(len(batches)))
        ]
        tell(FittingProgress(number + 1, total, float(np.mean(losses))))

    fitting.run(total, run_block, checkpoint, saved=how.saved)
    return network.weights()


def targets(examples: Sequence[Example], words: int) -> tuple[Floats, Floats]:
    """Returns where answers begin and end, (questions, words, 2), and where words are, (questions, words): 0 or 1."""
    wanted = np.zeros((len(examples), words, 2), np.float32)
    is_word = np.zeros((len(examples), words), np.float32)
    for row, (features, question) in enumerate(examples):
        is_word[row, : len(features.marks)] = 1
        for at, (start, end) in enumerate(features.context.spans):
            wanted[row, at, 0] = any(start == begin for begin, _ in question.spans)
            wanted[row, at, 1] = any(end == until for _, until in question.spans)
    return wanted, is_word


class ExtractorNetwork(nn.Module):
    """The network of `app.extractor.extractor` in torch, without the frozen layers of the sentence model below it."""

    def __init__(self, config: ExtractorConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        words, width, layers = config.dimensions, config.width, range(config.layers)
        self.project = nn.Linear(words, width)
        self.asked, self.match = (nn.Linear(words, width, bias=False) for _ in range(2))
        self.before, self.after = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.mark = nn.Linear(MARKS, width, bias=False)
        self.kind, self.direction = nn.Embedding(KINDS, width), nn.Embedding(2, width)
        self.mix = nn.ModuleList(nn.Linear(width, 3 * width) for _ in layers)
        self.told = nn.ModuleList(nn.Linear(width, width) for _ in layers)
        self.wide = nn.ModuleList(nn.Linear(width, 4 * width) for _ in layers)
        self.narrow = nn.ModuleList(nn.Linear(4 * width, width) for _ in layers)
        self.norm_mix, self.norm_wide = (nn.ModuleList(nn.LayerNorm(width) for _ in layers) for _ in range(2))
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.span, self.none = nn.Linear(width, 2), nn.Linear(width, 1)

    def forward(self, of: PaddedQuestions) -> tuple[Tensor, Tensor]:
        """Returns logits of begin and end for each context word, shape (questions, words, 2), and of "no answer"."""
        kinds = torch.from_numpy(of.kinds)
        seen = (kinds >= 0)[:, None, None, :]
        hidden = self.dropout(self._embedded(of, kinds))
        for layer in range(self.config.layers):
            hidden = hidden + self.dropout(self._attended(layer, self.norm_mix[layer](hidden), seen))
            wide = functional.relu(self.wide[layer](self.norm_wide[layer](hidden)))
            hidden = hidden + self.dropout(self.narrow[layer](wide))
        hidden = self.norm(hidden)
        return self.span(hidden[:, of.first :]), self.none(hidden[:, 0])[:, 0]

    def weights(self) -> ExtractorWeights:
        arrays = {name: value.detach().numpy().astype(np.float32) for name, value in self.state_dict().items()}
        return ExtractorWeights(self.config, arrays)

    def _embedded(self, of: PaddedQuestions, kinds: Tensor) -> Tensor:
        relations = torch.from_numpy(of.relations)
        words = self.project(torch.from_numpy(of.values)) * (kinds >= 0)[..., None]
        asked = self.asked(relations) + self.direction(torch.from_numpy(of.heads))
        matched = words * self.match(relations)[:, None]
        context = words[:, of.first :]
        before = functional.pad(self.before(context[:, :-1]), (0, 0, of.first + 1, 0))
        after = functional.pad(self.after(context[:, 1:]), (0, 0, of.first, 1))
        marks, kind = self.mark(torch.from_numpy(of.marks)), self.kind(kinds.clamp(min=0))
        places = torch.from_numpy(positions(words.shape[1], of.first, self.config.width))
        result: Tensor = words + marks + kind + asked[:, None] + matched + before + after + places
        return result

    def _attended(self, layer: int, values: Tensor, seen: Tensor) -> Tensor:
        batch, count, width = values.shape
        heads = self.config.heads
        mixed = self.mix[layer](values).view(batch, count, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        told = functional.scaled_dot_product_attention(mixed[0], mixed[1], mixed[2], attn_mask=seen)
        result: Tensor = self.told[layer](told.transpose(1, 2).reshape(batch, count, width))
        return result


def _batches(made: Sequence[Example], batch: int, draw: np.random.Generator) -> list[list[Example]]:
    """Puts examples of similar length into one batch, with some randomness; texts without a word are left out."""
    examples = [each for each in made if each[0].context.texts]
    lengths = np.array([len(features.marks) for features, _ in examples]) + draw.random(len(examples)) * 4
    rows = np.argsort(lengths)
    return [[examples[row] for row in rows[start : start + batch]] for start in range(0, len(rows), batch)]


def _loss(network: ExtractorNetwork, examples: Sequence[Example], how: ExtractorTraining) -> Tensor:
    of = padded([features for features, _ in examples])
    with torch.autocast("cpu", torch.bfloat16):
        spans, none = (scores.float() for scores in network(of))
    wanted, is_word = targets(examples, spans.shape[1])
    words = cross_entropy(spans, torch.from_numpy(wanted), reduction="none") * torch.from_numpy(is_word)[..., None]
    impossible = torch.tensor([float(not question.spans) for _, question in examples])
    return cross_entropy(none, impossible) + how.words_weight * words.sum() / len(examples)
