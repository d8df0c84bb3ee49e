"""Measures the facts that are retrieved for a reply: those that join the dialogue and the *true* reply, among 20.

Methods: T-RAG (all terms of the dialogue, the sentence model's cosine), the embedded form of demands, and the form
without each of its parts, as in the paper's ablations where they have a counterpart without a model.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.word_vectors import word_vectors
from app.strategies.demands.embedded import (
    DialogueTerms,
    PublicTerms,
    ScoredTerms,
    embedded_demands,
    plan_topics,
    produce_queries,
    retrieved,
    scored_topics,
    select,
)
from app.strategies.demands.fact_sets import MAX_SELECTED, Demand, Demands, fact_sets, selected
from evaluation.bench.question_sets import Show
from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.matching import HardMatcher
from evaluation.dialogue.dialogue_sets import Triple
from kg_store.graph.public_facts import Ints, PublicFacts

RESAMPLES: Final = 2_000
WHOLE: Final = "demands, embedded"
T_RAG: Final = "T-RAG"
SETS_DRAWN: Final = 500
COUNTS: Final = (5, 10, 20, 30, 50)
"""The numbers of selected facts at which the curve of the recall is told."""


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """The figures of each method over the pairs whose true reply a fact joins to the history.

    `found`: for each method, how many of these facts it selected, one number a pair; `joining`: how many there are.
    `empty_foreseen`: the share of all pairs without a foreseen fact. `swapped_recall`: the share that the whole method
    selects of the facts that join a reply of another dialogue, which is what chance gives. `processor_ms`: one a pair.
    `curve`: the recall of a method for each of COUNTS.
    """

    found: Mapping[str, npt.NDArray[np.int64]] = field(repr=False)
    joining: npt.NDArray[np.int64] = field(repr=False)
    pairs: int = 0
    empty_foreseen: float = 0.0
    swapped_recall: float = 0.0
    processor_ms: tuple[float, ...] = ()
    curve: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def recall(self, method: str) -> float:
        return float(self.found[method].sum() / max(1, self.joining.sum()))

    def interval(self, method: str, over: str = "") -> tuple[float, float]:
        """Returns the 95 % interval of a method's recall, or of its ratio to that of `over`, by drawing pairs anew."""
        drawn = np.random.default_rng(0).integers(0, len(self.joining), (RESAMPLES, len(self.joining)))
        below = self.found[over] if over else self.joining
        ratios = self.found[method][drawn].sum(axis=1) / np.maximum(1, below[drawn].sum(axis=1))
        low, high = np.quantile(ratios, (0.025, 0.975))
        return float(low), float(high)


def public_terms(triples: Sequence[Triple]) -> PublicTerms:
    """Returns a public graph of triples (head, relation, tail) in words."""
    return PublicTerms(PublicFacts.of(triples), word_vectors())


