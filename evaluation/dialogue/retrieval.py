"""Ranks candidate facts in every way of the table: untrained, learned, with parts left out, and on another graph.

Beside SURGE's published figures, and with the bounds of the learned ranking.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER, RelationTable, read_text
from app.retriever.retriever import NetworkConfig, RetrieverWeights, read_weights, scores_of
from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.dialogue_sets import Triple, read_metaqa
from evaluation.dialogue.figures import percent, published
from evaluation.dialogue.training_set import (
    ExampleMaker,
    RetrievalExample,
    by_replies,
    features_of,
    read_set,
    to_learn_from,
)
from evaluation.tables.measures import Measure
from evaluation.training.retriever import Learnt, RankedFacts, fit_retriever

LEARNED: Final = "learned, pseudonyms"
PLAIN: Final = "learned with names, names"
SAME_WEIGHTS: Final = "learned, the same weights, names"
CHAT_ALONE: Final = "learned, no questions by relation words"
REPLIES: Final = "learned from replies, no gold facts"
OPENDIALKG, METAQA = "OpenDialKG", "MetaQA"
METAQA_TURNS: Final = 1000

MIN_MRR: Final = 38.0
MIN_HITS: Final = {1: 27.0, 3: 44.0}
MIN_GAIN: Final = 1.24
MIN_TRANSFER: Final = 1.0
MAX_BEHIND_NAMES: Final = 1.0

CUTS: Final = (1, 3, 5, 10, 100)
# Scores that differ by rounding alone are the same: the order of the candidates must not matter.
_PLACES: Final = 5
# Robertson and Zaragoza, Foundations and Trends in Information Retrieval, 2009, section 3.2.
K1, B = 1.5, 0.75
_WORD = re.compile(r"\w+")

Scores = npt.NDArray[np.floating[Any]]
_Learning = Literal["with names hidden", "with names shown", "chat alone", "replies"]


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """Means over `turns`, between 0 and 1; `hits` in the order of CUTS."""

    turns: int
    mrr: float
    hits: tuple[float, ...]


def figures(scores: Sequence[Scores], gold: Sequence[npt.NDArray[np.bool_]]) -> RankingFigures:
    """Mean reciprocal rank and Hits@k of the first gold fact. One array of scores a turn, higher is better; every turn
    has a gold fact."""
    means = np.mean([_expected(each, right) for each, right in zip(scores, gold, strict=True)], axis=0)
    return RankingFigures(len(scores), float(means[0]), tuple(float(mean) for mean in means[1:]))


def _expected(scores: Scores, gold: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Reciprocal rank and hits of the best-placed gold fact, in expectation over the orders of equal scores."""
    scores = np.round(scores, _PLACES)
    best = scores[gold].max()
    above, equal = int((scores > best).sum()), int((scores == best).sum())
    right = int(((scores == best) & gold).sum())
    result = np.zeros(1 + len(CUTS))
    none_yet = 1.0
    for place in range(equal - right + 1):
        here = none_yet * right / (equal - place)
        rank = above + place + 1
        result += here * np.array([1 / rank, *(float(rank <= cut) for cut in CUTS)])
        none_yet -= here
    return result


def random_scores(example: RetrievalExample) -> Scores:
    """All the same: the measures take the mean over all orders of what is equal."""
    return np.zeros(len(example.gold))


def bm25_scores(example: RetrievalExample) -> Scores:
    """The history without names as the query, the relation words of each candidate as its document."""
    documents = {fact.relation: Counter(_WORD.findall(fact.relation)) for fact in example.query.facts}
    counts = Counter(fact.relation for fact in example.query.facts)
    total = counts.total()
    mean_length = sum(count * documents[words].total() for words, count in counts.items()) / total
    scores = dict.fromkeys(documents, 0.0)
    for word in set(_WORD.findall(_history(example, with_names=False).lower())):
        having = sum(count for words, count in counts.items() if documents[words][word])
        rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
        for words, document in documents.items():
            norm = K1 * (1 - B + B * document.total() / mean_length)
            scores[words] += rarity * document[word] * (K1 + 1) / (document[word] + norm)
    return np.array([scores[fact.relation] for fact in example.query.facts])


def bi_encoder_scores(embedder: Embedder, example: RetrievalExample, *, with_names: bool, turns: int) -> Scores:
    """Cosine of the dialogue and each fact, with names or its relation alone, by the sentence model as it is; `turns`:
    so many of the last turns, 0 for all."""
    relations = [fact.relation for fact in example.query.facts]
    facts = [" ".join(triple) for triple in example.triples] if with_names else relations
    return embedder.similarity(_history(example, with_names, turns), facts)


