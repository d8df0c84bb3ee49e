"""Ranks candidate facts in every way of the table: untrained, learned, with parts left out, and on another graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER
from app.retriever.network import NetworkConfig, RetrieverWeights, scores_of
from app.retriever.relations import RelationTable
from app.retriever.weights import read_weights
from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.baselines import BiEncoder, Floats, bm25_scores, random_scores
from evaluation.dialogue.examples import ExampleMaker, RetrievalExample
from evaluation.dialogue.metaqa import read_metaqa
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.ranking import RankingFigures, figures
from evaluation.dialogue.replies import replied_facts
from evaluation.dialogue.training_set import features_of, read_set, to_learn_from
from evaluation.training.retriever import RankedFacts, RepliedFacts, fit_retriever

LEARNED: Final = "learned, pseudonyms"
PLAIN: Final = "learned with names, names"
SAME_WEIGHTS: Final = "learned, the same weights, names"
CHAT_ALONE: Final = "learned, no questions by relation words"
REPLIES: Final = "learned from replies, no gold facts"
OPENDIALKG, METAQA = "OpenDialKG", "MetaQA"
METAQA_TURNS: Final = 1000

_Learning = Literal["with names hidden", "with names shown", "chat alone", "replies"]


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
        found = read_set(data, self._embedder)
        self._set = found
        graph, turns = read_metaqa(data, METAQA_TURNS, seed)
        self._learning: dict[_Learning, Sequence[RankedFacts | RepliedFacts]] = {}
        self._tests = {
            OPENDIALKG: _Part(found.test, found.relations),
            METAQA: _Part(ExampleMaker(graph).examples(turns), RelationTable(self._embedder, graph.relations)),
        }

    def rows(self, *, ablations: bool) -> list[RetrievalRow]:
        weights = self._learned()
        named = self._trained(PLAIN, NetworkConfig(), "with names shown")
        return [
            *self._untrained(OPENDIALKG),
            self._ranked(OPENDIALKG, LEARNED, weights),
            self._ranked(OPENDIALKG, SAME_WEIGHTS, weights, with_names=True),
            self._ranked(OPENDIALKG, PLAIN, named, with_names=True),
            *(self._ablations() if ablations else ()),
            *self._untrained(METAQA),
            self._ranked(METAQA, LEARNED, weights),
            *(self._without_questions() if ablations else ()),
        ]

    def ranked_facts(self) -> dict[str, tuple[Triple, ...]]:
        """The facts around each turn of OpenDialKG that is measured, best first, by the turn's id."""
        part, weights = self._tests[OPENDIALKG], self._learned()
        ranked = {}
        for example, facts in zip(part.examples, self._facts(part, with_names=False), strict=True):
            scores = scores_of(weights, facts.features, part.relations.vectors())
            # Names in an order of their own decide between facts of one score.
            order = sorted(range(len(scores)), key=lambda at: (-round(float(scores[at]), 5), example.triples[at]))
            ranked[example.turn.id] = tuple(example.triples[at] for at in order)
        return ranked

    def _learned(self) -> RetrieverWeights:
        """Trained once, where no weights are given."""
        if self._weights is None:
            self._weights = self._trained(LEARNED, NetworkConfig())
        return self._weights

    def _untrained(self, source: str) -> list[RetrievalRow]:
        encoders = {
            f"bi-encoder over {'triples, names' if names else 'relation words, pseudonyms'}, {told}": BiEncoder(
                self._embedder, with_names=names, turns=turns
            ).scores
            for names in (True, False)
            for told, turns in (("all turns", 0), ("last turn", 1))
        }
        rows = [
            self._scored(source, "random", random_scores),
            self._scored(source, "BM25 over relation words", bm25_scores),
        ]
        return rows + [self._scored(source, name, scores, is_encoder=True) for name, scores in encoders.items()]

    def _ablations(self) -> list[RetrievalRow]:
        relations = len(self._set.relations.vectors())
        configs = {
            "no edges": NetworkConfig(edges=False),
            "no nodes": NetworkConfig(nodes=False),
            "no messages": NetworkConfig(messages=False),
            "trained relation table, no words": NetworkConfig(trained_relations=relations),
        }
        rows = [self._ranked(OPENDIALKG, name, self._trained(name, config)) for name, config in configs.items()]
        replies = self._trained(REPLIES, NetworkConfig(), "replies")
        return [*rows, self._ranked(OPENDIALKG, REPLIES, replies)]

    def _without_questions(self) -> list[RetrievalRow]:
        weights = self._trained(CHAT_ALONE, NetworkConfig(), "chat alone")
        return [self._ranked(source, CHAT_ALONE, weights) for source in (OPENDIALKG, METAQA)]

    def _scored(
        self, source: str, name: str, scores: Callable[[RetrievalExample], Floats], *, is_encoder: bool = False
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

    def _to_learn_from(self, source: _Learning) -> Sequence[RankedFacts | RepliedFacts]:
        """Made once for each source."""
        if source not in self._learning:
            self._learning[source] = self._made(source)
        return self._learning[source]

    def _made(self, source: _Learning) -> Sequence[RankedFacts | RepliedFacts]:
        chat = len(self._set.train)
        if source == "chat alone":
            return self._to_learn_from("with names hidden")[:chat]
        if source == "replies":
            facts = self._to_learn_from("with names hidden")
            return [*replied_facts(self._set.train, facts[:chat]), *facts[chat:]]
        placeholder = None if source == "with names shown" else PLACEHOLDER
        return to_learn_from(
            self._set,
            self._embedder,
            self._seed,
            tell=lambda done, total: self._show("embedding", done, total),
            placeholder=placeholder,
        )

    def _facts(self, part: _Part, with_names: bool) -> list[RankedFacts]:
        if with_names not in part.facts:
            part.facts[with_names] = features_of(
                part.examples,
                self._embedder,
                part.relations,
                lambda done, total: self._show("embedding", done, total),
                None if with_names else PLACEHOLDER,
            )
        return part.facts[with_names]