class FactRetrieval:
    """Retrieves facts of one public graph by every method."""

    def __init__(self, triples: Sequence[Triple], embedder: Embedder) -> None:
        self.triples = tuple(dict.fromkeys(triples))
        self.graph = public_terms(self.triples)
        self._embedder = embedder

    def t_rag(self, history: Sequence[str], most: int = MAX_SELECTED) -> tuple[int, ...]:
        """Returns the facts at all terms of the history that are most like it by the sentence model."""
        terms = {term for turn in history for term in self.graph.facts.terms_in(turn)}
        return self.nearest(history, self.graph.facts.facts_at([*terms]), most)

    def nearest(self, history: Sequence[str], rows: Ints, most: int) -> tuple[int, ...]:
        """Returns the facts among `rows` that are most like the history by the sentence model, best first."""
        if not len(rows):
            return ()
        vector = self._embedder.sentences(list(history)).sum(axis=0)
        like = self._embedder.sentences([self.graph.facts.fact(row).text for row in rows.tolist()]) @ vector
        return tuple(rows[np.argsort(-like, kind="stable")[:most]].tolist())

    def texts(self, rows: Sequence[int]) -> list[str]:
        """Returns facts as a model reads them: (head, relation, tail)."""
        return [f"({', '.join(self.graph.facts.fact(row))})" for row in rows]

    def embedded(self, history: Sequence[str], most: int = MAX_SELECTED) -> tuple[tuple[int, ...], Demands, Ints]:
        """Returns the selected facts, the demands, and the foreseen facts of the whole method."""
        graph = self.graph
        said = DialogueTerms.of(graph, history)
        topics = scored_topics(graph, said)
        demands = embedded_demands(graph, said, topics)
        foreseen, unforeseen = retrieved(graph, said, demands)
        return select(graph, topics, foreseen, unforeseen, most), demands, foreseen

    def without_parts(self, history: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Returns the facts selected without each part that has a counterpart without a model."""
        graph = self.graph
        said = DialogueTerms.of(graph, history)
        topics = scored_topics(graph, said)
        queries, planned = produce_queries(graph, said, topics), plan_topics(said, topics)
        both = replace(planned, explicit=queries.explicit, implicit=queries.implicit)
        foreseen, unforeseen = retrieved(graph, said, embedded_demands(graph, said, topics))
        kept = {
            "without fact selection": selected(foreseen.tolist(), unforeseen.tolist()),
            "without topics and revision": self._selected(said, topics, queries),
            "without queries and revision": self._selected(said, topics, planned),
            "without revision": self._selected(said, topics, both),
        }
        explicit = graph.facts.facts_at(queries.explicit.terms)
        return kept | {"query production alone": tuple(graph.nearest_facts(explicit, said, MAX_SELECTED).tolist())}

    def _selected(self, said: DialogueTerms, topics: ScoredTerms, demands: Demands) -> tuple[int, ...]:
        return select(self.graph, topics, *retrieved(self.graph, said, demands))


def measure_retrieval(
    retrieval: FactRetrieval, matcher: HardMatcher, pairs: Sequence[DialoguePair], show: Show
) -> RetrievalFigures:
    """Asks every method for the facts of every pair whose true reply a fact joins to the history."""
    found, curves = dict[str, list[int]](), dict[str, list[list[int]]]()
    joining, empty, times = list[int](), 0, list[float]()
    swapped = swapped_found = 0
    number = {triple: at for at, triple in enumerate(retrieval.triples)}
    for done, pair in enumerate(pairs):
        show("retrieving", done, len(pairs))
        began = time.process_time()
        ranked, _, foreseen = retrieval.embedded(pair.history, max(COUNTS))
        chosen = ranked[:MAX_SELECTED]
        times.append((time.process_time() - began) * 1000)
        empty += not len(foreseen)
        gold = {number[fact] for fact in matcher.facts_between(pair.history, pair.reply)}
        other = {number[fact] for fact in matcher.facts_between(pair.history, pairs[done - 1].reply)}
        swapped, swapped_found = swapped + len(other), swapped_found + len(other.intersection(chosen))
        if gold:
            nearest = retrieval.t_rag(pair.history, max(COUNTS))
            methods = {WHOLE: chosen, T_RAG: nearest[:MAX_SELECTED], **retrieval.without_parts(pair.history)}
            for name, rows in ((WHOLE, ranked), (T_RAG, nearest)):
                curves.setdefault(name, []).append([len(gold.intersection(rows[:count])) for count in COUNTS])
            joining.append(len(gold))
            for name, rows in methods.items():
                found.setdefault(name, []).append(len(gold.intersection(rows)))
    counts = {name: np.array(each, np.int64) for name, each in found.items()}
    most = max(1, len(pairs))
    by_chance = swapped_found / max(1, swapped)
    curve = {name: tuple((np.sum(each, axis=0) / sum(joining)).tolist()) for name, each in curves.items()}
    gold_counts = np.array(joining, np.int64)
    return RetrievalFigures(counts, gold_counts, len(pairs), empty / most, by_chance, tuple(times), curve)


def sets_that_differ(facts: PublicFacts, seed: int, count: int = SETS_DRAWN) -> int:
    """Returns how many of `count` random demands have fact sets that differ from the paper's definition, as written.

    The definition is worked out triple by triple, in plain Python.
    """
    drawn = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    triples = [(head, tail) for head, _, tail in facts.triples.tolist()]
    differ = 0
    for _ in range(count):
        # Ends of real facts, so that the sets are not all empty.
        ends = [end for row in drawn.sample(triples, 12) for end in row]
        demands = Demands(*(Demand(tuple(drawn.sample(ends, drawn.randint(0, 6)))) for _ in range(4)))
        got = fact_sets(facts, demands)
        differ += (got.foreseen.tolist(), got.unforeseen.tolist()) != _by_definition(triples, demands)
    return differ


def _by_definition(triples: Sequence[tuple[int, int]], demands: Demands) -> tuple[list[int], list[int]]:
    queries, topics = demands.queries, demands.topics
    foreseen = [
        row
        for row, (head, tail) in enumerate(triples)
        if (head in queries and tail in topics) or (head in topics and tail in queries)
    ]
    either, first = queries | topics, set(foreseen)
    return foreseen, [
        row for row, (head, tail) in enumerate(triples) if (head in either or tail in either) and row not in first
    ]
