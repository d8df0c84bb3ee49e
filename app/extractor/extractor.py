"""Finds the spans of a text that are the unknown end of a fact, with a small transformer in numpy."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from app.extractor.features import MARKS, Floats, Ints, Question, SpanFeatureMaker, SpanFeatures, TokenReader, Words
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import find_model, weights_digest_of
from app.llm.embeddings.trained_weights import TrainedNetwork, linear, read_network, write_network

KINDS: Final = 5
"""The number of kinds of positions in the network's input: "no answer" with the tail unknown, the same with the head
unknown, the known end, the relation, the context.
"""
_EPSILON: Final = 1e-5
_RUN: Final = 64


@dataclass(frozen=True, slots=True)
class ExtractorConfig:
    """The shape of an extractor's network.

    `below`: the number of the sentence model's layers that read the texts; `dimensions`: their width. `width`,
    `layers` and `heads`: those of the trained transformer on top.
    """

    below: int = 3
    dimensions: int = 384
    width: int = 192
    layers: int = 3
    heads: int = 6


ExtractorWeights = TrainedNetwork[ExtractorConfig]


@dataclass(frozen=True, slots=True)
class SpanScores:
    """The network's logits for one question.

    A greater logit is more likely true. `starts` and `ends`: for each word, that an answer begins or ends there, shape
    (words,). `impossible`: that the text holds no answer.
    """

    starts: Floats = field(repr=False)
    ends: Floats = field(repr=False)
    impossible: float


@dataclass(frozen=True, slots=True)
class PaddedQuestions:
    """Several questions, padded to one length, as input of the network.

    `values`: word vectors, shape (questions, places, dimensions). `kinds`: the kind of each position, shape
    (questions, places), -1 for padding. `marks`: shape (questions, places, MARKS). `relations`: the mean over a
    relation's words, shape (questions, dimensions). `heads`: 1 if the head is unknown, else 0. Contexts begin at place
    `first`.
    """

    values: Floats = field(repr=False)
    kinds: Ints = field(repr=False)
    marks: Floats = field(repr=False)
    relations: Floats = field(repr=False)
    heads: Ints = field(repr=False)
    first: int


def shapes_of(config: ExtractorConfig) -> dict[str, tuple[int, ...]]:
    width, words = config.width, config.dimensions
    shapes: dict[str, tuple[int, ...]] = {
        "project.weight": (width, words),
        "project.bias": (width,),
        "asked.weight": (width, words),
        "match.weight": (width, words),
        "before.weight": (width, width),
        "after.weight": (width, width),
        "mark.weight": (width, MARKS),
        "kind.weight": (KINDS, width),
        "direction.weight": (2, width),
        "norm.weight": (width,),
        "norm.bias": (width,),
        "span.weight": (2, width),
        "span.bias": (2,),
        "none.weight": (1, width),
        "none.bias": (1,),
    }
    linear = {
        "mix": (3 * width, width),
        "told": (width, width),
        "wide": (4 * width, width),
        "narrow": (width, 4 * width),
    }
    for layer in range(config.layers):
        for name, shape in linear.items():
            shapes[f"{name}.{layer}.weight"], shapes[f"{name}.{layer}.bias"] = shape, shape[:1]
        for name in ("norm_mix", "norm_wide"):
            shapes[f"{name}.{layer}.weight"] = shapes[f"{name}.{layer}.bias"] = (width,)
    return shapes


def padded(questions: Sequence[SpanFeatures]) -> PaddedQuestions:
    first = 2 + max(len(each.relation) for each in questions)
    longest = first + max(len(each.marks) for each in questions)
    values = np.zeros((len(questions), longest, len(questions[0].known)), np.float32)
    kinds = np.full((len(questions), longest), -1, np.int64)
    marks = np.zeros((len(questions), longest, MARKS), np.float32)
    for row, each in enumerate(questions):
        words, end = 2 + len(each.relation), first + len(each.marks)
        values[row, 0], values[row, 1], values[row, 2:words] = each.context.whole, each.known, each.relation
        values[row, first:end], marks[row, first:end] = each.context.vectors, each.marks
        kinds[row, 0], kinds[row, 1], kinds[row, 2:words], kinds[row, first:end] = int(each.unknown_is_head), 2, 3, 4
    relations = np.stack([each.relation.sum(axis=0) / max(len(each.relation), 1) for each in questions])
    heads = np.array([int(each.unknown_is_head) for each in questions], np.int64)
    return PaddedQuestions(values, kinds, marks, relations, heads, first)


def positions(count: int, first: int, width: int) -> Floats:
    """Returns the sinusoidal encoding of positions (Vaswani et al., 2017, section 3.5), shape (count, width).

    Positions are counted from 0 in the question and again in the context, which begins at `first`.
    """
    place = np.concatenate([np.arange(first), np.arange(count - first)])[:, None]
    rates = np.exp(np.arange(0, width, 2) * (-math.log(10000.0) / width))
    found = np.zeros((count, width), np.float32)
    found[:, 0::2], found[:, 1::2] = np.sin(place * rates), np.cos(place * rates)
    return found


def scores_of(weights: ExtractorWeights, questions: Sequence[SpanFeatures]) -> list[SpanScores]:
    """Returns the scores of each question, in the order of `questions`.

    Questions of similar length are computed together, because this needs little padding.
    """
    order = sorted(range(len(questions)), key=lambda row: len(questions[row].marks))
    found: dict[int, SpanScores] = {}
    for start in range(0, len(order), _RUN):
        rows = order[start : start + _RUN]
        found |= zip(rows, _Forward(weights, [questions[row] for row in rows]).scores(), strict=True)
    return [found[row] for row in range(len(questions))]


class _Forward:
    def __init__(self, weights: ExtractorWeights, questions: Sequence[SpanFeatures]) -> None:
        self._arrays, self._config, self._questions = weights.arrays, weights.config, questions
        self._of = padded(questions)
        self._hidden_away = np.where(self._of.kinds >= 0, np.float32(0), np.float32(-1e9))[:, None, None, :]

    def scores(self) -> list[SpanScores]:
        hidden = self._embedded()
        for layer in range(self._config.layers):
            hidden = hidden + self._attended(layer, self._normed(f"norm_mix.{layer}", hidden))
            wide = np.maximum(self._linear(f"wide.{layer}", self._normed(f"norm_wide.{layer}", hidden)), np.float32(0))
            hidden = hidden + self._linear(f"narrow.{layer}", wide)
        hidden = self._normed("norm", hidden)
        spans, none = self._linear("span", hidden[:, self._of.first :]), self._linear("none", hidden[:, 0])
        return [
            SpanScores(spans[row, : len(each.marks), 0], spans[row, : len(each.marks), 1], float(none[row, 0]))
            for row, each in enumerate(self._questions)
        ]

    def _embedded(self) -> Floats:
        of, first = self._of, self._of.first
        words = self._linear("project", of.values) * (of.kinds >= 0)[..., None]
        asked = self._linear("asked", of.relations) + self._arrays["direction.weight"][of.heads]
        shown = words + self._linear("mark", of.marks) + self._arrays["kind.weight"][np.maximum(of.kinds, 0)]
        shown += asked[:, None] + words * self._linear("match", of.relations)[:, None]
        context = words[:, first:]
        shown[:, first + 1 :] += self._linear("before", context[:, :-1])
        shown[:, first:-1] += self._linear("after", context[:, 1:])
        return shown + positions(shown.shape[1], first, self._config.width)

    def _attended(self, layer: int, values: Floats) -> Floats:
        batch, count, width = values.shape
        heads, depth = self._config.heads, width // self._config.heads
        mixed = self._linear(f"mix.{layer}", values).reshape(batch, count, 3, heads, depth).transpose(2, 0, 3, 1, 4)
        logits = mixed[0] @ mixed[1].transpose(0, 1, 3, 2) / np.float32(math.sqrt(depth)) + self._hidden_away
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return self._linear(f"told.{layer}", (shares @ mixed[2]).transpose(0, 2, 1, 3).reshape(batch, count, width))

    def _normed(self, name: str, values: Floats) -> Floats:
        centred = values - values.mean(axis=-1, keepdims=True)
        unit = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        result: Floats = unit * self._arrays[f"{name}.weight"] + self._arrays[f"{name}.bias"]
        return result

    def _linear(self, name: str, values: Floats) -> Floats:
        return linear(self._arrays, name, values)


_NAME: Final = "extractor"


def write_weights(weights: ExtractorWeights, file: Path, model: str) -> None:
    """Writes `weights`, trained on vectors of the sentence model `model`, to a file; the same weights give the same
    bytes."""
    write_network(_NAME, weights, file, model)


def read_weights(file: Path, model: str) -> ExtractorWeights:
    """Returns the weights in `file`.

    Raises NetworkWeightsError if it is unusable or was trained for another sentence model than `model`.
    """
    return read_network(_NAME, ExtractorConfig, shapes_of, file, model)


_CONFIG: Final = "config.json"


class SentenceModelError(Exception):
    """The lower layers of the sentence model can't be used alone; the error's text says what to do."""


def open_lower_layers(model: str, cache: Path, layers: int) -> Embedder:
    """Returns an embedder with only the first `layers` layers of the sentence model `model`.

    Its files are in the folder `cache`, and are written if they are missing. Raises SentenceModelError,
    ModelNotTrustedError, OSError.
    """
    whole, config = _opened(model)
    folder = cache / f"lower-{layers}-{weights_digest_of(model)[:16]}"
    if not (folder / _CONFIG).is_file():
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="lower-") as temporary:
            part = Path(temporary) / "model"
            shutil.copytree(whole, part, ignore=shutil.ignore_patterns("*.py", "__pycache__", "onnx", "openvino"))
            (part / _CONFIG).write_text(json.dumps(config | {"num_hidden_layers": layers}), "utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(part, folder)
    return Embedder(str(folder), cache)


def _opened(model: str) -> tuple[Path, dict[str, Any]]:
    found = find_model(model)
    config = json.loads((found.path / _CONFIG).read_text("utf-8")) if found else {}
    if found is None or config.get("model_type") != "bert":
        raise SentenceModelError("the extractor needs a sentence model of the kind BERT, such as the one in the box")
    return found.path, config


MAX_SPAN: Final = 16
"""The greatest number of words of an answer. Chosen by hand."""
MAX_ANSWERS: Final = 12
_BLOCK: Final = 2048


@dataclass(frozen=True, slots=True)
class _Asked:
    """A Question as a plain record, for callers of `Extractor.answers` who pass its parts one by one."""

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool


class Extractor:
    """Finds the unknown end of a fact in a text; it reads only that text and no graph. For one thread at a time."""

    def __init__(self, weights: ExtractorWeights, lower: TokenReader) -> None:
        """Takes the trained weights, and as `lower` the lower layers of the sentence model (`open_lower_layers`)."""
        self._weights, self._maker = weights, SpanFeatureMaker(lower)

    def answers(self, context: str, known: str, relation: str, unknown_is_head: bool) -> tuple[str, ...]:
        """Returns the parts of `context` that are the unknown end, each once; empty if it does not state the fact.

        `known`: the other end of the fact. `unknown_is_head`: True if the head is asked for, False if the tail is.
        """
        return self.answers_to([_Asked(context, known, relation, unknown_is_head)])[0]

    def answers_to(self, batch: Sequence[Question]) -> list[tuple[str, ...]]:
        """Does the same as `answers` for each question of the batch."""
        found: list[tuple[str, ...]] = []
        for start in range(0, len(batch), _BLOCK):
            part = batch[start : start + _BLOCK]
            features = self._maker.make(part)
            # A context without words has nothing to score.
            rows = [row for row, each in enumerate(features) if each.context.texts]
            scores = dict(zip(rows, scores_of(self._weights, [features[row] for row in rows]), strict=True))
            for row, question in enumerate(part):
                spans = spans_of(scores[row], features[row].context) if row in scores else []
                found.append(tuple(dict.fromkeys(question.context[begin:end] for begin, end in spans)))
        return found


def open_extractor(file: Path, model: str, cache: Path) -> Extractor:
    """Returns the extractor with the weights in `file`, on top of the sentence model `model`.

    Raises NetworkWeightsError, SentenceModelError, OSError.
    """
    weights = read_weights(file, model)
    return Extractor(weights, open_lower_layers(model, cache, weights.config.below))


def spans_of(scores: SpanScores, words: Words) -> list[tuple[int, int]]:
    """Returns the spans of the answers as (begin, end) in characters, in order; empty if "no answer" scores best.

    An answer begins at each word whose start score is positive, or is the best one if none is.
    """
    best = float(scores.starts.max())
    if scores.impossible > best:
        return []
    starts = np.flatnonzero(scores.starts >= min(best, 0.0))[:MAX_ANSWERS]
    found = []
    for at, start in enumerate(starts):
        until = starts[at + 1] if at + 1 < len(starts) else len(words.texts)
        last = start + _length(scores.ends[start : min(until, start + MAX_SPAN)])
        found.append((words.spans[start][0], words.spans[last][1]))
    return found


def _length(ends: Floats) -> int:
    """Returns the offset of an answer's last word from its first: the first positive end score, else the best one."""
    likely = np.flatnonzero(ends > 0)
    return int(likely[0]) if len(likely) else int(ends.argmax())