def _history(example: RetrievalExample, with_names: bool, turns: int = 0) -> str:
    placeholder = None if with_names else PLACEHOLDER
    return " ".join(read_text(utterance, placeholder)[0] for utterance in example.query.history[-turns:])


@dataclass(frozen=True, slots=True)
class RetrievalRow:
    """One way of ranking the turns of `source`. `is_untrained_encoder`: the learned one is compared with it."""

    source: str
    name: str
    figures: RankingFigures
    is_untrained_encoder: bool = False


@dataclass(slots=True)
class _Part:
    """Examples of one graph, and their features with and without names, made once."""

    examples: Sequence[RetrievalExample] = field(repr=False)
    relations: RelationTable
    facts: dict[bool, list[RankedFacts]] = field(default_factory=dict, repr=False)


class RetrievalRun:
    """Fills the table row by row; `weights`: a trained retriever, which is trained here without."""

    def __init__(self, data: Path, settings: Settings, seed: int, show: Show, weights: Path | None) -> None:
        """Raises QuestionsError, NetworkWeightsError."""
        self._embedder, self._seed, self._show = Embedder(settings.embedder, settings.cache_dir), seed, show
        self._weights = read_weights(weights, settings.embedder) if weights else None
        show("reading", 0, 1)
        self._set = read_set(data, self._embedder)
        graph, turns = read_metaqa(data, METAQA_TURNS, seed)
        self._learning: dict[_Learning, Sequence[Learnt]] = {}
        self._tests = {
            OPENDIALKG: _Part(self._set.test, self._set.relations),
            METAQA: _Part(ExampleMaker(graph).examples(turns), RelationTable(self._embedder, graph.relations)),
        }

    def rows(self, *, ablations: bool) -> list[RetrievalRow]:
        weights = self._learned()
        named = self._trained(PLAIN, NetworkConfig(), "with names shown")
        rows = [
            *self._untrained(OPENDIALKG),
            self._ranked(OPENDIALKG, LEARNED, weights),
            self._ranked(OPENDIALKG, SAME_WEIGHTS, weights, with_names=True),
            self._ranked(OPENDIALKG, PLAIN, named, with_names=True),
        ]
        if ablations:
            rows += self._ablations()
        rows += [*self._untrained(METAQA), self._ranked(METAQA, LEARNED, weights)]
        if ablations:
            alone = self._trained(CHAT_ALONE, NetworkConfig(), "chat alone")
            rows += [self._ranked(source, CHAT_ALONE, alone) for source in (OPENDIALKG, METAQA)]
        return rows

    def ranked_facts(self) -> dict[str, tuple[Triple, ...]]:
        """The facts around each turn of OpenDialKG that is measured, best first, by the turn's id."""
        part, weights = self._tests[OPENDIALKG], self._learned()
        ranked = {}
        for example, facts in zip(part.examples, self._facts(part, with_names=False), strict=True):
            scores = scores_of(weights, facts.features, part.relations.vectors())
            # Names in an order of their own decide between facts of one score.
            rounded = [-round(float(score), _PLACES) for score in scores]
            ranked[example.turn.id] = tuple(triple for _, triple in sorted(zip(rounded, example.triples, strict=True)))
        return ranked

    def _learned(self) -> RetrieverWeights:
        """Trained once, where no weights are given."""
        if self._weights is None:
            self._weights = self._trained(LEARNED, NetworkConfig())
        return self._weights

    def _untrained(self, source: str) -> list[RetrievalRow]:
        rows = [
            self._scored(source, "random", random_scores),
            self._scored(source, "BM25 over relation words", bm25_scores),
        ]
        for names, over in ((True, "triples, names"), (False, "relation words, pseudonyms")):
            for turns, told in ((0, "all turns"), (1, "last turn")):
                scores = partial(bi_encoder_scores, self._embedder, with_names=names, turns=turns)
                rows.append(self._scored(source, f"bi-encoder over {over}, {told}", scores, is_encoder=True))
        return rows

    def _ablations(self) -> list[RetrievalRow]:
        configs = {
            "no edges": NetworkConfig(edges=False),
            "no nodes": NetworkConfig(nodes=False),
            "no messages": NetworkConfig(messages=False),
            "trained relation table, no words": NetworkConfig(trained_relations=len(self._set.relations.vectors())),
        }
        trained = {name: self._trained(name, config) for name, config in configs.items()}
        trained[REPLIES] = self._trained(REPLIES, NetworkConfig(), "replies")
        return [self._ranked(OPENDIALKG, name, weights) for name, weights in trained.items()]

    def _scored(
        self, source: str, name: str, scores: Callable[[RetrievalExample], Scores], *, is_encoder: bool = False
    ) -> RetrievalRow:
        examples = self._tests[source].examples
        found = []
        for number, example in enumerate(examples, start=1):
            found.append(scores(example))
            self._show(f"{source}: {name}", number, len(examples))
        return RetrievalRow(source, name, figures(found, [example.gold for example in examples]), is_encoder)

    def _ranked(self, source: str, name: str, weights: RetrieverWeights, *, with_names: bool = False) -> RetrievalRow:
        part = self._tests[source]
        facts = self._facts(part, with_names)
        scores = [scores_of(weights, each.features, part.relations.vectors()) for each in facts]
        return RetrievalRow(source, name, figures(scores, [each.gold for each in facts]))

    def _trained(self, name: str, config: NetworkConfig, source: _Learning = "with names hidden") -> RetrieverWeights:
        return fit_retriever(
            self._to_learn_from(source),
            self._set.relations.vectors(),
            config,
            self._seed,
            tell=lambda progress: self._show(f"training: {name}", progress.done, progress.total),
        )

    def _to_learn_from(self, source: _Learning) -> Sequence[Learnt]:
        """Made once for each source."""
        if source not in self._learning:
            self._learning[source] = self._made(source)
        return self._learning[source]

    def _made(self, source: _Learning) -> Sequence[Learnt]:
        if source == "chat alone":
            return self._to_learn_from("with names hidden")[: len(self._set.train)]
        if source == "replies":
            return by_replies(self._set.train, self._to_learn_from("with names hidden"))
        placeholder = None if source == "with names shown" else PLACEHOLDER
        tell = partial(self._show, "embedding")
        return to_learn_from(self._set, self._embedder, self._seed, tell=tell, placeholder=placeholder)

    def _facts(self, part: _Part, with_names: bool) -> list[RankedFacts]:
        if with_names not in part.facts:
            tell, placeholder = partial(self._show, "embedding"), None if with_names else PLACEHOLDER
            part.facts[with_names] = features_of(part.examples, self._embedder, part.relations, tell, placeholder)
        return part.facts[with_names]


