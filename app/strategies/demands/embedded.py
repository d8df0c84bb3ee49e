"""Works out the demands of a dialogue without a model: what is said, what is near to it, and what a reply may take up.

Queries are found by the words of the turns; topics are ranked among what stands beside the queries in the graph. The
score of a topic is a small fitted model (`topic_weights.toml`) over the graph and the words, so it fits every graph.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.word_vectors import Phrases, WordVectors, likeness
from app.strategies.demands.fact_sets import (
    MAX_FACTS,
    MAX_SELECTED,
    Demand,
    Demands,
    fact_sets,
    selected,
)
from kg_store.graph.public_facts import Ints, PublicFacts, lemmas_in
from kg_store.text.english import zipf_frequency

Floats = npt.NDArray[np.float32]

FEATURES: Final = (
    "bias", "likeness", "zipf", "is_one_word", "words", "log_degree", "log_support", "turns_ago", "narrowest",
    "is_said",
)  # fmt: skip
MAX_AGO: Final = 6
MAX_TOPICS: Final = 20
"""The most topics that a reply may take up. Chosen by hand: from 10 to 80 the measured recall is the same."""
MAX_ZIPF: Final = 6.4
"""A word that is used more often than this (about the fifty most frequent) has no meaning of its own. By hand."""
MAX_IMPLICIT: Final = 5
"""The most queries that are meant but not said. Chosen by hand; not fitted."""
TOPIC_WEIGHTS: Final = Path(__file__).with_name("topic_weights.toml")


@cache
def topic_weights() -> Floats:
    """Returns the fitted weights in the order of FEATURES; shape (features,)."""
    found: Mapping[str, float] = tomllib.loads(TOPIC_WEIGHTS.read_text("utf-8"))
    return np.array([found[name] for name in FEATURES], np.float32)


@dataclass(frozen=True, eq=False)
class PublicTerms:
    """The terms of a public graph with what ranks them: their tokens, frequency, length and number of facts."""

    facts: PublicFacts = field(repr=False)
    words: WordVectors = field(repr=False)

    @cached_property
    def phrases(self) -> Phrases:
        return self.words.phrases(self.facts.phrases)

    @cached_property
    def relations(self) -> Phrases:
        return self.words.phrases(self.facts.relations)

    @cached_property
    def lengths(self) -> Floats:
        return np.array([len(lemmas_in(each)) for each in self.facts.phrases], np.float32)

    @cached_property
    def zipf(self) -> Floats:
        """The frequency of the rarest word of each term."""
        rarest = (min(map(zipf_frequency, lemmas_in(each)), default=0.0) for each in self.facts.phrases)
        return np.fromiter(rarest, np.float32, len(self.facts.phrases))

    @cached_property
    def means_something(self) -> npt.NDArray[np.bool_]:
        """False for terms of one word that is among the fifty most frequent ones."""
        return (self.lengths > 1) | (self.zipf < MAX_ZIPF)

    @cached_property
    def degrees(self) -> Floats:
        ends = self.facts.triples[:, [0, 2]].ravel()
        return np.bincount(ends, minlength=len(self.facts.phrases)).astype(np.float32)

    def prepare(self) -> None:
        """Works out now what the first dialogue would wait for: seconds for 100,000 facts."""
        for _ in (self.phrases, self.relations, self.lengths, self.zipf, self.degrees):
            pass

    def is_meaningful(self, row: int) -> bool:
        """Returns True for a fact that joins two terms with a meaning of their own."""
        head, _, tail = self.facts.triples[row].tolist()
        return bool(head != tail and self.means_something[head] and self.means_something[tail])

    def nearest_facts(self, rows: Ints, said: DialogueTerms, most: int = MAX_FACTS) -> Ints:
        """Returns the facts whose texts are most like the dialogue by cosine, best first.

        The length of a fact's vector is worked out as if its three parts had nothing to do with each other, so that no
        fact needs a vector of its own. The facts found are as good as by exact lengths (recall 0.420 and 0.419).
        """
        heads, relations, tails = self.facts.triples[rows].T
        parts = ((self.phrases, heads), (self.relations, relations), (self.phrases, tails))
        products = sum(likeness(of, which, said.products) * of.lengths[which] for of, which in parts)
        lengths = np.sqrt(sum(of.lengths[which] ** 2 for of, which in parts))
        found: Ints = rows[np.argsort(-products / np.maximum(lengths, np.float32(1e-9)), kind="stable")[:most]]
        return found


@dataclass(frozen=True, slots=True)
class ScoredTerms:
    """The terms beside what was said, with their scores as topics; shape (terms,) each, terms ascending."""

    terms: Ints
    scores: Floats

    def best(self, most: int | None = None) -> list[int]:
        found: list[int] = self.terms[np.argsort(-self.scores, kind="stable")[:most]].tolist()
        return found

    def of(self, terms: Ints) -> Floats:
        """Returns the score of each term; minus infinity for those that stand beside nothing said."""
        if not len(self.terms):
            return np.full(len(terms), -np.inf, np.float32)
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[at] == terms, self.scores[at], np.float32(-np.inf))


@dataclass(frozen=True, slots=True)
class DialogueTerms:
    """The terms of a public graph that stand in a dialogue, each with the number of turns since it was said last.

    `products`: of all word vectors with the vector of the dialogue.
    """

    ago: Mapping[int, int]
    products: Floats = field(repr=False)

    @classmethod
    def of(cls, graph: PublicTerms, turns: Sequence[str]) -> DialogueTerms:
        """Reads the turns, the oldest first."""
        ago = {term: len(turns) - 1 - at for at, turn in enumerate(turns) for term in graph.facts.terms_in(turn)}
        return cls(ago, graph.words.products(turns))


def topic_features(graph: PublicTerms, said: DialogueTerms) -> tuple[Ints, Floats]:
    """Returns the terms beside what was said, and what tells whether a reply takes them up; shape (terms, features).

    `narrowest`: minus the log number of facts of the narrowest term that leads there. `support`: number of such terms.
    """
    near, far = _neighbours(graph.facts, [*said.ago])
    terms = np.flatnonzero(graph.facts.flags_of(far)).astype(np.int32)
    at = np.searchsorted(terms, far)
    ago, narrowest = np.full(len(terms), MAX_AGO, np.float32), np.full(len(terms), -np.inf, np.float32)
    np.minimum.at(ago, at, np.array([said.ago[each] for each in near.tolist()], np.float32))
    np.maximum.at(narrowest, at, -np.log(graph.degrees[near]))
    columns = (
        np.ones(len(terms), np.float32),
        likeness(graph.phrases, terms, said.products),
        graph.zipf[terms],
        graph.lengths[terms] == 1,
        graph.lengths[terms],
        np.log(graph.degrees[terms]),
        np.log(np.bincount(at, minlength=len(terms))),
        ago,
        narrowest,
        graph.facts.flags_of([*said.ago])[terms],
    )
    return terms, np.stack(columns, axis=1).astype(np.float32)


def scored_topics(graph: PublicTerms, said: DialogueTerms) -> ScoredTerms:
    """Returns the terms beside what was said with their scores as topics of the reply."""
    if not said.ago:
        return ScoredTerms(np.zeros(0, np.int32), np.zeros(0, np.float32))
    terms, features = topic_features(graph, said)
    return ScoredTerms(terms, features @ topic_weights())


def produce_queries(graph: PublicTerms, said: DialogueTerms, topics: ScoredTerms) -> Demands:
    """Returns the queries: all terms that are said, and those beside them that are most like the whole dialogue."""
    unsaid = topics.terms[~graph.facts.flags_of([*said.ago])[topics.terms]]
    order = np.argsort(-likeness(graph.phrases, unsaid, said.products), kind="stable")
    return Demands(explicit=Demand(tuple(said.ago)), implicit=Demand(tuple(unsaid[order[:MAX_IMPLICIT]].tolist())))


def plan_topics(said: DialogueTerms, topics: ScoredTerms, most: int | None = None) -> Demands:
    """Returns the topics that a reply could take up, best first: those that are said go on, and others are new."""
    best = topics.best(most)
    return Demands(
        maintained=Demand(tuple(each for each in best if each in said.ago)),
        extended=Demand(tuple(each for each in best if each not in said.ago)),
    )


def revise(graph: PublicTerms, queries: Demands, topics: ScoredTerms, said: DialogueTerms) -> Demands:
    """Returns the demands that have to do with each other: the best topics, and the queries that a fact joins to one.

    `queries`: as produced. Implicit queries stay, since no reply can be said to be about them.
    """
    planned = plan_topics(said, topics, MAX_TOPICS)
    joined = graph.facts.flags_of(_neighbours(graph.facts, [*planned.topics])[1])
    explicit = Demand(tuple(each for each in queries.explicit.terms if joined[each]))
    return replace(planned, explicit=explicit, implicit=queries.implicit)


def embedded_demands(graph: PublicTerms, said: DialogueTerms, topics: ScoredTerms) -> Demands:
    """Returns the demands of a dialogue: queries and topics, worked out apart and then revised by each other."""
    return revise(graph, produce_queries(graph, said, topics), topics, said)


def retrieved(graph: PublicTerms, said: DialogueTerms, demands: Demands) -> tuple[Ints, Ints]:
    """Returns the foreseen and the unforeseen facts that are most like the dialogue, best first, MAX_FACTS of each."""
    sets = fact_sets(graph.facts, demands)
    return graph.nearest_facts(sets.foreseen, said), graph.nearest_facts(sets.unforeseen, said)


def select(
    graph: PublicTerms, topics: ScoredTerms, foreseen: Ints, unforeseen: Ints, most: int = MAX_SELECTED
) -> tuple[int, ...]:
    """Returns the facts for a reply: those first that lead to the best topics, the foreseen before all others."""

    def ordered(rows: Ints) -> list[int]:
        heads, tails = graph.facts.triples[rows, 0], graph.facts.triples[rows, 2]
        worth = np.maximum(topics.of(heads), topics.of(tails))
        found: list[int] = rows[np.argsort(-worth, kind="stable")].tolist()
        return found

    return selected(ordered(foreseen), ordered(unforeseen), most)


def told_first(graph: PublicTerms, said: DialogueTerms, topics: ScoredTerms, most: int) -> tuple[int, ...]:
    """Returns one fact for each of the narrowest terms of the last turn: that which leads to its best topic.

    What a turn is about has few facts ("lemon"), and what is said in passing has many ("dog"). Facts that lead to a
    word without a meaning of its own, such as "this", are left out.
    """
    newest = sorted((term for term, ago in said.ago.items() if not ago), key=lambda term: graph.degrees[term])
    found = dict[int, None]()
    for term in newest:
        rows = graph.facts.facts_at([term])
        heads, _, tails = graph.facts.triples[rows].T
        far = np.where(heads == term, tails, heads)
        fits = graph.means_something[far] & (far != term)
        if fits.any():
            found[int(rows[fits][topics.of(far[fits]).argmax()])] = None
        if len(found) == most:
            break
    return tuple(found)


def _neighbours(facts: PublicFacts, terms: Sequence[int] | Ints) -> tuple[Ints, Ints]:
    """Returns a pair (term, what a fact joins it with) for each fact at one of `terms`, in both directions."""
    is_near = facts.flags_of(terms)
    heads, _, tails = facts.triples[facts.facts_at(terms)].T
    forward, backward = is_near[heads], is_near[tails]
    return np.concatenate([heads[forward], tails[backward]]), np.concatenate([tails[forward], heads[backward]])
