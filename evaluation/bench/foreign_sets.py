"""Which graph is asked which other graph's questions, and which of its names are put into them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evaluation.bench.bench import LoadedSet
from evaluation.bench.name_lookup import NameLookup
from evaluation.bench.question_sets import C360, DEMO, METAQA, PQ_2H, PQ_3H, WEBQSP, QuestionSets
from evaluation.datasets.questions import Question
from evaluation.datasets.unanswerable import without_relations

# Where a customer lives is in c360 too, in words of its own. Of the other pairs no relation is in both graphs.
_DEMO_IN_C360 = frozenset({"lives in"})
_ABOUT_PEOPLE = ("actor_to", "director_to", "writer_to")


@dataclass(frozen=True, slots=True)
class ForeignSet:
    """`questions` to be asked of the graph `loaded`, which can't answer them; `names` are things that it has."""

    title: str
    loaded: LoadedSet
    questions: list[Question] = field(repr=False)
    names: list[str] = field(repr=False)
    is_known: Callable[[str], bool]


def foreign_sets(sets: QuestionSets) -> list[ForeignSet]:
    """MetaQA's questions of PathQuestion's graph, PathQuestion's of MetaQA's, the demo's of `c360.ttl`."""
    people, of_3 = sets.of(PQ_3H)
    movies, of_1 = sets.of(METAQA[1])
    customers = sets.graph(C360)
    known = {loaded.graph: NameLookup(sets.bench.graph(loaded)) for loaded in (people, movies, customers)}
    of_movies = [question for source in METAQA.values() for question in sets.questions(source)]
    of_clinic = without_relations(sets.questions(DEMO), _DEMO_IN_C360)
    in_movies = [question for question in of_1 if question.kind.startswith(_ABOUT_PEOPLE) and question.half == "seen"]
    return [
        ForeignSet("MetaQA of PQ-3H", people, of_movies, _topics(of_3), known[people.graph].has),
        ForeignSet(
            "PQ of MetaQA", movies, [*sets.questions(PQ_2H), *of_3], _topics(in_movies), known[movies.graph].has
        ),
        ForeignSet(
            "demo of c360",
            customers,
            of_clinic,
            known[customers.graph].of_kind("customer"),
            known[customers.graph].has,
        ),
    ]


def clinic_of_webqsp(sets: QuestionSets) -> ForeignSet:
    """The demo's questions of WebQSP's graph, which holds a little of nearly everything but no patients."""
    loaded, questions = sets.of(WEBQSP)
    is_known = NameLookup(sets.bench.graph(loaded)).has
    of_clinic = without_relations(sets.questions(DEMO), _DEMO_IN_C360)
    return ForeignSet("demo of WebQSP", loaded, of_clinic, _topics(questions), is_known)


def _topics(questions: Iterable[Question]) -> list[str]:
    """As they are typed, each once."""
    return list(dict.fromkeys(topic.replace("_", " ") for q in questions for topic in q.topic_entities))
