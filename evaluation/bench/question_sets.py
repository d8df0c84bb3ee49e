"""The public question sets and the demo as a table of bounds runs over them: converted and loaded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from evaluation.bench.bench import Bench, LoadedSet
from evaluation.datasets.converters import Converted, convert
from evaluation.datasets.questions import Question, read_questions

Show = Callable[[str, int, int], None]
"""Title of what runs, how much of it is done, how much there is in all."""

DEMO = "demo"
PQ_2H, PQ_3H = "pathquestion:pathquestion/PQ-2H.jsonl", "pathquestion:pathquestion/PQ-3H.jsonl"
METAQA = {hops: f"metaqa:metaqa/qa_dev_{hops}hop.txt" for hops in (1, 2, 3)}
WEBQSP = "webqsp:webqsp/questions.jsonl"
C360 = "rdf/c360.ttl"
OPENDIALKG = "opendialkg/triples.tsv"

# Graphs that are one file, so that one loaded version serves several rows.
_SAME_GRAPH = {"metaqa": "metaqa"}


class QuestionSets:
    """Sets of one bench. A source is `demo`, or a converter and its file below `data`: `webqsp:webqsp/...`."""

    def __init__(self, bench: Bench, data: Path, folder: Path, show: Show) -> None:
        self.bench = bench
        self._data, self._folder, self._show = data, folder, show
        self._converted: dict[str, Converted] = {}
        self._loaded: dict[str, LoadedSet] = {}

    def of(self, source: str) -> tuple[LoadedSet, list[Question]]:
        """The graph of a set, loaded, and all its questions. Raises QuestionsError."""
        if source == DEMO:
            return self._load(DEMO, [GRAPH_FILE], POLICY_FILE.read_text("utf-8")), self.questions(source)
        converted = self._convert(source)
        name = source.partition(":")[0]
        graph = _SAME_GRAPH.get(name, converted.graph.parent.name)
        return self._load(graph, [converted.graph], None), self.questions(source)

    def questions(self, source: str) -> list[Question]:
        """The questions of a set alone; its graph is not loaded. Raises QuestionsError."""
        return read_questions(QUESTIONS_FILE if source == DEMO else self._convert(source).questions)

    def graph_file(self, source: str) -> Path:
        """The graph of a public set, as it was converted, to be loaded by another policy. Raises QuestionsError."""
        return self._convert(source).graph

    def graph(self, file: str) -> LoadedSet:
        """A graph file below `data`, loaded by the policy that is proposed for it."""
        return self._load(Path(file).stem, [self._data / file], None)

    def _convert(self, source: str) -> Converted:
        if source not in self._converted:
            name, _, file = source.partition(":")
            out = self._folder / Path(file).stem.lower().replace("_", "-")
            self._converted[source] = convert(name, self._data / file, out)
        return self._converted[source]

    def _load(self, graph: str, sources: Sequence[Path], policy: str | None) -> LoadedSet:
        if graph not in self._loaded:
            title = f"loading {graph}"
            self._loaded[graph] = self.bench.load(
                graph, sources, policy, lambda _step, percent: self._show(title, int(percent), 100)
            )
        return self._loaded[graph]
