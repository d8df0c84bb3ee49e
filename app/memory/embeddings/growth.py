"""Makes vectors of new entities and relations in closed form, from their facts and from entities with such facts.

Each relation is taken for a Gaussian: the tail of a fact lies around the point that its head and relation lead to,
with the variance that the facts known before had. The vector of an entity is then the mean of what its facts say and
of what is usual for entities with such relations, weighted by precision (Bishop 2006, section 2.3.3). Its bias is set
so that it is expected as an answer as often as it is one (iterative scaling: Darroch and Ratcliff 1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from app.memory.embeddings.model import EmbeddingModel, FactRows, Floats, Rows, with_means
from app.memory.embeddings.training import summed_by_row

PRIOR_FACTS: Final = 0.3
"""The usual vector counts as so many facts. Chosen on the validation facts of ENTITY's second snapshot."""
SLOPE_FACTS: Final = 10.0
"""A new relation stretches as the old ones do on average, until it has about so many facts. Chosen by hand."""
WORDS_TEMPERATURE: Final = 0.05
"""As for cases (`app.memory.case_memory`)."""
SAMPLED: Final = 1024
ROUNDS: Final = 3
"""Biases are scaled so many times on SAMPLED facts. Chosen on the validation facts of ENTITY's second snapshot."""
_AT_ONCE: Final = 512
_LEAST: Final = np.float32(1e-4)
_MOST: Final = np.float32(60)


@dataclass(frozen=True, slots=True)
class RelationFit:
    """By relation and direction: the mean tail (`centres`), and the variance of tails around their points."""

    centres: Floats
    variances: Floats

    def grown(self, relations: int) -> RelationFit:
        """Returns a fit with room for so many relations; new rows hold the mean of the old ones."""
        return RelationFit(with_means(self.centres, 2 * relations), with_means(self.variances, 2 * relations))


def fit_relations(model: EmbeddingModel, facts: FactRows, before: RelationFit) -> RelationFit:
    """Returns what the `facts` (both ways) say of each relation; one without facts keeps what was known `before`."""
    heads, relations, tails = facts.T
    ends = model.vectors[tails]
    missed = np.square(model.targets_of(heads, relations) - ends) + _LEAST
    fit = RelationFit(before.centres.copy(), before.variances.copy())
    rows, sums = summed_by_row(relations, np.concatenate([ends, missed], axis=1))
    means = sums / np.bincount(relations)[rows, None]
    fit.centres[rows], fit.variances[rows] = means[:, : model.dim], means[:, model.dim :]
    return fit


def make_entities(model: EmbeddingModel, fit: RelationFit, facts: FactRows, unmade: Rows) -> None:
    """Sets the vectors of all tails of `facts` in place.

    The vectors of the entities `unmade` are worth nothing before: a fact with such a head counts as a usual one.
    """
    if not len(facts):
        return
    heads, relations, tails = facts.T
    centres, precise = fit.centres[relations], 1 / fit.variances[relations]
    points = np.where(np.isin(heads, unmade)[:, None], centres, model.targets_of(heads, relations))
    rows, sums = summed_by_row(tails, np.concatenate([points * precise, centres * precise, precise], axis=1))
    said, usual, weight = np.split(sums, 3, axis=1)
    prior = PRIOR_FACTS / np.bincount(tails)[rows, None].astype(np.float32)
    model.vectors[rows] = (said + prior * usual) / (weight * (1 + prior))


def make_relations(model: EmbeddingModel, facts: FactRows, made: Rows) -> None:
    """Sets the scales and shifts of the relations `made` (rows of directions) from `facts` (both ways) in place.

    Ridge regression of tails on heads by dimension, towards the mean scale of the other relations. A relation without
    facts keeps what it has.
    """
    usual = np.delete(model.scales, made, axis=0).mean(axis=0)
    held = SLOPE_FACTS * model.vectors.var(axis=0)
    facts = facts[np.isin(facts[:, 1], made)]
    for row in np.unique(facts[:, 1]):
        of_row = facts[facts[:, 1] == row]
        starts, ends = model.vectors[of_row[:, 0]], model.vectors[of_row[:, 2]]
        start, end = starts.mean(axis=0), ends.mean(axis=0)
        shared = ((starts - start) * (ends - end)).sum(axis=0)
        slope = (shared + held * usual) / (np.square(starts - start).sum(axis=0) + held)
        model.scales[row], model.shifts[row] = slope, end - slope * start