def retrieval_measures(rows: Sequence[RetrievalRow]) -> list[Measure]:
    """The bounds, all of the learned retriever that sees pseudonyms alone."""
    found = {(row.source, row.name): row.figures for row in rows}
    learned, elsewhere = found[OPENDIALKG, LEARNED], found[METAQA, LEARNED]
    best = {row.source: 0.0 for row in rows}
    for row in rows:
        if row.is_untrained_encoder:
            best[row.source] = max(best[row.source], row.figures.mrr)
    gain, transfer = learned.mrr / best[OPENDIALKG], elsewhere.mrr / best[METAQA]
    hits = dict(zip(CUTS, (100 * share for share in learned.hits), strict=True))
    names = 100 * (found[OPENDIALKG, PLAIN].mrr - learned.mrr)
    at_most = Measure(
        name="MRR that names would add",
        questions=learned.turns,
        bound=f"at most {MAX_BEHIND_NAMES:g} point",
        reached=f"{names:+.1f}",
        passed=names <= MAX_BEHIND_NAMES,
    )
    return [
        _at_least("retrieval, MRR", learned, 100 * learned.mrr, MIN_MRR),
        *(_at_least(f"retrieval, Hits@{cut}", learned, hits[cut], least) for cut, least in MIN_HITS.items()),
        _at_least("MRR, times that of the best untrained bi-encoder", learned, gain, MIN_GAIN, places=2),
        at_most,
        _at_least("the same weights on another graph, likewise", elsewhere, transfer, MIN_TRANSFER, places=2),
    ]


def _at_least(name: str, of: RankingFigures, reached: float, bound: float, places: int = 1) -> Measure:
    told = f"{reached:.{places}f}"
    return Measure(name=name, questions=of.turns, bound=f"{bound:g}", reached=told, passed=reached >= bound)


def retrieval_markdown(rows: Sequence[RetrievalRow]) -> str:
    """Figures times 100."""
    ours = [(row.source, row.name, row.figures.turns, *percent([row.figures.mrr, *row.figures.hits])) for row in rows]
    beside = [(OPENDIALKG, f"SURGE, published: {name}", "", *cells) for name, *cells in published("retrieval")[1]]
    return markdown_table(("set", "ranking", "turns", "MRR", *(f"Hits@{cut}" for cut in CUTS)), [*ours, *beside])
