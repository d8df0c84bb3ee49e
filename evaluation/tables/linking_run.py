"""`arog eval linking`: the corpus of slips and the topics of WebQSP, measured on freshly loaded graphs."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from evaluation.bench.bench import TENANT, Bench, LoadedSet
from evaluation.bench.question_sets import C360, DEMO, PQ_2H, PQ_3H, WEBQSP, QuestionSets, Show
from evaluation.tables.linking import LinkingReport, measure_mentions, measure_topics
from kg_store.catalog import PrivateGraph

RECALL, PRECISION, TOPICS = 0.90, 0.97, 0.90


@dataclass(frozen=True, slots=True)
class LinkingResults:
    """Both measurements, and which bounds they miss, in words."""

    slips: LinkingReport
    topics: LinkingReport

    @property
    def missed(self) -> list[str]:
        bounds = [
            (self.slips.recall >= RECALL, f"names with slips found: {self.slips.recall:.3f} < {RECALL}"),
            (self.slips.precision >= PRECISION, f"their precision: {self.slips.precision:.3f} < {PRECISION}"),
            (self.topics.recall >= TOPICS, f"WebQSP topics found: {self.topics.recall:.3f} < {TOPICS}"),
        ]
        return [words for reached, words in bounds if not reached]

    def markdown(self) -> str:
        said = "\n".join(f"- {words}" for words in self.missed) or "- all bounds reached"
        return f"{self.slips.markdown()}\nWebQSP:\n\n{self.topics.markdown()}\n{said}\n"


async def run_linking(data: Path, mentions: int, seed: int, show: Show) -> LinkingResults:
    """Loads the demo, customers, PathQuestion and WebQSP. Raises QuestionsError."""
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench("embedded") as bench:
            sets = QuestionSets(bench, data, Path(folder), show)
            loaded = [sets.of(DEMO)[0], sets.graph(C360), sets.of(PQ_2H)[0], sets.of(PQ_3H)[0]]
            slips = measure_mentions([_opened(bench, each) for each in loaded], mentions, seed)
            webqsp, questions = sets.of(WEBQSP)
            return LinkingResults(slips, measure_topics(_opened(bench, webqsp), questions))


def _opened(bench: Bench, loaded: LoadedSet) -> PrivateGraph:
    return bench.services.store.catalog.open(TENANT, loaded.graph)