def set_relations_by_words(model: EmbeddingModel, likeness: Floats) -> None:
    """Sets the scales and shifts of the last relations in place, for which there are no facts yet.

    `likeness`: cosines of their words with those of the relations before them, shape (new, old). Each is the mean of
    the old ones, weighted by softmax(likeness / WORDS_TEMPERATURE), in both directions.
    """
    new, old = likeness.shape
    raw = np.exp((likeness - likeness.max(axis=1, keepdims=True)) / WORDS_TEMPERATURE)
    weights = (raw / raw.sum(axis=1, keepdims=True)).astype(np.float32)
    for table in (model.scales, model.shifts):
        by_direction = table.reshape(old + new, 2, -1)
        by_direction[old:] = np.tensordot(weights, by_direction[:old], axes=1)


@dataclass(frozen=True, slots=True)
class FactSample:
    """A sample of all facts (both ways), which number `total`.

    `right`: the score of each tail; `levels`: the log of the summed exp scores of all entities.
    """

    facts: FactRows
    right: Floats
    levels: Floats
    total: int


def scored(model: EmbeddingModel, facts: FactRows, total: int) -> FactSample:
    """Returns a sample of `total` facts with the scores of the model as it is."""
    right, levels = (np.empty(len(facts), np.float32) for _ in range(2))
    for start in range(0, len(facts), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        heads, relations, tails = facts[here].T
        scores = model.score_tails(heads, relations)
        right[here] = scores[np.arange(len(tails)), tails]
        top = scores.max(axis=1)
        levels[here] = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return FactSample(facts, right, levels, total)


def mixed(before: FactSample, model: EmbeddingModel, facts: FactRows, draw: np.random.Generator) -> FactSample:
    """Returns the sample with so many of the new `facts` in the place of old ones as are their share of all."""
    total = before.total + len(facts)
    count = int(draw.binomial(len(before.facts), len(facts) / total))
    fresh = scored(model, facts[draw.choice(len(facts), size=min(count, len(facts)), replace=False)], total)
    kept = draw.permutation(len(before.facts))[: len(before.facts) - len(fresh.facts)]
    return FactSample(
        np.concatenate([before.facts[kept], fresh.facts]),
        np.concatenate([before.right[kept], fresh.right]),
        np.concatenate([before.levels[kept], fresh.levels]),
        total,
    )


def balance_biases(model: EmbeddingModel, sample: FactSample, made: Rows, degrees: Rows, negatives: int) -> FactSample:
    """Sets the biases of new entities `made` in place, so that they do not stand before all others.

    After it, an entity is pushed away as a wrong answer to the sampled facts about as much as it is pulled to its own
    `degrees` facts, where training would draw `negatives` entities for a step. Returns the sample with the scores of
    the new entities too.
    """
    share = np.float32(negatives / len(model.vectors))
    heads, relations, _ = sample.facts.T
    scores = model.score_tails(heads, relations, made) - model.biases[made] - sample.levels[:, None]
    nearness = np.exp(np.minimum(scores, _MOST))
    right = np.exp(np.minimum(sample.right - sample.levels, _MOST))
    weights = np.exp(model.biases[made])
    for _ in range(ROUNDS):
        total = right + share * (1 + nearness @ weights)
        pulled = np.maximum(1, degrees) * (1 - right / total).mean()
        weights = pulled / (nearness.T @ (share / total) * (sample.total / len(total)) + _LEAST)
    model.biases[made] = np.log(weights)
    levels = sample.levels + np.log1p(nearness @ weights)
    return FactSample(sample.facts, sample.right, levels, sample.total)
