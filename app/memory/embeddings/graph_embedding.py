"""GraphEmbedding: the embedding of one graph version by MID, which grows with what is told or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.memory.embeddings.growth import (
    SAMPLED,
    FactSample,
    RelationFit,
    balance_biases,
    fit_relations,
    make_entities,
    make_relations,
    mixed,
    scored,
    set_relations_by_words,
)
from app.memory.embeddings.model import EmbeddingModel, FactRows, Floats, Rows, both_ways
from app.memory.embeddings.training import Trainer, TrainingSettings
from kg_store.terms import Mids

UPDATE_SHARE: Final = 0.2
"""An entity is embedded anew once it has so many new facts, as a share of those that its vector was made from."""
EPISODE_SHARE: Final = 0.5
"""An episode is embedded anew once so many of its members were, as a share of all. Both chosen by hand."""
FIRST_STEPS: Final = 0.02
"""A vector made in closed form is refined as one that this share of its facts trained.

Chosen on the validation facts of ENTITY's second snapshot, as a balance between moving at all and keeping the start.
"""
FITTED: Final = 50_000
"""After refining, relations are fitted to so many facts at most."""


@dataclass(frozen=True, slots=True)
class NearEntity:
    """An entity near another; `cosine`: of their vectors."""

    mid: int
    cosine: float


@dataclass(slots=True)
class Episode:
    """The summary of an episode: the rows of its members, and how often they were embedded anew since it was."""

    members: Rows
    updates: int = 0


class UnknownEntityError(Exception):
    """The embedding has no entity or relation of this number."""


class GraphEmbedding:
    """Vectors of a graph's entities and relations, trained once on ids and then grown without training.

    Facts are arrays of shape (facts, 3): MID, relation as 2 * its position in the schema, MID. Promise: it holds MIDs
    and numbers, no name and no value. Limit: vectors tell of the facts that they were made from, so they are stored
    sealed (`sealed_embedding`).

    `degrees`: how many facts each vector was made from; `waiting`: facts (rows) whose tail has not been embedded anew
    since; `steps`: the sums of AdaGrad; `episodes`: by the row of the summary;
    `draw`: all that is drawn by chance.
    """

    def __init__(self, model: EmbeddingModel, how: TrainingSettings, mids: Mids, seed: int = 0) -> None:
        self.model, self.how, self.draw = model, how, np.random.default_rng(seed)
        self.steps = model.zeros()
        self.degrees = np.zeros(len(mids), np.int64)
        self.waiting = np.empty((0, 3), np.int64)
        self.episodes: dict[int, Episode] = {}
        self.fit = RelationFit(model.shifts, model.scales)
        self.sample = FactSample(self.waiting, np.empty(0, np.float32), np.empty(0, np.float32), 0)
        self._number(mids)

    @staticmethod
    def trained(facts: FactRows, relations: int, how: TrainingSettings, dim: int, seed: int) -> GraphEmbedding:
        """Returns an embedding of `facts` with so many relations; the same for the same seed."""
        mids = np.unique(facts[:, [0, 2]])
        model = EmbeddingModel.untrained(len(mids), relations, dim, np.random.default_rng(seed))
        made = GraphEmbedding(model, how, mids, seed)
        rows = made.rows_of(facts)
        trainer = Trainer(model, how, made.draw, made.steps)
        for _ in range(how.epochs):
            trainer.run_epoch(rows)
        made.fit = fit_relations(model, rows, made.fit)
        made.degrees = np.bincount(rows[:, 2], minlength=len(mids))
        chosen = made.draw.choice(len(rows), size=min(SAMPLED, len(rows)), replace=False)
        made.sample = scored(model, rows[chosen], len(rows))
        return made

    def add_facts(self, facts: FactRows) -> int:
        """Adds facts without training: new entities and relations are made, old entities wait for enough new facts.

        Returns how many entities were made or embedded anew.
        """
        if not len(facts):
            return 0
        old, relations = len(self.mids), len(self.model.scales)
        self._grow(np.setdiff1d(facts[:, [0, 2]], self.mids), max(relations, int(facts[:, 1].max()) + 2) // 2)
        rows = self.rows_of(facts)
        fresh, made = np.arange(relations, len(self.model.scales)), np.arange(old, len(self.mids))
        if len(fresh):
            make_relations(self.model, rows[(rows[:, [0, 2]] < old).all(axis=1)], fresh)
        make_entities(self.model, self.fit, rows[rows[:, 2] >= old], made)
        self._balance(rows, made)
        self.waiting = np.concatenate([self.waiting, rows[rows[:, 2] < old]])
        updated = self._update_waiting()
        self._update_episodes(updated)
        return len(made) + len(updated)

    def add_relations(self, likeness: Floats) -> None:
        """Adds relations by their words, before there are facts: see `set_relations_by_words`."""
        new, old = likeness.shape
        self._grow(self.mids[:0], old + new)
        set_relations_by_words(self.model, likeness)

    def add_episode(self, mid: int, members: Sequence[int]) -> None:
        """Adds the summary entity of an episode: the mean of its members. Members that are new are as it is.

        Raises UnknownEntityError if the embedding knows none of the members.
        """
        known = np.intersect1d(np.array(members, np.int64), self.mids)
        if not len(known):
            raise UnknownEntityError("the embedding knows no member of this episode")
        self._grow(np.setdiff1d(np.array([mid, *members], np.int64), self.mids), len(self.model.scales) // 2)
        made = self._rows(np.setdiff1d(np.array([mid, *members], np.int64), known))
        for table in (self.model.vectors, self.model.biases):
            table[made] = table[self._rows(known)].mean(axis=0)
        self.episodes[self.row_of(mid)] = Episode(self._rows(np.array(members, np.int64)))

    def refine(self, new: FactRows, known: FactRows, visits: int) -> None:
        """Trains `visits` facts: the `new` ones, which were added, and as many of the `known` ones each time.

        It belongs into a job in the background. Old vectors move little, since AdaGrad remembers their earlier steps.
        """
        rows = trained = self.rows_of(new)
        trainer = Trainer(self.model, self.how, self.draw, self.steps)
        while visits > 0:
            replayed = known[self.draw.integers(len(known), size=len(new))]
            both = np.concatenate([rows, self.rows_of(replayed)])
            trained = both[self.draw.permutation(len(both))[:visits]]
            trainer.run_epoch(trained)
            visits -= len(trained)
        self.fit = fit_relations(self.model, trained[:FITTED], self.fit)
        self.degrees += np.bincount(self.waiting[:, 2], minlength=len(self.mids))
        self.waiting = self.waiting[:0]
        self.sample = scored(self.model, self.sample.facts, self.sample.total)

    def nearest(self, mid: int, count: int) -> list[NearEntity]:
        """Returns the `count` entities with the vectors most like that of `mid`. Raises UnknownEntityError."""
        row = self.row_of(mid)
        lengths = np.linalg.norm(self.model.vectors, axis=1)
        cosines = self.model.vectors @ self.model.vectors[row] / np.maximum(lengths * lengths[row], 1e-9)
        order = np.argsort(-cosines, kind="stable")[: count + 1]
        return [NearEntity(int(self.mids[i]), float(cosines[i])) for i in order if i != row][:count]

    def score_tails(self, mid: int, relation: int) -> Floats:
        """Returns a score of each entity as the tail of a fact, in the order of `mids`. Raises UnknownEntityError."""
        if not 0 <= relation < len(self.model.scales):
            raise UnknownEntityError("the embedding has no such relation")
        scores: Floats = self.model.score_tails(np.array([self.row_of(mid)]), np.array([relation]))[0]
        return scores

    def row_of(self, mid: int) -> int:
        """Returns the row of an entity. Raises UnknownEntityError."""
        try:
            return int(self._rows(np.array([mid], np.int64))[0])
        except KeyError:
            raise UnknownEntityError("the embedding does not know this entity") from None

    def _grow(self, mids: Mids, relations: int) -> None:
        """Makes room for new entities and relations, which are as the mean of the others."""
        more, entities = len(mids), len(self.mids) + len(mids)
        old = len(self.steps.scales)
        self.model, self.fit = self.model.grown(entities, relations), self.fit.grown(relations)
        self.steps = self.steps.grown(entities, relations)
        for table in (self.steps.scales, self.steps.shifts):
            table[old:] *= FIRST_STEPS
        self.degrees = np.concatenate([self.degrees, np.zeros(more, np.int64)])
        self._number(np.concatenate([self.mids, mids]))

    def _balance(self, rows: FactRows, made: Rows) -> None:
        """Gives the entities `made` biases, and the steps that count for refining, by their number of facts."""
        self.model.biases[made] = -np.inf
        self.sample = mixed(self.sample, self.model, rows, self.draw)
        if not len(made):
            return
        self.model.biases[made] = 0
        before = self.degrees.sum()
        self.degrees[made] = np.bincount(rows[:, 2], minlength=len(self.mids))[made]
        degrees = np.maximum(1, self.degrees[made])
        self.sample = balance_biases(self.model, self.sample, made, degrees, self.how.negatives)
        for table in (self.steps.vectors, self.steps.biases):
            a_fact = FIRST_STEPS * np.delete(table, made, axis=0).sum(axis=0) / max(1, before)
            table[made] = np.multiply.outer(degrees, a_fact)

    def _update_waiting(self) -> Rows:
        """Embeds those old entities anew that have enough new facts, and returns their rows."""
        counts = np.bincount(self.waiting[:, 2], minlength=len(self.mids))
        rows = np.flatnonzero((counts > 0) & (counts >= UPDATE_SHARE * self.degrees))
        told = np.isin(self.waiting[:, 2], rows)
        before, share = self.model.vectors[rows], (counts / np.maximum(1, self.degrees + counts))[rows, None]
        make_entities(self.model, self.fit, self.waiting[told], rows[:0])
        self.model.vectors[rows] = before + share.astype(np.float32) * (self.model.vectors[rows] - before)
        self.model.biases[rows] -= np.log1p(-np.minimum(share[:, 0], 0.5)).astype(np.float32)
        self.degrees[rows] += counts[rows]
        self.waiting = self.waiting[~told]
        return rows

    def _update_episodes(self, updated: Rows) -> None:
        for row, episode in self.episodes.items():
            episode.updates += int(np.isin(episode.members, updated).sum())
            if episode.updates >= EPISODE_SHARE * len(episode.members):
                self.model.vectors[row] = self.model.vectors[episode.members].mean(axis=0)
                episode.updates = 0

    def _number(self, mids: Mids) -> None:
        self.mids = mids
        self._by_mid = np.argsort(mids, kind="stable")

    def _rows(self, mids: Mids) -> Rows:
        """Returns the rows of entities. Raises KeyError if one of them is unknown."""
        places = np.searchsorted(self.mids, mids, sorter=self._by_mid)
        rows = self._by_mid[np.minimum(places, len(self.mids) - 1)]
        if (self.mids[rows] != mids).any():
            raise KeyError
        return rows

    def rows_of(self, facts: FactRows) -> FactRows:
        """Returns facts by MID as rows, both ways."""
        return both_ways(np.stack([self._rows(facts[:, 0]), facts[:, 1], self._rows(facts[:, 2])], axis=1))
