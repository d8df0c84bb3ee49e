"""Ranks the candidate facts of the test turns in every way of the table: untrained, learned, with parts left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.evaluation.bench.question_sets import Show
from app.evaluation.dialogue.baselines import BiEncoder, Floats, bm25_scores, random_scores
from app.evaluation.dialogue.examples import RetrievalExample
from app.evaluation.dialogue.ranking import RankingFigures, figures
from app.evaluation.dialogue.training_set import DialogueSet, features_of, read_set
from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER
from app.retriever.network import NetworkConfig, RetrieverWeights, scores_of
from app.retriever.weights import read_weights
from app.settings import Settings
from app.training.retriever import RankedFacts, fit_retriever

LEARNED: Final = "learned, pseudonyms"
PLAIN: Final = "learned with names, names"
SAME_WEIGHTS: Final = "learned, the same weights, names"


@dataclass(frozen=True, slots=True)
class RetrievalRow:
    """One way of ranking. `is_untrained_encoder`: one of those that the learned one is compared with."""

    name: str
    figures: RankingFigures
    is_untrained_encoder: bool = False


class RetrievalRun:
    """Fills the table row by row; `weights`: a trained retriever, which is trained here without."""

    def __init__(self, data: Path, settings: Settings, seed: int, show: Show, weights: Path | None) -> None:
        """Raises QuestionsError, RetrieverWeightsError."""
        self._embedder, self._seed, self._show = Embedder(settings.embedder, settings.cache_dir), seed, show
        self._weights = read_weights(weights, settings.embedder) if weights else None
        show("reading", 0, 1)
        self._set: DialogueSet = read_set(data, self._embedder)
        self._parts: dict[tuple[bool, bool], list[RankedFacts]] = {}

    def rows(self, *, ablations: bool) -> list[RetrievalRow]:
        return [*self._untrained(), *self._learned(), *(self._ablations() if ablations else ())]

    def _untrained(self) -> list[RetrievalRow]:
        encoders = {
            f"bi-encoder over {'triples, names' if names else 'relation words, pseudonyms'}, {told}": BiEncoder(
                self._embedder, with_names=names, turns=turns
            ).scores
            for names in (True, False)
            for told, turns in (("all turns", 0), ("last turn", 1))
        }
        rows = [self._scored("random", random_scores), self._scored("BM25 over relation words", bm25_scores)]
        return rows + [self._scored(name, scores, is_encoder=True) for name, scores in encoders.items()]

    def _learned(self) -> list[RetrievalRow]:
        network = self._weights or self._trained(LEARNED, NetworkConfig())
        rows = [self._ranked(LEARNED, network), self._ranked(SAME_WEIGHTS, network, with_names=True)]
        named = self._trained(PLAIN, NetworkConfig(), with_names=True)
        return [*rows, self._ranked(PLAIN, named, with_names=True)]

    def _ablations(self) -> list[RetrievalRow]:
        relations = len(self._set.relations.vectors())
        configs = {
            "no edges": NetworkConfig(edges=False),
            "no nodes": NetworkConfig(nodes=False),
            "no messages": NetworkConfig(messages=False),
            "trained relation table, no words": NetworkConfig(trained_relations=relations),
        }
        return [self._ranked(name, self._trained(name, config)) for name, config in configs.items()]

    def _scored(
        self, name: str, scores: Callable[[RetrievalExample], Floats], *, is_encoder: bool = False
    ) -> RetrievalRow:
        found = []
        for number, example in enumerate(self._set.test, start=1):
            found.append(scores(example))
            self._show(name, number, len(self._set.test))
        return RetrievalRow(name, figures(found, [example.gold for example in self._set.test]), is_encoder)

    def _ranked(self, name: str, weights: RetrieverWeights, *, with_names: bool = False) -> RetrievalRow:
        facts = self._features(is_test=True, with_names=with_names)
        scores = [scores_of(weights, each.features, self._set.relations.vectors()) for each in facts]
        return RetrievalRow(name, figures(scores, [each.gold for each in facts]))

    def _trained(self, name: str, config: NetworkConfig, *, with_names: bool = False) -> RetrieverWeights:
        facts = self._features(is_test=False, with_names=with_names)
        return fit_retriever(
            facts,
            self._set.relations.vectors(),
            config,
            self._seed,
            tell=lambda progress: self._show(f"training: {name}", progress.steps, progress.all_steps),
        )

    def _features(self, *, is_test: bool, with_names: bool) -> Sequence[RankedFacts]:
        """Made once for each part and manner."""
        if (is_test, with_names) not in self._parts:
            self._parts[is_test, with_names] = features_of(
                self._set.test if is_test else self._set.train,
                self._embedder,
                self._set.relations,
                lambda done, total: self._show("embedding", done, total),
                None if with_names else PLACEHOLDER,
            )
        return self._parts[is_test, with_names]
