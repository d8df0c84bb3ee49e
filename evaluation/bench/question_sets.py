"""The public question sets and the demo, converted and loaded once; and questions asked of another set's graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from evaluation.bench.bench import Bench, LoadedSet
from evaluation.datasets.converters import Converted, convert
from evaluation.datasets.derived_sets import foreign, transplanted, with_topics_given, without_relations
from evaluation.datasets.questions import Question, read_questions
from kg_store.graph.traversal import members_of

Show = Callable[[str, int, int], None]
"""Shows progress: the title of what runs, how much is done, how much there is in all."""

DEMO = "demo"
PQ_2H, PQ_3H = "pathquestion:pathquestion/PQ-2H.jsonl", "pathquestion:pathquestion/PQ-3H.jsonl"
METAQA = {hops: f"metaqa:metaqa/qa_dev_{hops}hop.txt" for hops in (1, 2, 3)}
WEBQSP = "webqsp:webqsp/questions.jsonl"
C360 = "rdf/c360.ttl"
OPENDIALKG = "opendialkg/triples.tsv"

# Converters whose sets share one graph file, with the name that it is loaded under once.
_SAME_GRAPH = {"metaqa": "metaqa"}
# c360 knows where a customer lives too, under another label. The other pairs of graphs share no relation.
_DEMO_IN_C360 = frozenset({"lives in"})
_ABOUT_PEOPLE = ("actor_to", "director_to", "writer_to")


class QuestionSets:
    """The question sets of one bench, converted and loaded once.

    A source is `demo`, or a converter and its file below `data`, as in `webqsp:webqsp/questions.jsonl`.
    """

    def __init__(self, bench: Bench, data: Path, folder: Path, show: Show) -> None:
        self.bench = bench
        self._data, self._folder, self._show = data, folder, show
        self._converted: dict[str, Converted] = {}
        self._loaded: dict[str, LoadedSet] = {}

    def of(self, source: str) -> tuple[LoadedSet, list[Question]]:
        """Returns the loaded graph of a set and all questions of the set. Raises QuestionsError."""
        if source == DEMO:
            return self._load(DEMO, [GRAPH_FILE], POLICY_FILE.read_text("utf-8")), self.questions(source)
        graph = self.graph_file(source)
        name = _SAME_GRAPH.get(source.partition(":")[0], graph.parent.name)
        return self._load(name, [graph], None), self.questions(source)

    def questions(self, source: str) -> list[Question]:
        """Returns the questions of a set without loading its graph. Raises QuestionsError."""
        return read_questions(QUESTIONS_FILE if source == DEMO else self._convert(source).questions)

    def graph_file(self, source: str) -> Path:
        """Returns the converted graph file of a public set, to be loaded by another policy. Raises QuestionsError."""
        return self._convert(source).graph

    def graph(self, file: str) -> LoadedSet:
        """Loads a graph file below `data` by the policy that is proposed for it."""
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


@dataclass(frozen=True, slots=True)
class ForeignSet:
    """Questions of another graph, to be asked of the graph `loaded`, which can't answer them.

    `names`: names of things in `loaded`. `is_known`: tells if something in `loaded` has exactly a given name.
    """

    title: str
    loaded: LoadedSet
    questions: list[Question] = field(repr=False)
    names: list[str] = field(repr=False)
    is_known: Callable[[str], bool]

    def as_they_are(self) -> list[Question]:
        return foreign(self.questions, self.is_known)

    def its_own_topics(self, seed: int) -> list[Question]:
        """Returns the questions with their topics replaced by names of things in `loaded`."""
        return transplanted(self.questions, self.names, seed)


def foreign_sets(sets: QuestionSets) -> list[ForeignSet]:
    """Returns MetaQA's questions for PathQuestion's graph and the reverse, and the demo's for `c360.ttl`."""
    people, of_3 = sets.of(PQ_3H)
    movies, of_1 = sets.of(METAQA[1])
    customers = sets.graph(C360)
    of_movies = [question for source in METAQA.values() for question in sets.questions(source)]
    in_movies = [question for question in of_1 if question.kind.startswith(_ABOUT_PEOPLE) and question.half == "seen"]
    of_clinic = without_relations(sets.questions(DEMO), _DEMO_IN_C360)
    return [
        _foreign(sets, "MetaQA of PQ-3H", people, of_movies, _topics(of_3)),
        _foreign(sets, "PQ of MetaQA", movies, [*sets.questions(PQ_2H), *of_3], _topics(in_movies)),
        _foreign(sets, "demo of c360", customers, of_clinic, _names_of_kind(sets, customers, "customer")),
    ]


def clinic_of_webqsp(sets: QuestionSets) -> ForeignSet:
    """Returns the demo's questions for WebQSP's graph, which holds a little of nearly everything but no patients."""
    loaded, questions = sets.of(WEBQSP)
    of_clinic = without_relations(sets.questions(DEMO), _DEMO_IN_C360)
    return _foreign(sets, "demo of WebQSP", loaded, of_clinic, _topics(questions))


def sets_asked(sets: QuestionSets, seed: int, only: str) -> Iterator[tuple[str, LoadedSet, list[Question]]]:
    """Yields title, graph and questions of each set in the table of bounds whose title holds `only`.

    Unseen halves of sets are left out, because a threshold is chosen by these questions.
    """
    named = {"PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "WebQSP, topics given": WEBQSP, "demo": DEMO}
    named |= {f"MetaQA-{hops}": source for hops, source in METAQA.items()}
    for title, source in named.items():
        if only in title.casefold():
            loaded, questions = sets.of(source)
            given = [with_topics_given(each) for each in questions] if source == WEBQSP else questions
            yield title, loaded, [question for question in given if question.half != "unseen"]
    if only in "unanswerable":
        for each in foreign_sets(sets):
            yield f"{each.title}, as they are", each.loaded, each.as_they_are()
            yield f"{each.title}, its own topics", each.loaded, each.its_own_topics(seed)


def _foreign(
    sets: QuestionSets, title: str, loaded: LoadedSet, questions: list[Question], names: list[str]
) -> ForeignSet:
    index = sets.bench.graph(loaded).names

    def is_known(name: str) -> bool:
        return any(hit.start == 0 and hit.end == len(name) for hit in index.find(name))

    return ForeignSet(title, loaded, questions, names, is_known)


def _names_of_kind(sets: QuestionSets, loaded: LoadedSet, concept: str) -> list[str]:
    """Returns the first name of everything that has the concept."""
    graph = sets.bench.graph(loaded)
    mids = members_of(graph.blind, concept).tolist()
    records = graph.vault.records(mids)
    return [records[mid].names[0] for mid in mids if mid in records and records[mid].names]


def _topics(questions: Iterable[Question]) -> list[str]:
    """Returns the topics of the questions as people type them, each once."""
    return list(dict.fromkeys(topic.replace("_", " ") for q in questions for topic in q.topic_entities))
