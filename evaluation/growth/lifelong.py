"""Compares ways to keep an embedding up to date while its graph grows: filtered link prediction and processor time.

Each way ends a snapshot with an embedding of all that is known; it is asked all test facts so far, both ways, with the
entities so far as candidates. Transfer is defined as by LKGE (Cui and others 2023, section 5.1).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.memory.embeddings.graph_embedding import GraphEmbedding
from app.memory.embeddings.model import EmbeddingModel, FactRows, Floats, both_ways
from app.memory.embeddings.training import Trainer, TrainingSettings
from evaluation.bench.question_sets import Show
from evaluation.growth.ranks import Ranks, filtered_ranks
from evaluation.growth.snapshots import Snapshot
from evaluation.tables.measures import Measure, at_most, share

RETRAINED, GROWN, CLOSED, TUNED = "trained anew", "grown and refined", "grown alone", "trained on new facts"
UNSEEN, USUAL = "unseen, made of its facts", "unseen, mean of everything"
BY_FACTS, BY_WORDS, BY_MEAN = "new relation, of its facts", "new relation, of its words", "new relation, mean of all"
MIN_OF_RETRAINED: Final = 0.9
MAX_OF_TIME: Final = 0.1
"""Bounds of growing and refining, as shares of training anew: of its MRR, and of its processor time."""
REFINED_SHARE: Final = 0.045
"""Refining visits so many facts, as a share of those that training anew visits. The rest of a tenth is for growing."""


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """One way at the end of one snapshot: ranks of the test facts of each snapshot so far, and processor seconds.

    `forward`: mean reciprocal rank of the newest test facts before any training on the snapshot; None if not asked.
    """

    way: str
    snapshot: int
    ranks: Sequence[Ranks]
    seconds: float
    forward: float | None = None

    @property
    def mrr(self) -> float:
        return mrr(np.concatenate(self.ranks))

    @property
    def hits(self) -> float:
        return float((np.concatenate(self.ranks) <= 10).mean())


def mrr(ranks: Ranks) -> float:
    return float((1 / ranks).mean()) if len(ranks) else 0.0


class Lifelong:
    """Runs all ways over the snapshots of one set, with one model, seed and budget.

    `words`: a vector of length 1 for the words of each relation of the set.
    """

    def __init__(
        self,
        snapshots: Sequence[Snapshot],
        words: Floats,
        how: TrainingSettings,
        dim: int,
        seed: int,
        show: Show,
    ) -> None:
        self._snapshots, self._how, self._dim, self._seed, self._show = snapshots, how, dim, seed, show
        self._words = words
        self.results: list[SnapshotResult] = []
        self.dropped = 0

    def run(self) -> list[SnapshotResult]:
        """Returns the results of all ways and snapshots; `dropped` tells test facts whose things nobody trained on."""
        began = time.process_time()
        first = self._trained(0)
        seconds = time.process_time() - began
        grown, closed = copy.deepcopy(first), copy.deepcopy(first)
        tuned, before = first.model.copy(), first
        for way in (RETRAINED, GROWN, CLOSED, TUNED):
            self._keep(way, 0, first, first.model, seconds)
        for number in range(1, len(self._snapshots)):
            self._show("snapshots", number, len(self._snapshots))
            self._unseen(number, before)
            self._new_relations(number, before)
            began = time.process_time()
            before = self._trained(number)
            whole = time.process_time() - began
            self._keep(RETRAINED, number, before, before.model, whole)
            self._grow(number, grown, refined=True)
            self._grow(number, closed, refined=False)
            tuned = self._tune(number, tuned, closed)
        return self.results

    def _trained(self, number: int) -> GraphEmbedding:
        facts = self._facts(number, "train")
        return GraphEmbedding.trained(facts, self._snapshots[number].relations, self._how, self._dim, self._seed)

    def _grow(self, number: int, embedding: GraphEmbedding, refined: bool) -> None:
        new, known = self._snapshots[number].train, self._facts(number - 1, "train")
        began = time.process_time()
        embedding.add_facts(new)
        seconds = time.process_time() - began
        forward = mrr(self._ranks(number, embedding, embedding.model)[-1])
        if refined:
            began = time.process_time()
            embedding.refine(new, known, self._visits(number))
            seconds += time.process_time() - began
        self._keep(GROWN if refined else CLOSED, number, embedding, embedding.model, seconds, forward)

    def _tune(self, number: int, model: EmbeddingModel, numbered: GraphEmbedding) -> EmbeddingModel:
        """Trains the model on the new facts alone, for as many visits as refining has; new rows begin at random."""
        draw = np.random.default_rng((self._seed, number))
        began = time.process_time()
        tables = EmbeddingModel.untrained(len(numbered.mids), len(numbered.model.scales) // 2, self._dim, draw)
        for name in ("vectors", "biases", "scales", "shifts"):
            getattr(tables, name)[: len(getattr(model, name))] = getattr(model, name)
        spent = time.process_time() - began
        forward = mrr(self._ranks(number, numbered, tables)[-1])
        rows, visits = numbered.rows_of(self._snapshots[number].train), self._visits(number)
        began = time.process_time()
        trainer = Trainer(tables, self._how, draw)
        while visits > 0:
            trainer.run_epoch(draw.permutation(rows)[:visits])
            visits -= len(rows)
        spent += time.process_time() - began
        self._keep(TUNED, number, numbered, tables, spent, forward)
        return tables

    def _unseen(self, number: int, before: GraphEmbedding) -> None:
        """Asks the new test facts with an unseen entity, of the embedding trained before and not any further."""
        made = copy.deepcopy(before)
        began = time.process_time()
        made.add_facts(self._snapshots[number].train)
        seconds = time.process_time() - began
        usual = before.model.grown(len(made.mids), len(made.model.scales) // 2)
        touching = (both_ways(self._asked(number, made))[:, [0, 2]] >= len(before.mids)).any(axis=1)
        for way, model in ((UNSEEN, made.model), (USUAL, usual)):
            ranks = self._ranks(number, made, model)[-1][touching]
            self.results.append(SnapshotResult(way, number, [ranks], seconds if way == UNSEEN else 0.0))

    def _new_relations(self, number: int, before: GraphEmbedding) -> None:
        """Asks the new test facts of new relations between old entities, of the embedding trained before."""
        old, now = (self._snapshots[each].relations for each in (number - 1, number))
        if old == now:
            return
        by_facts, by_words = copy.deepcopy(before), copy.deepcopy(before)
        by_facts.add_facts(self._snapshots[number].train)
        by_words.add_relations(self._words[old:now] @ self._words[:old].T)
        mean = by_words.model.copy()
        for table in (mean.scales, mean.shifts):
            table[2 * old :] = table[: 2 * old].mean(axis=0)
        made = len(before.mids)
        facts = EmbeddingModel(
            by_facts.model.vectors[:made], by_facts.model.biases[:made], by_facts.model.scales, by_facts.model.shifts
        )
        is_new = np.tile(self._asked(number, by_words)[:, 1] >= 2 * old, 2)
        for way, model in ((BY_FACTS, facts), (BY_WORDS, by_words.model), (BY_MEAN, mean)):
            if is_new.any():
                ranks = self._ranks(number, by_words, model)[-1][is_new]
                self.results.append(SnapshotResult(way, number, [ranks], 0.0))

    def _visits(self, number: int) -> int:
        return int(REFINED_SHARE * self._how.epochs * 2 * len(self._facts(number, "train")))

    def _keep(
        self,
        way: str,
        number: int,
        numbered: GraphEmbedding,
        model: EmbeddingModel,
        seconds: float,
        forward: float | None = None,
    ) -> None:
        ranks = self._ranks(number, numbered, model)
        self.results.append(SnapshotResult(way, number, ranks, seconds, forward))

    def _ranks(self, number: int, numbered: GraphEmbedding, model: EmbeddingModel) -> list[Ranks]:
        known = [self._known_rows(numbered, self._facts(number, split)) for split in ("train", "valid", "test")]
        asked = [both_ways(self._asked(each, numbered)) for each in range(number + 1)]
        ranks = filtered_ranks(model, np.concatenate(asked), both_ways(np.concatenate(known)))
        return np.split(ranks, np.cumsum([len(each) for each in asked])[:-1])

    def _facts(self, number: int, split: str) -> FactRows:
        return np.concatenate([getattr(each, split) for each in self._snapshots[: number + 1]])

    def _asked(self, number: int, numbered: GraphEmbedding) -> FactRows:
        return self._known_rows(numbered, self._snapshots[number].test)

    def _known_rows(self, numbered: GraphEmbedding, facts: FactRows) -> FactRows:
        known = np.isin(facts[:, [0, 2]], numbered.mids).all(axis=1) & (facts[:, 1] < len(numbered.model.scales))
        self.dropped = max(self.dropped, int((~known).sum()))
        rows = numbered.rows_of(facts[known])
        return rows[: len(rows) // 2]


def of_way(results: Sequence[SnapshotResult], way: str) -> list[SnapshotResult]:
    return [each for each in results if each.way == way]


def transfer(results: Sequence[SnapshotResult]) -> tuple[float, float]:
    """Returns (forward, backward) transfer of one way's results, in the order of snapshots.

    Forward: the mean MRR of a snapshot's test facts before training on it. Backward: how much the MRR of earlier
    snapshots' test facts has changed, on average, since each was trained on.
    """
    forward = [each.forward for each in results[1:] if each.forward is not None]
    changes = [mrr(results[-1].ranks[at]) - mrr(each.ranks[at]) for at, each in enumerate(results[:-1])]
    return float(np.mean(forward)) if forward else float("nan"), float(np.mean(changes))


def measures(results: Sequence[SnapshotResult]) -> list[Measure]:
    anew, grown = of_way(results, RETRAINED)[1:], of_way(results, GROWN)[1:]
    unseen, usual = (_whole(of_way(results, way)) for way in (UNSEEN, USUAL))
    lines = []
    for one, other in zip(anew, grown, strict=True):
        count, at = _count(one), f"snapshot {one.snapshot}"
        lines.append(share(f"{at}: MRR, share of training anew", other.mrr / one.mrr, count, MIN_OF_RETRAINED))
        spent = other.seconds / one.seconds
        lines.append(at_most(f"{at}: time, share of training anew", count, spent, MAX_OF_TIME, "{:.3f}"))
    lines.append(share("unseen entities: MRR, the mean of everything", mrr(usual), len(usual)))
    lines.append(share("unseen entities: MRR, made of their facts", mrr(unseen), len(unseen), mrr(usual)))
    return lines


def _count(result: SnapshotResult) -> int:
    return sum(map(len, result.ranks))


def _whole(results: Sequence[SnapshotResult]) -> Ranks:
    return np.concatenate([ranks for each in results for ranks in each.ranks])


def by_way(results: Sequence[SnapshotResult]) -> str:
    """Returns two tables in Markdown: every way by snapshot, and its transfer."""
    head = ("way", "snapshot", "n", "MRR", "hits@10", "processor s")
    rows = [
        (
            each.way,
            each.snapshot,
            sum(map(len, each.ranks)),
            f"{each.mrr:.4f}",
            f"{each.hits:.4f}",
            f"{each.seconds:.1f}",
        )
        for each in sorted(results, key=lambda each: each.way)
    ]
    ways = [(way, *transfer(of_way(results, way))) for way in (GROWN, CLOSED, TUNED)]
    moved = [(way, f"{forward:+.4f}", f"{backward:+.4f}") for way, forward, backward in ways]
    return "\n".join((markdown_table(head, rows), markdown_table(("way", "forward", "backward"), moved)))
